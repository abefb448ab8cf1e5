"""Loads the settings with all their layers: the state branch, git's configuration, the environment, flags."""

from __future__ import annotations

from collections.abc import Mapping

from gitticks.document.frontmatter import decode
from gitticks.document.settings import Layer, file_layer
from gitticks.document.settings_layers import (
    GIT_PREFIX,
    ResolvedSettings,
    environment_layer,
    flag_layer,
    git_layer,
    merge_layers,
)
from gitticks.git.repository import Repository
from gitticks.store import layout
from gitticks.store.transaction import read_file

_OWN_NOTES = frozenset({"gitticks.task", "gitticks.checkout", "gitticks.hiddenhookspath"})
"""What gitticks keeps in the configuration of boards and workspaces for its hooks; these are no settings."""


def load_settings(
    repository: Repository, environment: Mapping[str, str], overrides: Mapping[str, str]
) -> ResolvedSettings:
    """Returns the settings that hold for one call.

    Args:
        repository: whose state branch and configuration are read; without a state branch the defaults hold.
        environment: where the `GITTICKS_CONFIG_…` variables stand.
        overrides: values that flags give, by dotted names.

    Raises:
        DocumentError: a layer names an unknown setting or has a wrong value.
    """
    return merge_layers(
        (
            _team_layer(repository),
            git_layer(_git_configuration(repository)),
            environment_layer(environment),
            flag_layer(overrides),
        )
    )


def _team_layer(repository: Repository) -> Layer:
    from gitticks.git.objects import Objects
    from gitticks.git.refs import read_ref

    tip = read_ref(repository.common_dir, layout.STATE_REF)
    if tip is None:
        return Layer()
    objects = Objects.open(repository)
    content = read_file(objects, objects.tree_of(tip), layout.CONFIG_PATH)
    if content is None:
        return Layer()
    return file_layer(decode(content, layout.CONFIG_PATH))


def _git_configuration(repository: Repository) -> dict[str, str]:
    """Returns `git config gitticks.*`, the last value of each name; merge drivers and the like are under other names."""
    from gitticks.git.process import run_git

    asked = ["config", "-z", "--get-regexp", r"^gitticks\."]
    found = run_git(asked, repository_dir=repository.git_dir, check=False).text
    pairs = (entry.partition("\n") for entry in found.split("\0") if entry)
    return {key: value for key, _, value in pairs if key.startswith(GIT_PREFIX) and key not in _OWN_NOTES}
