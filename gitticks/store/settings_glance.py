"""Tells at a glance whether a setting could have been given: commands end with that question, and seldom with a yes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gitticks.git.config import read_config
from gitticks.store.layout import CONFIG_PATH

if TYPE_CHECKING:
    from gitticks.store.branch import Store


def may_be_set(store: Store, environment: Mapping[str, str], overrides: Mapping[str, str], name: str) -> bool:
    """True unless every layer is silent about the setting of this dotted name, so that its default holds.

    Raises:
        GitticksError: the state branch cannot be read.
    """
    words = name.split(".")
    if name in overrides or f"GITTICKS_CONFIG_{'_'.join(words).upper()}" in environment:
        return True
    return _team_may_set(store, words) or bool(read_config(store.repository, rf"^gitticks\.{name}$"))


def _team_may_set(store: Store, words: list[str]) -> bool:
    content = store.read(CONFIG_PATH) or b""
    # in quotes a key may be written with escapes
    return b"\\" in content or all(word.encode() in content for word in words)
