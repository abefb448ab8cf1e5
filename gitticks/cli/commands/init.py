"""`gt init`."""

from __future__ import annotations

import os

import click

from gitticks.actions.agents import KnownAgent, known_agents
from gitticks.actions.context import Context
from gitticks.actions.doctor import Severity
from gitticks.actions.doctor.machine import check_program
from gitticks.actions.init import Begun, Initialised, initialise, is_begun
from gitticks.cli.editor import is_on_terminal
from gitticks.cli.json import print_object
from gitticks.cli.options import command
from gitticks.cli.render import hint, say, warn
from gitticks.cli.text import as_called, visible
from gitticks.git.refs import likely_base
from gitticks.git.sharing import Fetched
from gitticks.model.settings import AgentKind, HumanPolicy


@command("init", "gt init", "gt init --base develop --human when-required")
@click.option(
    "--base",
    metavar="BRANCH",
    help="The branch that approved work is merged into; by default the one that origin/HEAD points to.",
)
@click.option(
    "--human",
    type=click.Choice([policy.value for policy in HumanPolicy]),
    help="Whether a person approves all work, or only if required.",
)
def init_command(context: Context, *, base: str | None, human: str | None) -> None:
    """Set up tasks in this repository: the state branch and its board.

    Tasks live on a branch of their own, checked out at `.gitticks/`; your branches and files stay as they are. If
    origin or another remote has that branch already, its tasks are fetched. Running it again fixes what is missing.
    """
    policy = HumanPolicy(human) if human else None
    if policy is None and not context.as_json and is_on_terminal() and not is_begun(context):
        _ = context.author  # before any question: git must know who this is
        is_always = click.confirm("Should a person approve all work before it is merged?", default=True)
        policy = HumanPolicy.ALWAYS if is_always else HumanPolicy.WHEN_REQUIRED
    done = initialise(context, base=base, human=policy)
    agents = [one for one in known_agents(context) if one.path is not None and one.kind != AgentKind.SCRIPT]
    if context.as_json:
        print_object(
            begun=done.begun.name.lower(),
            board=done.board,
            base=done.base,
            human=done.human,
            tests=done.tests,
            proposed_tests=done.proposed_tests,
            agents=[{"name": one.name, "version": one.version} for one in agents],
        )
        return
    _say(context, done, agents)


def _say(context: Context, done: Initialised, agents: list[KnownAgent]) -> None:
    board = f"the board at {visible(os.path.relpath(done.board))}/ (ignored by your checkout)"
    match done.begun:
        case Begun.CREATED:
            say(f"created branch gitticks/state and {board}")
        case Begun.TAKEN_OVER:
            say(f"fetched branch gitticks/state from {visible(done.remote or '')}, and created {board}")
        case Begun.THERE:
            say(
                f"branch gitticks/state already exists; {'made ' if done.is_board_new else 'so does '}{board}"
            )
    names = ", ".join(f"{one.name} {one.version}" if one.version else one.name for one in agents)
    say(f"agents found: {visible(names) or 'none; tasks can still be run as scripts, or done by people'}")
    if done.tests is None:
        seen = f"; your project seems to use `{done.proposed_tests}`" if done.proposed_tests else ""
        say(f"tests: none; agents' work is not tested before it is merged{seen}")
    else:
        say(f"tests: {visible(done.tests)}")
    if not done.has_commits:
        say("base branch: not known until your first commit; work can start after that")
    elif done.base is None:
        set_one = f"`gt config base {likely_base(context.repository.common_dir)}`"
        say(as_called(f"base branch: not known, HEAD is detached; set one with {set_one}"))
    for one in done.silent:
        refused, cut_off = "refused to say whether it has tasks", "could not be reached"
        how = refused if one.outcome is Fetched.REFUSED else cut_off
        warn(
            f"{one.name} {how} ({one.words}); if it has tasks already, `gt sync` merges them with yours "
            "once it can be reached"
        )
    for finding in check_program(os.environ):
        if finding.severity is Severity.WARNING:
            warn(f"{finding.what}; {finding.fix}")
    proposed = done.proposed_tests or "make test"
    tests = f'`gt config verify.test "{proposed}"`, then ' if done.tests is None else ""
    hint(f'set your tests with {tests}`gt create "…"`' if tests else '`gt create "…"` creates a task')
