"""Combines the layers of settings: file, git's configuration, environment, flags.

The later layer wins, except that where a setting guards something the stricter value does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import permutations
from typing import Any, NamedTuple

from gitticks.document.settings import (
    Given,
    Keys,
    Layer,
    find_setting,
    keys_of,
    parse_value,
    show,
)
from gitticks.document.settings_table import ANY, BY_NAME, pattern_of
from gitticks.errors import DocumentError, UsageError
from gitticks.model.settings import AgentSettings, PermissionRule, Price, Settings

GIT_PREFIX = "gitticks."
ENVIRONMENT_PREFIX = "GITTICKS_CONFIG_"
DEFAULT = "default"
FLAG = "flag "
"""What the origin of a value begins with that a command's flag gave."""
ALLOW: Keys = ("permissions", "allow")
_MEANT = re.compile("did you mean `([^`]*)`")
_MODE: Keys = ("permissions", "mode")
_LISTS: Mapping[Keys, tuple[str, ...]] = {
    ("sandbox", "allowed_hosts"): ("network",),
    ("sandbox", "allowed_paths"): ("file_read", "file_write"),
}
"""What the sandbox lets through, and of which operations."""


class Overruled(NamedTuple):
    """A value that does not hold because another layer's is stricter."""

    name: str
    value: object
    origin: str
    by: str

    @property
    def words(self) -> str:
        """Returns what does not hold, and why."""
        value, origin = show(self.name, self.value), "a flag" if self.is_flags else self.origin
        return f"`{self.name}` from {origin} is {value}, but {self.by} is stricter"

    @property
    def is_flags(self) -> bool:
        """True if a command's flag gave the value."""
        return self.origin.startswith(FLAG)


class ResolvedSettings(NamedTuple):
    """What holds after all layers, and where each value comes from."""

    settings: Settings
    given: Mapping[Keys, Given] = {}
    overruled: tuple[Overruled, ...] = ()
    warnings: tuple[str, ...] = ()
    is_read_only: bool = False

    def origin(self, name: str) -> str:
        """Returns where a setting's value comes from, such as `config.yaml` or `default`."""
        given = self.given.get(keys_of(name))
        return DEFAULT if given is None else given.origin

    def error(self, name: str, problem: str, *, hint: str | None = None) -> DocumentError:
        """Returns the error that names the place of a setting."""
        given = self.given.get(keys_of(name))
        line, column = (given and given.place) or (None, None)
        return DocumentError(problem, path=self.origin(name), line=line, column=column, hint=hint)

    def require_whole_prices(self) -> None:
        """Refuses prices by which nothing can be counted."""
        for model, price in self.settings.prices.items():
            if price.missing is not None:
                given = next(keys for keys in self.given if keys[:2] == ("prices", model))
                raise self.error(
                    ".".join(given),
                    f"`prices.{model}` lacks `{price.missing}`",
                    hint=f"`gt config prices.{model}.{price.missing} PRICE`, in dollars per million tokens",
                )


def git_layer(configuration: Mapping[str, str]) -> Layer:
    """Returns the layer of `git config gitticks.*`.

    Git allows no `_` in names, so `gitticks.review-limit` is `review_limit`.
    """
    named = {}
    for key, value in configuration.items():
        name = key.removeprefix(GIT_PREFIX)
        words = name.split(".")
        words[0], words[-1] = _underscored(words[0]), _underscored(words[-1])
        named[f"git config {GIT_PREFIX}{name}"] = (".".join(words), value)
    return _text_layer(named)


def environment_layer(environment: Mapping[str, str]) -> Layer:
    """Returns the layer of the `GITTICKS_CONFIG_<PATH>` variables, such as `GITTICKS_CONFIG_VERIFY_TEST`."""
    found = {key: value for key, value in environment.items() if key.startswith(ENVIRONMENT_PREFIX)}
    return _text_layer({key: (_environment_name(key), value) for key, value in found.items()})


def flag_layer(flags: Mapping[str, str]) -> Layer:
    """Returns the layer of a command's flags, given by the settings' dotted names."""
    return _text_layer({f"{FLAG}{name}": (name, value) for name, value in flags.items()})


def merge_layers(layers: Iterable[Layer]) -> ResolvedSettings:
    """Returns the settings after all layers, given from the first to the last that counts."""
    found: dict[Keys, Given] = {}
    overruled: list[Overruled] = []
    kept = tuple(layers)
    for layer, whole in zip(kept, _with_modes_of_agents(kept), strict=True):
        for keys, new in whole.given.items():
            old, combine = found.get(keys), BY_NAME[pattern_of(keys)].combine
            if old is None:
                found[keys] = new
                continue
            held = new.value if combine is None else combine(old.value, new.value)
            if not _holds(new.value, held) and keys in layer.given:
                overruled.append(Overruled(".".join(keys), new.value, new.origin, old.origin))
            if held != old.value:
                found[keys] = new if held == new.value else Given(held, f"{old.origin}, {new.origin}")
    overruled += _overruled_rules(kept)
    return ResolvedSettings(
        settings=_build({keys: one.value for keys, one in found.items()}),
        given=found,
        overruled=tuple(overruled),
        warnings=tuple(warning for layer in kept for warning in layer.warnings),
        is_read_only=any(layer.is_read_only for layer in kept),
    )


def _with_modes_of_agents(layers: tuple[Layer, ...]) -> Iterator[Layer]:
    """Yields the layers; the mode that one gives for all agents is also for those that only another names."""
    named = [keys for layer in layers for keys in layer.given if keys[::2] == ("agents", "mode")]
    for layer in layers:
        mode = layer.given.get(_MODE)
        yield layer if mode is None else layer._replace(given={**dict.fromkeys(named, mode), **layer.given})


def _overruled_rules(layers: tuple[Layer, ...]) -> Iterator[Overruled]:
    """Yields the rules that would let more through the sandbox than the list that another layer gives."""
    for layer, other in permutations(layers, 2):
        rules: Any = layer.given.get(ALLOW, Given((), ""))
        for keys, operations in _LISTS.items():
            if keys not in other.given:
                continue
            listed, about = other.given[keys], (one for one in rules.value if one.operation in operations)
            beyond = tuple(rule for rule in about if _is_beyond(rule, listed.value))
            if beyond:
                by = f"`{'.'.join(keys)}` of {listed.origin}"
                yield Overruled(".".join(ALLOW), beyond, rules.origin, by)


def _is_beyond(rule: PermissionRule, listed: Any) -> bool:
    """True if a rule lets through what none of a list covers; a path in the workspace needs no door."""
    paths = (path.removesuffix("/**") for path in rule.paths if path.startswith(("/", "~/")))
    wanted = (rule.hosts or ("*",)) if rule.operation == "network" else paths
    return not all(any(_covers(one, each) for one in listed) for each in wanted)


def _covers(listed: str, wanted: str) -> bool:
    is_below = wanted.endswith(listed[1:]) if listed.startswith("*") else wanted.startswith(f"{listed}/")
    return is_below or wanted == listed


def _holds(value: object, held: object) -> bool:
    """True if `held` is the value, or a list with all of its items."""
    if isinstance(value, tuple) and isinstance(held, tuple):
        return all(item in held for item in value)
    return value == held


def _text_layer(named: Mapping[str, tuple[str, str]]) -> Layer:
    """Returns the layer of texts, given by their origin as the setting's name and the text."""
    found: dict[Keys, Given] = {}
    for origin, (name, text) in named.items():
        try:
            setting, keys = find_setting(name)
        except UsageError as error:
            hint = error.hint or ""
            if origin.startswith("git config "):
                hint = _MEANT.sub(lambda found: f"did you mean `{GIT_PREFIX}{_hyphened(found[1])}`", hint)
            raise DocumentError(error.message, path=origin, hint=hint) from None
        try:
            value = parse_value(setting, keys, text, origin)
        except DocumentError as error:
            hint = f"`gt config --explain {'.'.join(keys)}`, or {_removing(origin)}"
            raise DocumentError(error.problem, path=origin, hint=hint) from None
        found[keys] = Given(value, origin)
    return Layer(found)


def _removing(origin: str) -> str:
    if origin.startswith("git config "):
        return f"`git config --unset-all {origin.removeprefix('git config ')}`"
    return f"`unset {origin}`" if origin.startswith(ENVIRONMENT_PREFIX) else f"leave {origin} out"


def _hyphened(name: str) -> str:
    """Returns a setting's name as git takes it: between the first and the last word, where users' own stand, all is allowed."""
    words = name.split(".")
    words[0], words[-1] = words[0].replace("_", "-"), words[-1].replace("_", "-")
    return ".".join(words)


def _underscored(word: str) -> str:
    return word.lower().replace("-", "_")


def _environment_name(variable: str) -> str:
    """Returns the dotted name of a variable; users' own words in it are taken as lower case."""
    tail = variable.removeprefix(ENVIRONMENT_PREFIX)
    for name in BY_NAME:
        if ANY not in name and name.replace(".", "_").upper() == tail:
            return name
    for name in BY_NAME:
        first, last = name.split(".")[0], name.split(".")[-1]
        lead, end = f"{first}_".upper(), f"_{last}".upper()
        is_between = tail.startswith(lead) and tail.endswith(end) and len(tail) > len(lead) + len(end)
        if ANY in name and is_between:
            return f"{first}.{tail[len(lead) : -len(end)].lower()}.{last}"
    return tail.lower()


def _build(found: Mapping[Keys, object]) -> Settings:
    plain = {keys: value for keys, value in found.items() if ANY not in pattern_of(keys)}
    settings: Settings = _filled(Settings(), plain)
    prices = {model: Price(**parts) for model, parts in _named(found, "prices").items()}
    agents = {name: AgentSettings(**parts) for name, parts in _named(found, "agents").items()}
    return settings._replace(agents=agents, prices=prices)


def _filled(group: Any, found: Mapping[Keys, object]) -> Any:
    changed: dict[str, Any] = {keys[0]: value for keys, value in found.items() if len(keys) == 1}
    for name in dict.fromkeys(keys[0] for keys in found if len(keys) > 1):
        inner = {keys[1:]: value for keys, value in found.items() if keys[0] == name and len(keys) > 1}
        changed[name] = _filled(getattr(group, name), inner)
    return group._replace(**changed) if changed else group


def _named(found: Mapping[Keys, object], group: str) -> dict[str, dict[str, Any]]:
    result: dict[str, dict[str, Any]] = {}
    for keys, value in found.items():
        if keys[0] == group:
            result.setdefault(keys[1], {})[keys[2]] = value
    return result
