"""The commands that faults are tried on, by family: how to arrange what each needs, and what may be left of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from gitticks.model.status import Awaiting, Status
from tests.cli.support import command as gt_command
from tests.support.agents import write_program
from tests.support.projects import Project, make_project, make_reviewing, make_working
from tests.support.stores import QUESTION
from tests.support.victims import Command

ANCHOR = "zzzz"
"""A task that no victim touches: others write to it, and block on it."""
WRITTEN = "The editor wrote this."
IMPORTED = 110
HANDOFF = "## Handoff\n\n- DONE: it\n"
_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"


@dataclass(frozen=True, slots=True)
class Case:
    """One command about one task, ready to be hit.

    Attributes:
        command: what is started.
        task: the task that it changes; None if it makes one.
        is_git: the main process is git, which leaves locks of its own when it is killed.
        is_resumed: only the same command again brings to its end what was begun outside of the state branch.
        rest: what does the rest if only a part was done; by default the same command.
    """

    command: Command
    task: str | None
    is_git: bool = False
    is_resumed: bool = False
    rest: Command | None = None


Variant = Callable[[Project, str], Case]


def start_project(folder: Path) -> Project:
    """Makes a repository in which families can be tried, with a warm index."""
    project = make_project(folder)
    project.make(ANCHOR)
    project.ok("list")
    return project


def task_name(number: int) -> str:
    """Returns the id of a task to try something on."""
    return f"t{_DIGITS[number // 1024 % 32]}{_DIGITS[number // 32 % 32]}{_DIGITS[number % 32]}"


def gt_case(
    project: Project, task: str | None, *words: str, environment: Mapping[str, str] | None = None
) -> Case:
    """Returns a case of `gt` at the top of the checkout."""
    return Case(Command(tuple(gt_command(*words)), project.path, environment or {}), task)


def _create(project: Project, task: str) -> Case:
    return gt_case(project, None, "create", "Say hello", "-d", "On every page.", "-p", "1", "-l", "web")


def _update(project: Project, task: str) -> Case:
    project.make(task)
    return gt_case(project, task, "update", task, "--title", "Another", "-p", "0", "-l", "+web")


def _note(project: Project, task: str) -> Case:
    project.make(task)
    return gt_case(project, task, "note", task, "Keep the old path.")


def _block(project: Project, task: str) -> Case:
    project.make(task)
    return gt_case(project, task, "block", task, ANCHOR)


def _defer(project: Project, task: str) -> Case:
    project.make(task)
    return gt_case(project, task, "defer", task, "2099-01-01")


def _handoff(project: Project, task: str) -> Case:
    project.make(task, status=Status.WORKING)
    return gt_case(project, task, "handoff", task, "--done", "it")


def _ask(project: Project, task: str) -> Case:
    project.make(task, status=Status.WORKING)
    return gt_case(project, task, "ask", task, "Which tone?")


def _complete(project: Project, task: str) -> Case:
    make_working(project, task, body=HANDOFF)
    return gt_case(project, task, "complete", task)


def _judged(*words: str) -> Variant:
    def variant(project: Project, task: str) -> Case:
        project.make(task, status=Status.REVIEWING, awaiting=Awaiting.REVIEW, review_round=1)
        return gt_case(project, task, words[0], task, *words[1:])

    return variant


def _respond(project: Project, task: str) -> Case:
    project.make(task, status=Status.CLARIFICATION, awaiting=Awaiting.INPUT, body=QUESTION)
    return gt_case(project, task, "respond", task, "Friendly.")


def _ended(*words: str) -> Variant:
    def variant(project: Project, task: str) -> Case:
        project.make(task)
        return gt_case(project, task, words[0], task, *words[1:])

    return variant


def _start(project: Project, task: str) -> Case:
    project.make(task)
    return replace(gt_case(project, task, "start", task), is_resumed=True)


def _edit(project: Project, task: str) -> Case:
    project.make(task, body="Read this.\n")
    _editor_of(project).with_suffix(f".{task}").unlink(
        missing_ok=True
    )  # of an earlier repository at this place
    # What it wrote before it was killed is in the draft that the next edit opens.
    writes = f'grep -q "{WRITTEN}" "$1" || printf "\\n{WRITTEN}\\n" >> "$1"; echo >> "$0.{task}"'
    editor = write_program(_editor_of(project), writes)
    return gt_case(project, task, "edit", task, environment={"GIT_EDITOR": str(editor)})


def was_written(project: Project, task: str) -> bool:
    """True if the editor of an edit had ended its work."""
    return _editor_of(project).with_suffix(f".{task}").exists()


def _editor_of(project: Project) -> Path:
    """Returns the editor's place: each repository has one of its own, as their tasks have the same names."""
    return project.path.parent / f"editor-of-{project.path.name}"


def _commit_text(project: Project, task: str) -> Case:
    project.make(task, body="Read this.\n")
    return _by_hand(project, task, lambda text: f"{text}\n{WRITTEN}\n")


def _commit_verdict(project: Project, task: str) -> Case:
    project.make(task, status=Status.REVIEWING, awaiting=Awaiting.REVIEW, review_round=1)
    return _by_hand(project, task, lambda text: text.replace("\n---\n", "\nverdict: approved\n---\n", 1))


def _by_hand(project: Project, task: str, change: Callable[[str], str]) -> Case:
    file = project.board_file(task)
    text = change(file.read_text(encoding="utf-8"))
    file.write_text(text, encoding="utf-8")
    argv = ("git", "commit", "--quiet", "--all", "--message", "by hand")
    approve = Command(tuple(gt_command("approve", task)), project.path)
    return Case(Command(argv, project.board), task, is_git=True, rest=approve)


def _merge_approved(project: Project, task: str) -> Case:
    make_reviewing(project, task)
    return replace(gt_case(project, task, "approve", task), is_resumed=True)


def _import(project: Project, task: str) -> Case:
    """Brings in so many tasks that their objects become a pack and the board's files are prepared together."""
    source = project.path.parent / f"{task}.jsonl"
    source.write_text(
        "".join(f'{{"id": "{task}-{one}", "title": "One of many"}}\n' for one in range(IMPORTED))
    )
    return gt_case(project, None, "import", "beads", str(source))


def _merge_left(project: Project, task: str) -> Case:
    make_reviewing(project, task)
    project.ok("approve", task, "--no-wait")
    return replace(gt_case(project, task, "merge", task), is_resumed=True)


FAMILIES: Mapping[str, tuple[Variant, ...]] = {
    "create": (_create,),
    "fields": (_update, _note, _block, _defer),
    "signals": (_handoff, _ask, _complete),
    "verdicts": (
        _judged("approve"),
        _judged("reject", "The test is missing."),
        _respond,
        _ended("close", "Done by hand."),
        _ended("cancel", "Not wanted."),
    ),
    "start": (_start,),
    "edit": (_edit,),
    "commit": (_commit_text, _commit_verdict),
    "merge": (_merge_approved, _merge_left),
    "import": (_import,),
}
