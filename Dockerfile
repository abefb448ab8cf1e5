# An image for `gt run`: git for the work, bubblewrap for the sandbox. Agents' clients are added on top of it:
#   FROM gitticks
#   RUN npm install -g …
# docs/how-to/run-agents-in-a-sandbox.md#in-a-container says how to build it and run it.
FROM python:3.11-slim-bookworm AS build
WORKDIR /source
COPY . .
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.11-slim-bookworm
# Debian keeps one version per release.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git openssh-client bubblewrap less \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /wheels /wheels
RUN python -m pip install --no-cache-dir /wheels/*.whl && rm -rf /wheels \
    && useradd --create-home --uid 1000 gitticks
USER 1000
WORKDIR /work
ENTRYPOINT ["gt"]
CMD ["--help"]
