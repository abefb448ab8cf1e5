"""The formats of a repository that gitticks does not know."""

from __future__ import annotations

from collections.abc import Mapping

from gitticks.errors import GitticksError

_KNOWN_EXTENSIONS = frozenset(
    f"extensions.{name}"
    for name in (
        "noop",
        "noop-v1",
        "objectformat",
        "partialclone",
        "preciousobjects",
        "refstorage",
        "relativeworktrees",
        "worktreeconfig",
    )
)


def refuse_extensions(settings: Mapping[str, str], common_dir: str) -> None:
    """Refuses a repository whose settings name such a format.

    Raises:
        GitticksError: they do.
    """
    for key, what, known in (
        ("extensions.objectformat", "objects", ("sha1", "sha256")),
        ("extensions.refstorage", "refs", ("files", "reftable")),
    ):
        found = settings.get(key, known[0]).lower()
        if found not in known:
            raise GitticksError(
                f"`{common_dir}` stores its {what} as `{found}`, which gitticks does not know",
                hint="`pipx upgrade gitticks`",
            )
    unknown = sorted(
        key for key in settings if key.startswith("extensions.") and key not in _KNOWN_EXTENSIONS
    )
    if unknown and settings.get("core.repositoryformatversion", "0") != "0":
        raise GitticksError(
            f"`{common_dir}` uses `{unknown[0]}`, which gitticks does not know, so it might damage something there",
            hint="`pipx upgrade gitticks`",
        )
