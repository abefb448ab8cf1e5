"""The list of all commands: name, group and one line of help, so that help and completion import nothing else."""

from __future__ import annotations

from typing import Any, NamedTuple

HEADINGS = SET_UP, WRITE, SEE, PEOPLE, AGENTS, RUN, SHARE, PLUMBING = (
    "Set up",
    "Write tasks",
    "See",
    "Answer",
    "Inside a workspace",
    "Run and merge",
    "Share",
    "Plumbing and legacy",
)


class CatalogueEntry(NamedTuple):
    """One command: `<name>_command` in its module in `gitticks.cli.commands`, which has the command's name unless it has several."""

    name: str
    heading: str
    summary: str
    module: str = ""

    def load(self) -> Any:
        """Returns the command, a click one or a `ReadingCommand`, importing its module."""
        attribute = f"{self.name.replace('-', '_')}_command"
        module = __import__(f"gitticks.cli.commands.{self.module or self.name}", fromlist=[attribute])
        return getattr(module, attribute)


CATALOGUE: tuple[CatalogueEntry, ...] = (
    CatalogueEntry("init", SET_UP, "Set up tasks in this repository: the state branch and its board."),
    CatalogueEntry("config", SET_UP, "Read, set and explain settings.", "settings"),
    CatalogueEntry("doctor", SET_UP, "Find problems, and say how to fix them."),
    CatalogueEntry(
        "trust", SET_UP, "Review settings and scripts from elsewhere before they run here.", "settings"
    ),
    CatalogueEntry("hooks", SET_UP, "Install, remove and check git hooks."),
    CatalogueEntry("agents", SET_UP, "List the agents that can be started here.", "agents"),
    CatalogueEntry(
        "skill", SET_UP, "Print instructions for coding agents, or add them to AGENTS.md.", "agents"
    ),
    CatalogueEntry("demo", SET_UP, "Create a small project and run its tasks while you watch."),
    CatalogueEntry("completion", SET_UP, "Print the completion script for a shell.", "about"),
    CatalogueEntry("help", SET_UP, "Explain a command or a topic, or open a guide.", "about"),
    CatalogueEntry("version", SET_UP, "Print the versions of gitticks and its libraries.", "about"),
    CatalogueEntry("create", WRITE, "Create a task and print its id.", "writing"),
    CatalogueEntry("update", WRITE, "Change a task's fields or ask for a status.", "writing"),
    CatalogueEntry("edit", WRITE, "Open a task in your editor.", "writing"),
    CatalogueEntry("note", WRITE, "Add a note that the next agent reads.", "writing"),
    CatalogueEntry("block", WRITE, "Make a task wait for others.", "writing"),
    CatalogueEntry("unblock", WRITE, "Remove blockers from a task.", "writing"),
    CatalogueEntry("defer", WRITE, "Defer a task until a date.", "writing"),
    CatalogueEntry("cancel", WRITE, "Give up on tasks.", "verdicts"),
    CatalogueEntry("close", WRITE, "Close tasks that you completed yourself.", "verdicts"),
    CatalogueEntry("reopen", WRITE, "Reopen closed tasks.", "verdicts"),
    CatalogueEntry("import", WRITE, "Import tasks from another tracker.", "transfer"),
    CatalogueEntry("watch", WRITE, "Commit what you save on the board, and print what happens."),
    CatalogueEntry("export", WRITE, "Export all tasks as JSON, CSV or beads issues.", "transfer"),
    CatalogueEntry("list", SEE, "List tasks."),
    CatalogueEntry("tree", SEE, "Show epics and the tasks below them."),
    CatalogueEntry("search", SEE, "Find tasks by words in titles and texts."),
    CatalogueEntry("show", SEE, "Show one task with its hand-off, review and history."),
    CatalogueEntry("next", SEE, "Print the next task.", "picking"),
    CatalogueEntry("ready", SEE, "List tasks that can be worked on now.", "picking"),
    CatalogueEntry("current", SEE, "List tasks that are being worked on in this clone.", "status"),
    CatalogueEntry("status", SEE, "Show what is running, what waits for you and what is next.", "status"),
    CatalogueEntry("log", SEE, "Show the history of one task or of all tasks.", "history"),
    CatalogueEntry("board", SEE, "Show tasks as cards in columns."),
    CatalogueEntry("graph", SEE, "Draw the dependencies between tasks."),
    CatalogueEntry("stats", SEE, "Show statistics: work done, time spent waiting for people, cost."),
    CatalogueEntry("path", SEE, "Print the path of a task's file.", "history"),
    CatalogueEntry("inbox", PEOPLE, "Show what waits for you, and what to type."),
    CatalogueEntry("approve", PEOPLE, "Approve tasks, and merge them.", "verdicts"),
    CatalogueEntry("reject", PEOPLE, "Send tasks back with feedback.", "verdicts"),
    CatalogueEntry("respond", PEOPLE, "Answer a task's question.", "verdicts"),
    CatalogueEntry("review", PEOPLE, "Review a task's changes; accept or reject them."),
    CatalogueEntry("complete", AGENTS, "Hand off the work for review.", "handover"),
    CatalogueEntry("ask", AGENTS, "Ask a person a question.", "handover"),
    CatalogueEntry("handoff", AGENTS, "Write the hand-off.", "handover"),
    CatalogueEntry("run", RUN, "Run agents on ready tasks.", "running"),
    CatalogueEntry("attach", RUN, "Follow the agent working on a task."),
    CatalogueEntry("start", RUN, "Start working on a task yourself, in its own workspace.", "running"),
    CatalogueEntry("stop", RUN, "Stop the run, or one task or epic.", "running"),
    CatalogueEntry("pause", RUN, "Keep runs from starting anything new until `gt unpause`.", "running"),
    CatalogueEntry("unpause", RUN, "Let runs continue after `gt pause`.", "running"),
    CatalogueEntry("resume", RUN, "Go back to a checkpoint and continue from there.", "checkpoints"),
    CatalogueEntry("checkpoints", RUN, "List, compare and drop checkpoints."),
    CatalogueEntry("permissions", RUN, "Answer permission requests of agents, and show the rules."),
    CatalogueEntry("audit", RUN, "Show what agents asked to do and what was decided; verify it."),
    CatalogueEntry("health", RUN, "Find dead sessions and process what they left.", "running"),
    CatalogueEntry("worktree", RUN, "List, open and clean workspaces.", "workspaces"),
    CatalogueEntry("verify", RUN, "Run the quality gates in a task's workspace.", "workspaces"),
    CatalogueEntry("conflicts", RUN, "Show which unmerged work conflicts, before you merge.", "workspaces"),
    CatalogueEntry("merge", RUN, "Merge approved tasks.", "workspaces"),
    CatalogueEntry("sync", SHARE, "Share tasks with a remote: pull, merge and push."),
    CatalogueEntry("merge-driver", PLUMBING, "Merge a task's file for git.", "hook"),
    CatalogueEntry("hook", PLUMBING, "Called by the git hooks."),
    CatalogueEntry("migrate", PLUMBING, "Upgrade old task files.", "transfer"),
)
DAILY: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Write tasks", ("create", "edit", "list", "show")),
    ("Run agents", ("run", "status", "stop")),
    ("Answer", ("inbox", "review", "approve", "reject", "respond")),
    ("Set up and share", ("init", "sync", "doctor")),
)
"""The commands of a normal day, which `gt --help` shows; `gt help all` has every one."""
ALIASES = {
    "add": "create",
    "new": "create",
    "ls": "list",
    "view": "show",
    "st": "status",
    "comment": "note",
    "done": "close",
    "rm": "cancel",
}
"""Names that other tools taught everybody; they are the command."""
BY_NAME = {entry.name: entry for entry in CATALOGUE}


def name_of(word: str) -> str:
    """Returns the name of the command that a word calls."""
    return ALIASES.get(word, word)
