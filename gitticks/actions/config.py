"""Reads settings with their origins, and sets the team's on the state branch."""

from __future__ import annotations

from difflib import get_close_matches
from typing import NamedTuple

from gitticks.actions.agents import unknown_in_settings
from gitticks.actions.context import Context
from gitticks.actions.edit_checks import refuse_new_secrets
from gitticks.document.runnables import setting_of
from gitticks.document.settings import (
    explain,
    find_setting,
    get,
    is_setting,
    keys_of,
    names,
    parse_value,
    read_layer,
    set_value,
    show,
)
from gitticks.document.settings_layers import ResolvedSettings, merge_layers
from gitticks.document.texts import decode, is_encodable
from gitticks.errors import DocumentError, GitticksError, NotFoundError, UsageError
from gitticks.git.checkouts import current_branch
from gitticks.git.sharing import list_branches
from gitticks.store.layout import CONFIG_PATH
from gitticks.store.transaction import Transaction
from gitticks.store.trust import trust

_FORMAT = "version"


class ShownSetting(NamedTuple):
    """One setting: its value typed and as it is written, where it comes from, and what it is for."""

    name: str
    value: object
    shown: str
    origin: str
    explanation: str


class ShownSettings(NamedTuple):
    """Settings, and the messages to print about them: values that a stricter layer overrules, and other warnings."""

    settings: tuple[ShownSetting, ...]
    warnings: tuple[str, ...]


def all_settings(context: Context) -> ShownSettings:
    """Returns every setting that has a value, in the order of the reference."""
    found = context.resolved_settings
    return ShownSettings(
        tuple(_shown(found, name) for name in names(found.settings)),
        (
            *found.warnings,
            *(one.words for one in found.overruled),
        ),
    )


def one_setting(context: Context, name: str) -> ShownSetting:
    """Returns one setting."""
    find_setting(name)
    return _shown(context.resolved_settings, name)


def change_setting(context: Context, name: str, value: str | None) -> ShownSettings:
    """Sets or, with None, unsets the team's value of a setting, and returns what holds then."""
    context.require_person("change settings")
    parsed = _check_value(name, value)
    if name == "base" and isinstance(parsed, str):
        refuse_unknown_base(context, parsed)

    def write(transaction: Transaction) -> str:
        text = decode(transaction.read(CONFIG_PATH) or b"", CONFIG_PATH)
        changed = set_value(text, name, value)
        refuse_new_secrets(context, changed.encode(), text.encode(), CONFIG_PATH)
        transaction.write(CONFIG_PATH, changed.encode())
        transaction.describe(f"config: {name}", [("Actor", f"human {context.actor.name}")])
        return changed

    # The value that the team has already is trusted too, by who types it; one that a fetch brings meanwhile is not.
    text = context.store.transact(write, author=context.author)
    if not is_setting(name):
        return ShownSettings(
            (ShownSetting(name, None, "removed", CONFIG_PATH, "there is no such setting"),), ()
        )
    written = read_layer(text)[0]
    trust(context.repository, [setting_of(written, keys_of(name))])
    try:
        found = context.renewed().resolved_settings
    except DocumentError as error:  # another mistake is left
        found = merge_layers([read_layer(decode(context.store.read(CONFIG_PATH) or b"", CONFIG_PATH))[0]])
        return ShownSettings((_shown(found, name),), (f"{error.message}; `gt doctor` lists what is wrong",))
    mine = [one.words for one in found.overruled if one.name == name]
    if value is not None:
        unknown = unknown_in_settings(found.settings, context.world.environment)
        mine += [words for setting, words in unknown if setting == name]
    return ShownSettings((_shown(found, name),), tuple(mine))


def _check_value(name: str, value: str | None) -> object:
    if name == _FORMAT:
        raise UsageError(
            "`version` is the format of the state branch: gitticks alone writes it, and with another one it would "
            "change nothing here any more",
            hint="`gt version` shows the version of gitticks",
        )
    if value is None:
        return None
    setting, keys = find_setting(name)
    try:
        return parse_value(setting, keys, value, name)
    except DocumentError as error:
        raise UsageError(error.problem, hint=f"`gt config --explain {name}`") from error


def refuse_odd_base(name: str, hint: str) -> None:
    """Refuses a base that no settings file can name; `hint` says how to take another one."""
    if not is_encodable(name):
        raise GitticksError(f"the base cannot be the branch `{name}`, whose name is not UTF-8", hint=hint)


def refuse_unknown_base(context: Context, value: str) -> None:
    """Refuses a base that is no branch here or at origin; one without commits yet is one all the same."""
    refuse_odd_base(value, "`git branch --list` shows the branches")
    known = list_branches(context.repository)
    if value in known or value == current_branch(context.repository):
        return
    near = get_close_matches(value, known, n=1, cutoff=0.6)
    raise NotFoundError(
        f"there is no branch `{value}`",
        hint=f"did you mean `{near[0]}`?" if near else "`git branch --list` shows the branches",
    )


def _shown(found: ResolvedSettings, name: str) -> ShownSetting:
    value = get(found.settings, name)
    return ShownSetting(name, value, show(name, value), found.origin(name), explain(name))
