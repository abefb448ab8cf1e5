"""The list of all commands: name, group and one line of help, so that help and completion import nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import click

    from gitticks.cli.at_once import ReadingCommand

SET_UP, WRITE, SEE, PEOPLE, AGENTS, RUN, SHARE, PLUMBING = (
    "Set up",
    "Write tasks",
    "See",
    "Answer",
    "Inside a workspace",
    "Run and merge",
    "Share",
    "Plumbing",
)
HEADINGS = (SET_UP, WRITE, SEE, PEOPLE, AGENTS, RUN, SHARE, PLUMBING)


class CatalogueEntry(NamedTuple):
    """One command: its module in `gitticks.cli.commands` has the name with `-` as `_` (`importing` for `import`), and a `command` in it."""

    name: str
    heading: str
    summary: str

    @property
    def module(self) -> str:
        """Returns the module's full name."""
        name = "importing" if self.name == "import" else self.name.replace("-", "_")  # a word of Python's own
        return f"gitticks.cli.commands.{name}"


CATALOGUE: tuple[CatalogueEntry, ...] = (
    CatalogueEntry("init", SET_UP, "Set up tasks in this repository: the state branch and its board."),
    CatalogueEntry("config", SET_UP, "Read, set and explain settings."),
    CatalogueEntry("doctor", SET_UP, "Look for what is broken, and say how to fix it."),
    CatalogueEntry("trust", SET_UP, "Review what came from elsewhere and would run here, and trust it."),
    CatalogueEntry("hooks", SET_UP, "Install, remove and check git hooks."),
    CatalogueEntry("agents", SET_UP, "List the agents that can be started here."),
    CatalogueEntry("skill", SET_UP, "Print instructions for coding agents, or keep them in AGENTS.md."),
    CatalogueEntry("demo", SET_UP, "Make a small project and run its tasks while you watch."),
    CatalogueEntry("completion", SET_UP, "Print the completion script for a shell."),
    CatalogueEntry("help", SET_UP, "Explain a command or a topic."),
    CatalogueEntry("version", SET_UP, "Print the versions of gitticks and its libraries."),
    CatalogueEntry("create", WRITE, "Create a task and print its id."),
    CatalogueEntry("update", WRITE, "Change a task's fields or ask for a status."),
    CatalogueEntry("edit", WRITE, "Open a task in your editor."),
    CatalogueEntry("note", WRITE, "Add a note that the next agent reads."),
    CatalogueEntry("block", WRITE, "Make a task wait for others."),
    CatalogueEntry("unblock", WRITE, "Stop a task from waiting for others."),
    CatalogueEntry("defer", WRITE, "Put a task off until a day."),
    CatalogueEntry("cancel", WRITE, "Give up on tasks."),
    CatalogueEntry("close", WRITE, "Close tasks that you did yourself."),
    CatalogueEntry("reopen", WRITE, "Reopen closed tasks."),
    CatalogueEntry("import", WRITE, "Import tasks from another tracker."),
    CatalogueEntry("watch", WRITE, "Commit what you save on the board, and print what happens."),
    CatalogueEntry("export", WRITE, "Write every task as JSON, CSV or beads issues."),
    CatalogueEntry("migrate", WRITE, "Upgrade old task files."),
    CatalogueEntry("list", SEE, "List tasks."),
    CatalogueEntry("tree", SEE, "Show epics and the tasks below them."),
    CatalogueEntry("search", SEE, "Find tasks by words in titles and texts."),
    CatalogueEntry("show", SEE, "Show one task with its hand-off, review and history."),
    CatalogueEntry("next", SEE, "Print the task that comes next."),
    CatalogueEntry("ready", SEE, "List what can be worked on now."),
    CatalogueEntry("current", SEE, "List what is being worked on in this clone."),
    CatalogueEntry("status", SEE, "Show what runs, what waits for you and what is next."),
    CatalogueEntry("log", SEE, "Show the history of a task or of all."),
    CatalogueEntry("board", SEE, "Show tasks as cards in columns."),
    CatalogueEntry("graph", SEE, "Draw what waits for what."),
    CatalogueEntry("stats", SEE, "Count what was done, how long it waited for people, and what it cost."),
    CatalogueEntry("path", SEE, "Print the path of a task's file."),
    CatalogueEntry("inbox", PEOPLE, "Show what waits for you, and what to type."),
    CatalogueEntry("approve", PEOPLE, "Approve what tasks await, and merge them."),
    CatalogueEntry("reject", PEOPLE, "Send tasks back with feedback."),
    CatalogueEntry("respond", PEOPLE, "Answer a task's question."),
    CatalogueEntry("review", PEOPLE, "Look at a task's changes; accept or reject them."),
    CatalogueEntry("complete", AGENTS, "Hand the work over for review."),
    CatalogueEntry("ask", AGENTS, "Ask a person a question."),
    CatalogueEntry("handoff", AGENTS, "Write the hand-off."),
    CatalogueEntry("run", RUN, "Run agents on what is ready."),
    CatalogueEntry("start", RUN, "Begin a task by hand in a workspace of its own."),
    CatalogueEntry("stop", RUN, "Stop the run, or one task's agent."),
    CatalogueEntry("health", RUN, "Find dead sessions and finish what they left."),
    CatalogueEntry("worktree", RUN, "List and clean workspaces."),
    CatalogueEntry("merge", RUN, "Merge what is approved."),
    CatalogueEntry(
        "sync", SHARE, "Share tasks with a remote: pull what is new there, push what is new here."
    ),
    CatalogueEntry("merge-driver", PLUMBING, "Merge a task's file for git."),
    CatalogueEntry("hook", PLUMBING, "What the git hooks call."),
)
_READING = frozenset({"agents", "completion", "export", "help", "inbox", "version"})
_BY_NAME = {entry.name: entry for entry in CATALOGUE}


def is_reading(name: str) -> bool:
    """True for a command that only answers, so that nothing is made twice by repeating it."""
    entry = _BY_NAME.get(name)
    return entry is None or entry.heading == SEE or name in _READING


def find_command(name: str) -> click.Command | None:
    """Returns a command, importing its module; None if there is none of that name."""
    entry = _BY_NAME.get(name)
    if entry is None:
        return None
    from importlib import import_module

    from gitticks.cli.at_once import ReadingCommand
    from gitticks.cli.options import as_click

    command: click.Command | ReadingCommand = import_module(entry.module).command
    return as_click(command) if isinstance(command, ReadingCommand) else command
