"""Loads the settings from all layers: the state branch, git's configuration, the environment, flags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import NamedTuple

from gitticks.document.runnables import held_back, runnables_of_layer
from gitticks.document.settings import Given, Layer, file_layer
from gitticks.document.settings_layers import (
    GIT_PREFIX,
    ResolvedSettings,
    environment_layer,
    flag_layer,
    git_layer,
    merge_layers,
)
from gitticks.document.texts import decode
from gitticks.errors import DocumentError
from gitticks.git.config import read_config
from gitticks.git.files import write_synced
from gitticks.git.refs import read_ref
from gitticks.git.repository import Repository
from gitticks.model.settings import PermissionMode, Settings
from gitticks.safe_read import read_plain_text
from gitticks.store import layout
from gitticks.store.transaction import read_file
from gitticks.store.trust import agreed_settings, require_trusted, trust_stamp, untrusted

_MODE_FILE, _MODE = "permission-mode", ("permissions", "mode")
_OF_A_PERSON = ("gitticks.alias.", "gitticks.ui.")
"""Commands of the user's own and the interface's look, which only the command line and the interface read."""
_OWN_NOTES = frozenset({"gitticks.task", "gitticks.checkout", "gitticks.hiddenhookspath"})
"""What gitticks keeps in the configuration of boards and workspaces for its hooks; these are no settings."""


class _Kept(NamedTuple):
    """What the team has set and a person has trusted; it was made of `team` by what was trusted at `stamp`."""

    layer: Layer
    team: Layer | None = None
    stamp: tuple[int, ...] | None = None


_kept: dict[str, _Kept] = {}
"""What this process last read, by repository, while a run is alive there."""


def load_settings(
    repository: Repository, environment: Mapping[str, str], overrides: Mapping[str, str]
) -> ResolvedSettings:
    """Returns the settings that hold for one call.

    Raises:
        DocumentError: a layer names an unknown setting or has a wrong value.
    """
    return merge_layers(setting_layers(repository, environment, overrides))


def settings_with_clone_mode(
    repository: Repository,
    environment: Mapping[str, str],
    overrides: Mapping[str, str],
    mode: PermissionMode | None,
) -> Settings:
    """Returns the settings that would hold if the clone's mode were this one, or none."""
    team, git, _, *others = setting_layers(repository, environment, overrides)
    return merge_layers((team, git, _layer_of_mode(mode), *others)).settings


def setting_layers(
    repository: Repository, environment: Mapping[str, str], overrides: Mapping[str, str]
) -> tuple[Layer, Layer, Layer, Layer, Layer]:
    """Returns what each place gives: the state branch, git's configuration, the clone, the environment, the flags."""
    return (
        _trusted_layer(repository),
        git_layer(_git_configuration(repository)),
        _clone_layer(repository),
        environment_layer(environment),
        flag_layer(overrides),
    )


def set_clone_mode(repository: Repository, mode: PermissionMode | None) -> None:
    """Sets the permission mode of this clone, which runs that are alive see too; None takes it back."""
    path = repository.own_file(_MODE_FILE)
    if mode is None:
        path.unlink(missing_ok=True)
    else:
        write_synced(path, f"{mode}\n".encode())


def _clone_layer(repository: Repository) -> Layer:
    try:
        text = read_plain_text(repository.own_file(_MODE_FILE)).strip()
        return _layer_of_mode(PermissionMode(text))
    except (OSError, ValueError):
        return Layer()


def _layer_of_mode(mode: PermissionMode | None) -> Layer:
    return Layer() if mode is None else Layer({_MODE: Given(mode, "gt permissions mode")})


def team_settings(repository: Repository) -> Settings:
    """Returns what the team has set, without anybody's own settings: all clones see the same."""
    return merge_layers((_team_layer(repository),)).settings


@contextmanager
def keeping_team_settings(repository: Repository) -> Iterator[None]:
    """Lets a run continue with what it has of `config.yaml` where that becomes unreadable, or holds what nobody trusted.

    Raises:
        RefusedError: it holds that already.
    """
    layer = read_team_layer(repository)
    require_trusted(repository, runnables_of_layer(layer, agreed_settings(repository)))
    _kept[repository.common_place] = _Kept(layer)
    try:
        yield
    finally:
        del _kept[repository.common_place]


def _team_layer(repository: Repository) -> Layer:
    try:
        return read_team_layer(repository)
    except DocumentError:
        if repository.common_place not in _kept:
            raise
        return _kept[repository.common_place].layer


def _trusted_layer(repository: Repository) -> Layer:
    """Returns the same; what arrives during a run is left out until somebody trusts it, for each run asks at its start."""
    layer, kept = _team_layer(repository), _kept.get(repository.common_place)
    if kept is None:
        return layer
    stamp = trust_stamp(repository)
    if kept.team is not layer or kept.stamp != stamp:
        asked = runnables_of_layer(layer, agreed_settings(repository))
        kept = _Kept(held_back(kept.layer, layer, untrusted(repository, asked)), layer, stamp)
        _kept[repository.common_place] = kept
    return kept.layer


def read_team_layer(repository: Repository) -> Layer:
    """Returns what `config.yaml` says.

    Raises:
        DocumentError: it cannot be read.
    """
    content = team_file(repository)
    return Layer() if content is None else layer_of(content)


def team_file(repository: Repository) -> bytes | None:
    """Returns the team's `config.yaml`; None where there is none."""
    tip = read_ref(repository.common_dir, layout.STATE_REF)
    if tip is None:
        return None
    objects = repository.objects
    return read_file(objects, objects.tree_of(tip), layout.CONFIG_PATH)


@lru_cache(maxsize=4)
def layer_of(content: bytes) -> Layer:
    """Returns what such a file says."""
    return file_layer(decode(content, layout.CONFIG_PATH))


def _git_configuration(repository: Repository) -> dict[str, str]:
    """Returns `git config gitticks.*`, the last value of each name; merge drivers and the like are under other names."""
    found = read_config(repository, r"^gitticks\.")
    given = {
        key: value
        for key, value in found.items()
        if key.startswith(GIT_PREFIX) and not key.startswith(_OF_A_PERSON) and key not in _OWN_NOTES
    }
    if not (repository.own_file("left-behind.json")).exists():
        return given
    from gitticks.store.left_behind import held_settings

    held = held_settings(repository)  # without what sessions of agents made of them and nobody has agreed to
    before = {key: value.rpartition("\n")[2] for key, value in held.items() if value is not None}
    return {key: value for key, value in given.items() if key not in held} | before
