"""Asks git for its configuration as seen from a repository: every file, include and variable that counts there."""

from __future__ import annotations

from gitticks.git.repository import Repository


def read_config(repository: Repository, pattern: str) -> dict[str, str]:
    """Returns the settings whose full names match a regular expression of git's, the last value of each.

    Sections and keys are in lower case; a key without a value has an empty one.
    """
    from gitticks.git.process import run_git  # whoever is named in the environment needs no process

    asked = ["config", "-z", "--get-regexp", pattern]
    found = run_git(asked, repository_dir=repository.git_dir, check=False).text
    pairs = (entry.partition("\n") for entry in found.split("\0") if entry)
    return {key: value for key, _, value in pairs}
