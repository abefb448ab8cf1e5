"""Installs, removes and checks gitticks' hooks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from gitticks.actions.context import Context
from gitticks.actions.current import workspaces_of
from gitticks.board.hooks import (
    board_hooks_state,
    checkout_hooks_state,
    install_board_hooks,
    install_checkout_hooks,
    install_server_hooks,
    server_hooks_state,
    uninstall_board_hooks,
    uninstall_checkout_hooks,
    uninstall_server_hooks,
)
from gitticks.errors import GitticksError
from gitticks.git.checkouts import checkout_at
from gitticks.git.config import OwnHooks, find_own_hooks
from gitticks.runner import workspace_setup
from gitticks.runner.workspace_setup import workspaces_with_hooks
from gitticks.store.hook_files import HooksState

_WHAT = "install or remove hooks"


class Place(StrEnum):
    """Where hooks of gitticks can be."""

    BOARD = "board"
    WORKSPACES = "workspaces"
    CHECKOUT = "checkout"
    SERVER = "server"


@dataclass(frozen=True, slots=True)
class PlaceOfHooks:
    """The hooks of one place; of workspaces, `count` have them and `all_count` there are."""

    place: Place
    state: HooksState
    count: int | None = None
    all_count: int | None = None


class HooksStatus(NamedTuple):
    """The hooks of every place, and where the person's own are."""

    places: tuple[PlaceOfHooks, ...]
    own: OwnHooks


def install_hooks(context: Context, *, checkout: bool, server: bool) -> HooksStatus:
    """Installs the hooks of the board and of workspaces, on request those of the checkout, or that of a server.

    Those of the checkout are brought up to date where they are there already.
    """
    context.require_person(_WHAT)
    repository = context.repository
    if server:
        install_server_hooks(repository)
        return hooks_status(context)
    if repository.project_dir is None:
        raise GitticksError(
            "this is a bare repository, which has no board", hint="`gt hooks install --server` is for those"
        )
    install_board_hooks(repository)
    for task_id, place in workspaces_of(context).items():
        workspace = checkout_at(repository, Path(place))
        workspace_setup.install_hooks(repository, workspace, task_id)
    if checkout or checkout_hooks_state(repository) is not HooksState.ABSENT:
        install_checkout_hooks(repository)
    return hooks_status(context)


def uninstall_hooks(context: Context, *, checkout: bool) -> tuple[str, ...]:
    """Removes every hook, or with `checkout` those of the checkout alone; returns what a person has to look at."""
    context.require_person(_WHAT)
    repository = context.repository
    if repository.project_dir is None:
        return uninstall_server_hooks(repository)
    if not checkout:
        workspace_setup.uninstall_hooks(repository)
        uninstall_board_hooks(repository)
    return uninstall_checkout_hooks(repository)


def hooks_status(context: Context) -> HooksStatus:
    """Returns how the hooks of each place are; of a bare repository only a server's."""
    repository = context.repository
    own = find_own_hooks(repository)
    if repository.project_dir is None:
        return HooksStatus((PlaceOfHooks(Place.SERVER, server_hooks_state(repository)),), own)
    having = {checkout.git_dir for checkout in workspaces_with_hooks(repository)}
    there = {
        checkout_at(repository, Path(place)).git_dir for place in workspaces_of(context).values()
    } | having
    are_all = having and having == there
    state = workspace_setup.hooks_state(repository) if are_all else HooksState.ABSENT
    places = (
        PlaceOfHooks(Place.BOARD, board_hooks_state(repository)),
        PlaceOfHooks(Place.WORKSPACES, state, len(having), len(there)),
        PlaceOfHooks(Place.CHECKOUT, checkout_hooks_state(repository)),
    )
    return HooksStatus(places, own)
