"""The formats of a repository that gitticks' git library cannot read, or that gitticks does not know."""

from __future__ import annotations

from gitticks.errors import GitticksError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

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
        GitticksError: they do; the hint says how to convert it.
    """
    object_format = settings.get("extensions.objectformat", "sha1").lower()
    if object_format != "sha1":
        raise GitticksError(
            f"`{common_dir}` stores its objects as {object_format}, and gitticks' git library reads SHA-1 alone",
            hint="bring the files into a repository made by `git init --object-format=sha1`",
        )
    storage = settings.get("extensions.refstorage", "files").lower()
    if storage != "files":
        raise GitticksError(
            f"`{common_dir}` stores its refs as {storage}, and gitticks' git library reads refs in files alone",
            hint="`git refs migrate --ref-format=files` converts it (git 2.46 or newer)",
        )
    unknown = sorted(
        key for key in settings if key.startswith("extensions.") and key not in _KNOWN_EXTENSIONS
    )
    if unknown and settings.get("core.repositoryformatversion", "0") != "0":
        raise GitticksError(
            f"`{common_dir}` uses `{unknown[0]}`, which gitticks does not know, so it might damage something there",
            hint="`pipx upgrade gitticks`",
        )
