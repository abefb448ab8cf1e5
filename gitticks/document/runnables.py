"""What runs programs, instructs agents or loosens a rule, as it is trusted; and what of the settings does."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from gitticks.document.settings import Keys, Layer, get, keys_of
from gitticks.document.settings_table import ANY, BY_NAME, pattern_of
from gitticks.model.settings import PermissionRule, ReviewerSettings, Settings

_COMMANDS = frozenset(
    {("verify", "test"), ("verify", "build"), ("verify", "scripts"), ("setup", "run"), ("notify",)}
)


class RunnableKind(StrEnum):
    """Where something that runs comes from."""

    SETTING = "setting"
    TEMPLATE = "template"
    SCRIPT = "script"
    REPOSITORY = "repository"
    AUTHOR = "author"


class Runnable(NamedTuple):
    """One thing that would run: a setting's value, a template, or the script of a task.

    Attributes:
        kind: where it stands.
        name: the setting's dotted name, the template's path, the task's id, what of the repository changed, or
            who writes.
        text: what would run.
        only_loosens: True for a setting that runs nothing and instructs nobody.
    """

    kind: RunnableKind
    name: str
    text: str
    only_loosens: bool = False

    @property
    def digest(self) -> str:
        """Returns what it is remembered by; a script is the same under another id, as tasks may be renamed."""
        name = "" if self.kind is RunnableKind.SCRIPT else self.name
        return hashlib.sha256(
            f"{self.kind}\0{name}\0{self.text}".encode("utf-8", "surrogatepass")
        ).hexdigest()


_NOTHING = Layer()


def runnables_of_layer(layer: Layer, agreed: Layer = _NOTHING) -> tuple[Runnable, ...]:
    """Returns the settings that run something or are looser than those agreed to, in the order of their names.

    One that is not given any more is looser where its default is.
    """
    keys = dict.fromkeys((*agreed.given, *layer.given))
    needed = (
        setting_of(layer, one) for one in keys if _needs_trust(one, _value(agreed, one), _value(layer, one))
    )
    return tuple(sorted(needed, key=lambda one: one.name))


def setting_of(layer: Layer, keys: Keys) -> Runnable:
    """Returns a setting as what a person trusts: its value, given or by default."""
    value = _value(layer, keys)
    return Runnable(RunnableKind.SETTING, ".".join(keys), _shown(value), not _runs(keys, value))


def changed_settings(old: Layer, new: Layer) -> tuple[Runnable, ...]:
    """Returns what was set, changed or removed between two versions of the settings."""
    before, after = ({keys: given.value for keys, given in one.given.items()} for one in (old, new))
    keys = dict.fromkeys((*before, *after))
    return tuple(
        setting_of(new, one)
        for one in keys
        if (one in before, before.get(one)) != (one in after, after.get(one))
    )


def held_back(kept: Layer, new: Layer, untrusted: Iterable[Runnable]) -> Layer:
    """Returns a layer in which what nobody has trusted is as it was; of an agent's entry, all or nothing is taken."""
    held = {_entry(keys_of(one.name)) for one in untrusted}
    taken = {keys: given for keys, given in new.given.items() if _entry(keys) not in held}
    stays = {keys: given for keys, given in kept.given.items() if _entry(keys) in held}
    return new._replace(given={**taken, **stays})


def _entry(keys: Keys) -> Keys:
    """Returns the keys of what is taken as a whole."""
    return keys[:2] if ANY in pattern_of(keys) else keys


def _needs_trust(keys: Keys, before: object, value: object) -> bool:
    changes_agent = _is_agents(keys) and before != value
    return _runs(keys, value) or changes_agent or BY_NAME[pattern_of(keys)].loosens(before, value)


def _runs(keys: Keys, value: object) -> bool:
    instructs = isinstance(value, tuple) and any(
        isinstance(one, ReviewerSettings) and (one.agent or one.focus) for one in value
    )
    return (keys in _COMMANDS or _is_agents(keys) or instructs) and value not in (None, "", ())


def _is_agents(keys: Keys) -> bool:
    return keys[0] == "agents" and keys[-1] != "prompt"


def _value(layer: Layer, keys: Keys) -> object:
    return layer.given[keys].value if keys in layer.given else get(Settings(), ".".join(keys))


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(_plain(value), ensure_ascii=False, default=str)


def _plain(value: object) -> object:
    """Returns a value as JSON has it, and a rule or a reviewer as people write it, without what it leaves empty."""
    if isinstance(value, PermissionRule | ReviewerSettings):
        return {name: part for name, part in value._asdict().items() if part}
    return [_plain(one) for one in value] if isinstance(value, tuple) else value
