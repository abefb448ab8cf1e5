"""Runs one agent in its workspace: how it is started and sandboxed, and its requests."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from gitticks.agents.base import (
    AgentReport,
    AgentSpec,
    Front,
    Invocation,
    Limits,
    PermissionHook,
    agent_environment,
)
from gitticks.agents.base import Request as AgentRequest
from gitticks.agents.interactive import (
    SIGNALS_UNREAD,
    interactive,
    is_interactive,
    run_on_terminal,
)
from gitticks.agents.process import StopRequest
from gitticks.agents.registry import PRESETS, invoke
from gitticks.agents.session import run_agent
from gitticks.agents.tmux import in_tmux, server_name
from gitticks.bugs import failure_of_task
from gitticks.errors import GitticksError, LostRaceError, MachineError
from gitticks.git.checkouts import checkout_at, commit_folders
from gitticks.git.identity import agent_identity
from gitticks.git.process import GitError
from gitticks.model.settings import AgentKind, PromptWay
from gitticks.model.status import Role
from gitticks.model.task import Ending, Usage
from gitticks.runner import mailbox, outbox
from gitticks.runner.outbox import Request, RequestKind
from gitticks.runner.places import permission_socket
from gitticks.runner.places.permission_socket import HookAnswer, ToolCall
from gitticks.runner.places.place import EarlierSession, Heard, SessionOrder, Work
from gitticks.runner.prompt import with_notes
from gitticks.runner.records import Sessions
from gitticks.runner.transcripts import COUNCIL_FOLDER, TRANSCRIPTS_FOLDER
from gitticks.runner.untrusted_files import put_files
from gitticks.runner.workspace_environment import port_variables
from gitticks.sandbox.enclosure import ClientNeeds, enclosed
from gitticks.sandbox.walls import walls_of, with_rules
from gitticks.store.permissions import policy_layers
from gitticks.workflow.budget import iteration_number

if TYPE_CHECKING:
    from gitticks.git.repository import Repository
    from gitticks.runner.places.local import Desk

PASSING = (MachineError, GitError, LostRaceError)
"""What failed by the machine, such as a full disk, and may go well later."""
_POLL_SECONDS = 0.2
_CLIENTS_VARIABLES = tuple(
    dict.fromkeys(
        prefix for one in PRESETS.values() for prefix in one.variables if prefix not in ("AWS_", "GOOGLE_")
    )
)
"""What an agent that is not known may need to reach its model; clouds' credentials open more than a model."""
_HOOK_EXTRA_SECONDS = 30
"""What a client gives its hook beyond the time that a person has, so that the refusal is ours."""
_MOST_REFUSED = 20
"""Each costs a line of the history, and perhaps a run of the tests."""
_ONLY_WRITTEN = (RequestKind.NOTE, RequestKind.HANDOFF)
"""What such a request says is in the mailbox; no gate is asked."""


class Conversation(NamedTuple):
    """The run of one agent at its desk."""

    desk: Desk
    order: SessionOrder
    heard: Heard

    def run(self) -> AgentReport:
        """Returns the result; a session of the agent's own that is gone is started over."""
        order = self.order
        report = self._converse(order.prompt, order.earlier)
        if order.earlier is None or not could_not_go_on(report):
            return report
        reason = f" ({report.detail})" if report.detail else ""
        self.heard.warn(
            f"`{order.agent.name}` cannot resume its earlier session{reason}: it starts a new one"
        )
        return self._converse(order.prompt_anew, None)

    def _converse(self, prompt: str, earlier: EarlierSession | None) -> AgentReport:
        desk, heard = self.desk, self.heard
        held = ExitStack()
        try:
            invocation, environment = self._walled(self._invocation(prompt, earlier), held)
            put_files(desk.workspace.path, invocation.files)
            heard.begin()
        except (GitticksError, OSError) as error:
            held.close()
            return failed_start(error, desk.stop)
        for warning in invocation.warnings:
            heard.warn(warning)
        limits, walls = desk.place.settings.limits, walls_of(desk.place.settings.sandbox)
        with held, self._watching_requests():
            if PRESETS[self.order.agent.kind].has_hook:
                held.enter_context(permission_socket.serving(desk.workspace.mailbox, self._permit))
            sessions = Sessions(desk.place.repository.own_dir)
            lock = sessions.tree_lock(desk.workspace.task_id, self.order.number)
            if desk.place.front is Front.TERMINAL:
                return run_on_terminal(
                    invocation,
                    workspace=desk.workspace.path,
                    environment=environment,
                    now=desk.place.world.now,
                    stop=desk.stop,
                    lock=lock,
                )
            return run_agent(
                invocation,
                workspace=desk.workspace.path,
                environment=environment,
                limits=Limits(
                    limits.iteration,
                    limits.idle,
                    limits.output,
                    processes=walls.limits.max_processes if walls is not None else None,
                ),
                now=desk.place.world.now,
                stop=desk.stop,
                on_text=heard.say,
                on_line=heard.line,
                on_session_id=heard.name_session,
                on_tool=self._saw_tool,
                judge=self._refusal,
                lock=lock,
                secrets=desk.secrets,
            )

    def _walled(self, invocation: Invocation, held: ExitStack) -> tuple[Invocation, dict[str, str]]:
        """Returns how the agent is started in the sandbox that the settings ask for, and what it sees.

        They stand until `held` is closed.
        """
        desk, agent = self.desk, self.order.agent
        place, front = desk.place, self._front
        environment = {**self._environment(), **invocation.environment}
        walls = walls_of(place.settings.sandbox)
        if walls is not None:
            rules = policy_layers(place.repository, place.world.environment, place.overrides)
            walls = with_rules(walls, rules)
            walls = walls._replace(hidden=(*walls.hidden, *_said_by_others(place.repository)))
            enclosure = held.enter_context(
                enclosed(
                    walls,
                    place.repository,
                    checkout_at(place.repository, desk.workspace.path),
                    {**place.world.environment, **desk.variables},
                    argv=(*(agent.argv or invocation.argv[:1]), *agent.args),
                    client=client_needs(agent, place.world.environment),
                    has_terminal=front is not Front.NONE,
                    note=Sessions(place.repository.own_dir).links_note(
                        desk.workspace.task_id, self.order.number
                    ),
                    warn=self.heard.warn,
                )
            )
            environment = enclosure.environment(environment)
            invocation = replace(invocation, argv=enclosure.around(invocation.argv), environment={})
        if front is Front.TMUX:
            reads_prompt = agent.kind is AgentKind.COMMAND and agent.prompt is PromptWay.STDIN
            file = str(desk.workspace.mailbox / mailbox.PROMPT_FILE) if reads_prompt else None
            server = server_name(place.repository.own_dir, self.order.plan.task_id)
            invocation = in_tmux(invocation, server, file)
        return invocation, environment

    def _invocation(self, prompt: str, earlier: EarlierSession | None) -> Invocation:
        agent, notes, front = self.order.agent, self.desk.workspace.warnings, self._front
        if front is Front.NONE:
            return invoke(agent, self._fill(with_notes(prompt, notes), earlier))
        if agent.kind is not AgentKind.COMMAND:
            notes = (*notes, SIGNALS_UNREAD)
        request = self._fill(with_notes(prompt, notes), earlier)
        return interactive(agent, request)

    @property
    def _front(self) -> Front:
        """Returns where this agent can be talked to: in tmux only workers can, and those that have a command for it."""
        front = self.desk.place.front
        is_for_tmux = self.order.record.role is Role.WORKER and is_interactive(self.order.agent)
        return Front.NONE if front is Front.TMUX and not is_for_tmux else front

    def _fill(self, prompt: str, earlier: EarlierSession | None) -> AgentRequest:
        workspace, order, place = self.desk.workspace, self.order, self.desk.place
        mailbox.fill(workspace, order.file, prompt, self._variables())
        return AgentRequest(
            prompt,
            session_id=earlier.session_id if earlier else None,
            spent_before=earlier.counted if earlier else Usage(),
            prompt_file=str(workspace.mailbox / mailbox.PROMPT_FILE),
            own_gt=str(workspace.mailbox / mailbox.PROGRAM),
            script=order.script,
            commit_folders=self._commit_folders(),
            hook=self._hook(),
            rules=policy_layers(place.repository, place.world.environment, place.overrides),
            is_walled=walls_of(place.settings.sandbox) is not None,
            is_answered=self._front is Front.NONE,
        )

    def _hook(self) -> PermissionHook | None:
        kind, workspace = self.order.agent.kind, self.desk.workspace
        if not PRESETS[kind].has_hook:
            return None
        program = (*mailbox.OWN_COMMAND, "hook", "permission", kind.value)
        seconds = self.desk.place.settings.permissions.timeout + _HOOK_EXTRA_SECONDS
        socket = str(workspace.mailbox / permission_socket.NAME)
        return PermissionHook((*program, socket), seconds, workspace.mailbox / kind.value, workspace.path)

    def _permit(self, call: ToolCall) -> HookAnswer:
        return self.heard.permit(self.order.agent, call, self.desk.workspace.path)

    def _saw_tool(self, tool: str, given: Mapping[str, Any]) -> None:
        path = self.desk.workspace.path
        self.heard.saw(self.order.agent, ToolCall(tool, dict(given), str(path)), path)

    def _refusal(self, tool: str, given: Mapping[str, Any], use: str) -> str | None:
        """Returns why a tool that the client asks about itself may not be used: what its hook said of it, else the rules."""
        path = self.desk.workspace.path
        said = self._permit(ToolCall(tool, dict(given), str(path), use))
        return said.reason if said.decision == "deny" or said.is_left else None

    def _commit_folders(self) -> tuple[str, ...]:
        if self.order.record.role is not Role.WORKER:
            return ()
        checkout = checkout_at(self.desk.place.repository, self.desk.workspace.path)
        return tuple(str(folder) for folder in commit_folders(checkout))

    def _variables(self) -> dict[str, str]:
        order = self.order
        return {
            "GITTICKS_TASK": str(order.plan.task_id),
            "GITTICKS_ROLE": order.record.role.value,
            "GITTICKS_ROUND": str(order.record.round),
            "GITTICKS_ITERATION": str(iteration_number(order.file.task.usage, order.record.role)),
            "GITTICKS_MAILBOX": str(self.desk.workspace.mailbox),
            "GITTICKS_AGENT": "1",
            **({"GITTICKS_REVIEWER": order.reviewer} if order.reviewer else {}),
        }

    def _environment(self) -> dict[str, str]:
        outer, agent = self.desk.place.world.environment, self.order.agent
        repository = self.desk.place.repository
        additions = {
            **self._variables(),
            **agent_identity(agent.name).variables(),
            **self.desk.variables,
            **port_variables(repository, checkout_at(repository, self.desk.workspace.path)),
            "PATH": f"{self.desk.workspace.mailbox}{os.pathsep}{outer.get('PATH', os.defpath)}",
            # A bash that finds no shell above it and a socket as stdin reads `.bashrc`, which may set another PATH.
            "SHLVL": "1",
        }
        return agent_environment(agent.kind, PRESETS[agent.kind].variables, outer, additions)

    @contextmanager
    def _watching_requests(self) -> Iterator[None]:
        """Passes the agent's requests on while the block runs, and what is left at its end before that is judged."""
        is_over = threading.Event()
        watcher = threading.Thread(
            target=self._watch_requests,
            args=(is_over,),
            name=f"requests of {self.order.plan.task_id}",
            daemon=True,
        )
        watcher.start()
        try:
            yield
        finally:
            is_over.set()
            watcher.join()

    def _watch_requests(self, is_over: threading.Event) -> None:
        folder, stop_at, is_last = self.desk.workspace.mailbox, math.inf, False
        known, refused = set[str](), 0  # what stays in the outbox is neither done nor told again
        while not is_last:
            is_last = is_over.wait(_POLL_SECONDS)
            if refused < _MOST_REFUSED:
                collected = outbox.collect(folder)
                for warning in (one for one in collected.warnings if one not in known):
                    self.heard.warn(warning)
                    refused += 1
                for name, request in collected.requests:
                    if name in known or refused >= _MOST_REFUSED:
                        continue
                    seconds_left = self._pass_on(request)
                    if seconds_left is not None:
                        stop_at = time.monotonic() + seconds_left
                    elif request.kind not in _ONLY_WRITTEN:
                        refused += 1
                    outbox.remove(folder, name)
                known.update(collected.warnings, (name for name, _ in collected.requests))
                if refused >= _MOST_REFUSED:
                    self.heard.warn(f"{refused} requests of this session were refused: no more are read")
            if time.monotonic() >= stop_at:
                self.desk.stop.request()

    def _pass_on(self, request: Request) -> float | None:
        desk, heard = self.desk, self.heard
        try:
            if request.kind in _ONLY_WRITTEN:
                return heard.request(request, Work(desk.read()))
            return heard.request(request, desk.look(request))
        except Exception as error:  # noqa: BLE001 - the requests that follow are to be heard all the same
            failure = failure_of_task(error, f"gt run {desk.workspace.task_id}")
            try:
                heard.refuse(failure)
            except (GitticksError, OSError):
                heard.warn(f"a request was not carried out: {failure.in_one_line}")
            return None


def _said_by_others(repository: Repository) -> tuple[str, ...]:
    """Returns where answers and transcripts of other sessions are, so that no reviewer knows what the others say."""
    folders = [repository.own_file(name) for name in (COUNCIL_FOLDER, TRANSCRIPTS_FOLDER)]
    for folder in folders:  # only what is there can be hidden
        folder.mkdir(parents=True, exist_ok=True)
    return tuple(map(str, folders))


def client_needs(agent: AgentSpec, environment: Mapping[str, str]) -> ClientNeeds:
    """Returns what an agent's program needs in a sandbox; one that is not known keeps all clients' variables.

    The `environment` is the person's, whose variables may move what it keeps.
    """
    preset = PRESETS[agent.kind]
    places = preset.places.located(environment)
    variables = preset.variables or _CLIENTS_VARIABLES
    return ClientNeeds(
        preset.hosts,
        (*variables, "GITTICKS_", "GIT_AUTHOR_", "GIT_COMMITTER_"),
        places.folders,
        places.settings,
        places.copies,
        places.state,
    )


def could_not_go_on(report: AgentReport) -> bool:
    """True if an agent that was asked to continue with a session ended before it said a word, so that it is gone.

    Clients word this each in its own way, and change the words. One that names its session and then fails to start, as
    without a login, has found it.
    """
    if report.ending is Ending.START_FAILED and report.session_id is not None:
        return False
    ended_early = report.ending in (Ending.START_FAILED, Ending.CRASHED, Ending.CONTEXT_FULL)
    return ended_early and not report.messages and not report.usage.tokens_out


def failed_start(
    error: GitticksError | OSError, stop: StopRequest, ending: Ending = Ending.START_FAILED
) -> AgentReport:
    """Returns the end of a session that never began, which is no failure where it was stopped."""
    why = error.in_one_line if isinstance(error, GitticksError) else str(error)
    return AgentReport(Ending.STOPPED if stop.is_requested else ending, detail=why)
