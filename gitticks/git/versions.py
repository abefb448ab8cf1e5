"""Which git this is: the binary's version and those of the library, for reports and the doctor."""

from __future__ import annotations

from gitticks.git.process import OLDEST_GIT, git_version


def versions_of_git() -> dict[str, str]:
    """Returns the versions of `git`, `pygit2` and `libgit2`.

    Raises:
        GitError: there is no git binary.
    """
    from importlib.metadata import version

    import pygit2

    return {
        "git": ".".join(map(str, git_version())),
        "pygit2": version("pygit2"),
        "libgit2": pygit2.LIBGIT2_VERSION,
    }


def is_git_new_enough() -> bool:
    """True if the git binary is one that gitticks works with.

    Raises:
        GitError: there is no git binary.
    """
    return git_version() >= OLDEST_GIT
