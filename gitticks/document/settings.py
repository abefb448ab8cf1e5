"""config.yaml: read into typed values with exact places in errors, and changed without touching its comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from gitticks.document import values
from gitticks.document.settings_kinds import unknown_key
from gitticks.document.settings_table import (
    ANY,
    BY_NAME,
    GROUPS,
    Setting,
    known_keys,
    pattern_of,
)
from gitticks.document.texts import BYTE_ORDER_MARK, LINE_BREAK, Source, refuse_conflict
from gitticks.document.values import At
from gitticks.document.yaml_edit import Change, splice
from gitticks.document.yaml_nodes import Mapping as MappingNode
from gitticks.document.yaml_nodes import Node, Scalar
from gitticks.document.yaml_read import parse_yaml
from gitticks.errors import DocumentError, UsageError
from gitticks.model.settings import FORMAT_VERSION, AgentSettings, Settings

FILE = "config.yaml"
Keys = tuple[str, ...]


class Given(NamedTuple):
    """A setting's value and where it comes from; of a file's also line and column."""

    value: object
    origin: str
    place: tuple[int, int] | None = None


class Layer(NamedTuple):
    """The settings that one place gives, by their keys.

    `version` is the format that the file names; `warnings` are what a newer file says that this version ignores.
    """

    given: Mapping[Keys, Given] = {}
    version: int = FORMAT_VERSION
    warnings: tuple[str, ...] = ()

    @property
    def is_read_only(self) -> bool:
        """True if the file's format is newer than this version can write."""
        return self.version > FORMAT_VERSION


def file_layer(text: str, path: str = FILE) -> Layer:
    """Returns the settings of a config.yaml.

    Of a file in a newer format whatever is understood is taken, and the rest is a warning.
    """
    layer, mistakes = read_layer(text, path)
    if mistakes and not layer.is_read_only:
        raise next(iter(mistakes.values()))
    return layer._replace(warnings=tuple(map(str, mistakes.values())))


def read_layer(text: str, path: str = FILE) -> tuple[Layer, Mapping[Keys, DocumentError]]:
    """Returns the settings of a config.yaml that can be read, and what is wrong with the others."""
    source = Source(text.removeprefix(BYTE_ORDER_MARK), path)
    refuse_conflict(source)
    tree = parse_yaml(source)
    if tree is None:
        return Layer(), {}
    version = _version(source, tree)
    found: dict[Keys, Given] = {}
    mistakes: dict[Keys, DocumentError] = {}
    for keys, node, key in _leaves(tree, ()):
        try:
            for value in _read(source, keys, node, key):
                found[keys] = Given(value, path, source.place(key.start))
        except DocumentError as error:
            mistakes[keys] = error
    return Layer(found, version), mistakes


def changed_layer(text: str, before: str) -> Layer:
    """Returns the settings of a changed config.yaml; mistakes may stay while others go, to be fixed one by one.

    Raises:
        DocumentError: a mistake is new, or none of them went; or the file has a newer format.
    """
    layer, mistakes = read_layer(text)
    require_writable(layer)
    if not mistakes:
        return layer
    known: Mapping[Keys, DocumentError] = {}
    with suppress(DocumentError):
        known = read_layer(before)[1]
    if mistakes.keys() < known.keys():
        return layer
    new = [error for keys, error in mistakes.items() if keys not in known]
    raise (new or [*mistakes.values()])[0]


def require_writable(layer: Layer) -> None:
    """Refuses to write where the state branch has a newer format."""
    if layer.is_read_only:
        raise DocumentError(
            f"the state branch has format {layer.version}; this gitticks writes {FORMAT_VERSION} and can only read it",
            path=FILE,
            hint="`pipx upgrade gitticks`",
        )


def set_value(text: str, name: str, value: str | None) -> str:
    """Returns the file with one setting set, in the words that were typed, or removed; also a key that is no setting."""
    keys = keys_of(name)
    is_mistake = value is None and not is_setting(name) and keys in read_layer(text)[1]
    written = None
    if not is_mistake:
        setting, keys = find_setting(name)
        if value is not None:
            parse_value(setting, keys, value, name)
            written = setting.kind.yaml(value)
    mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
    body = text.removeprefix(mark)
    if not body.strip() and keys != ("version",):
        body += f"version: {FORMAT_VERSION}\n"
    newline = LINE_BREAK.search(body)
    spliced = splice(
        Source(body, FILE), [Change(keys, written)], "\n" if newline is None else newline.group()
    )
    changed = mark + spliced.text
    changed_layer(changed, text)
    return changed


def parse_value(setting: Setting, keys: Keys, text: str, origin: str) -> object:
    """Returns what `text` means for a setting."""
    try:
        return setting.kind.parse(".".join(keys), text, origin)
    except DocumentError as error:
        raise DocumentError(error.problem, path=origin, hint=error.hint) from None


def is_group(name: str) -> bool:
    """True for the first words of settings, such as `limits`."""
    return any(one.startswith(f"{name}.") for one in BY_NAME)


def is_setting(name: str) -> bool:
    """True for the dotted name of a setting."""
    return pattern_of(keys_of(name)) in BY_NAME


def find_setting(name: str) -> tuple[Setting, Keys]:
    """Returns the row and the keys of a dotted name."""
    keys = keys_of(name)
    setting = BY_NAME.get(pattern_of(keys))
    if setting is None or not all(keys):
        shown = ascii(name)[1:-1]
        if is_group(pattern_of(keys)):
            raise UsageError(f"`{shown}` is a group of settings", hint=f"`gt config {keys[0]}` lists them")
        group = keys[:-1]
        beside = [".".join((*group, word)) for word in known_keys(pattern_of(group))] if group else []
        guess = values.near(name, beside or [known for known in BY_NAME if ANY not in known])
        hint = f"did you mean `{guess}`?" if guess else "`gt config` lists the settings"
        if keys[0] in {"alias", "aliases"}:
            hint = f"aliases are yours alone: `git config --global gitticks.alias.{keys[-1]} …`"
        raise UsageError(f"there is no setting `{shown}`", hint=hint)
    return setting, keys


def keys_of(name: str) -> Keys:
    """Returns a dotted name as keys; an agent's or a model's name may hold dots."""
    first, *rest = name.split(".")
    if f"{first}.{ANY}" in GROUPS and len(rest) > 1:
        return (first, ".".join(rest[:-1]), rest[-1])
    return (first, *rest)


def get(settings: Settings, name: str) -> object:
    """Returns the value of a setting by its dotted name; an agent that is not configured has the defaults."""
    _, keys = find_setting(name)
    value: Any = settings
    for key in keys:
        if isinstance(value, Mapping):
            value = value.get(key, AgentSettings() if keys[0] == "agents" else None)
        else:
            value = getattr(value, key, None)
    result: object = value
    return result


def names(settings: Settings) -> tuple[str, ...]:
    """Returns the dotted names of every setting that has a value, in the order of the table."""
    result: list[str] = []
    for setting in BY_NAME.values():
        if ANY not in setting.name:
            result.append(setting.name)
        else:
            result += [setting.name.replace(ANY, word) for word in getattr(settings, setting.keys[0])]
    return tuple(result)


def explain(name: str) -> str:
    """Returns one line on what a setting is for and what it holds."""
    setting, _ = find_setting(name)
    return f"{setting.explanation} ({setting.kind.wanted})"


def show(name: str, value: object) -> str:
    """Returns a setting's value as it would be written: `10m`, `64MB`, `null`."""
    setting, _ = find_setting(name)
    return "null" if value is None else setting.kind.show(value)


def _version(source: Source, tree: MappingNode) -> int:
    node = tree.get("version")
    return FORMAT_VERSION if node is None else values.read_integer(1)(At(source, "version"), node)


def _leaves(mapping: MappingNode, above: Keys) -> Iterator[tuple[Keys, Node, Scalar]]:
    for pair in mapping.pairs:
        keys = (*above, pair.key.text)
        if pattern_of(keys) in GROUPS and isinstance(pair.value, MappingNode):
            yield from _leaves(pair.value, keys)
        else:
            yield keys, pair.value, pair.key


def _read(source: Source, keys: Keys, node: Node, key: Scalar) -> Iterator[object]:
    """Yields the value of a setting; nothing for one that is left empty."""
    pattern = pattern_of(keys)
    is_null = isinstance(node, Scalar) and node.is_null
    setting = BY_NAME.get(pattern)
    if pattern in GROUPS:
        if is_null:
            return
        known = known_keys(pattern) or ("name",)
        raise At(source, ".".join(keys)).error(
            node, f"is not a mapping: {values.shown(node)}", hint=f"write `{keys[-1]}: {{{known[0]}: …}}`"
        )
    if setting is None:
        group = pattern_of(keys[:-1]) if len(keys) > 1 else ""
        raise unknown_key(source, ".".join(keys), key, known_keys(group))
    if not is_null:
        yield setting.kind.read(At(source, ".".join(keys)), node)
    elif setting.kind.is_nullable:
        yield None
