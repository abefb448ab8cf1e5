# An image for `gt run`: git for the work, bubblewrap for the sandbox. Agents' clients are added on top of it:
#   FROM gitticks
#   RUN npm install -g …
# docker build -t gitticks .
# docker run --rm -it --user "$(id -u)" -e HOME=/tmp -v "$HOME/.gitconfig:/tmp/.gitconfig:ro" -v "$PWD:/work" gitticks run
# (as you, since git refuses another person's repository, and by your name)
# bubblewrap needs user namespaces, which many container runtimes forbid: add `--security-opt seccomp=unconfined`.
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
