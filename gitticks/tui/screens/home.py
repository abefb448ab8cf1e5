"""Home: which epics to run, with which settings; and all that waits for you, answered from here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from gitticks.actions.inbox import Asked
from gitticks.cli.render import count_of
from gitticks.model.ids import BOARD_FOLDER, TaskId
from gitticks.runner.questions import Question
from gitticks.runner.run_record import QueuedMerge
from gitticks.store.index import BrokenFile
from gitticks.tui import run_settings
from gitticks.tui.editing import edit_on_board, edit_task
from gitticks.tui.running import A_FEW, in_words
from gitticks.tui.screens import approving, verdicts
from gitticks.tui.screens.asking import ask_for_task, ask_to_start, start
from gitticks.tui.screens.base import View
from gitticks.tui.screens.dialogs import Choice, Dialog
from gitticks.tui.screens.verdicts import Looked
from gitticks.tui.theme import dotted
from gitticks.tui.widgets import inbox, tasks
from gitticks.tui.widgets.chrome import KeyBar
from gitticks.tui.widgets.lines import Lines, line
from gitticks.tui.widgets.markdown import wrapped
from gitticks.tui.widgets.review_rows import answers
from gitticks.workflow.triggers import Seen

_EVERY_SECONDS = 1.0
_FIRST = 20
"""So many entries of the inbox are looked into at once, others when they are under the cursor."""
_BY_SETTINGS = "-"
_NO_TASKS = "No tasks yet. + creates one; gt import imports yours."
_NO_OPEN_TASKS = "All tasks are closed. + creates the next one; r shows how they went."


class Home(View):
    """What now?"""

    place = "home"
    requests_in = "inbox"

    def __init__(self, subject: str | None = None) -> None:
        super().__init__(subject)
        self._chosen: set[str] = set()
        self._looked: Mapping[str, Looked] = {}
        self._looked_at: object = None
        self._seen_at = 0

    def on_mount(self) -> None:
        self.set_interval(_EVERY_SECONDS, self._tick)

    def _tick(self) -> None:
        if self.is_open and self.is_current and self.snapshot.questions:
            self._draw_inbox()

    def body(self) -> Iterable[Widget]:
        with Horizontal():
            with Vertical(classes="left sized-width", id="left"):
                yield Lines("Epics and tasks", id="roots", empty=_NO_TASKS)
                yield Lines("Run settings", id="settings", classes="pane sized-height")
            with Vertical(classes="right", id="right"):
                yield Lines("For you", id="inbox", empty="Nothing is waiting for you.")
                yield Lines("", id="preview", focusable=False, classes="pane sized-height")

    def draw(self) -> None:
        self._chosen &= {row.id for row in self.snapshot.roots}
        self._draw_roots()
        self._draw_inbox()
        self._draw_settings()
        self._look_into_inbox()

    def _draw_inbox(self) -> None:
        pane, waiting, others = self.pane("inbox"), self.snapshot.waiting, self.snapshot.for_others
        pane.show(inbox.rows(self.snapshot, self.gt.now, pane.inner_width))
        figures = dotted(f"{waiting} waiting" if waiting else "", f"{others} for others" if others else "")
        pane.say(figures, "waits" if waiting else "muted")
        self._draw_preview()

    def _draw_roots(self) -> None:
        pane = self.pane("roots")
        pane.empty = _NO_OPEN_TASKS if self.snapshot.rows else _NO_TASKS
        pane.show(tasks.roots(self.snapshot, pane.inner_width, self._chosen))
        count = len(self._chosen)
        if count:
            pane.say(f"{count} selected, enter starts {'it' if count == 1 else 'them'}", "focus")
        else:
            pane.say("enter starts, space selects" if self.snapshot.roots else "")

    def _draw_settings(self) -> None:
        pane, defaults = self.pane("settings"), self.read_defaults()
        if wrong := defaults.get(run_settings.WRONG):
            pane.show(wrapped(wrong, pane.inner_width, "bad"))
            return
        pane.show(run_settings.rows(defaults, self.gt.run_choices))
        pane.say("changed for the next run" if self.gt.run_choices else "")

    def _look_into_inbox(self) -> None:
        """Asks git what the work in the inbox changes, again when the inbox is another, or a branch moved or was merged."""
        entries = tuple((one.standing.task, one.review) for one in self.snapshot.inbox)
        closed = sum(not row.is_open for row in self.snapshot.rows)
        state = (entries, closed, self.snapshot.work_branches)
        if state != self._looked_at:
            self._looked_at = state
            waiting = {task.id for task, _ in entries}
            self._looked = {one: looked for one, looked in self._looked.items() if one in waiting}
            if entries:
                first = self.snapshot.inbox[:_FIRST]
                self.look_up(partial(verdicts.look_into, entries=first), self._take_looked)
        elif self.snapshot.number != self._seen_at:
            self._look_again()

    def _take_looked(self, found: Mapping[str, Looked]) -> None:
        self._looked = found
        self._look_again()
        self._draw_preview()
        self._look_into_entry()

    def _look_into_entry(self) -> None:
        """Looks into the entry under the cursor, unless all is known of it."""
        entry = self._entry_in("inbox")
        if not isinstance(entry, Asked):
            return
        looked = self._looked.get(entry.standing.task.id)
        if looked is None or not looked.is_whole:
            self.look_up(partial(verdicts.look_into, entries=(entry,)), self._take_entry)

    def _take_entry(self, found: Mapping[str, Looked]) -> None:
        self._looked = {**self._looked, **found}
        self._draw_preview()

    def _look_again(self) -> None:
        """Reads what people wrote of these tasks, which is no part of a row."""
        self._seen_at = self.snapshot.number
        if self._looked:
            from gitticks.actions.verdict import look_at

            ids = list(self._looked)
            self.look_up(lambda context: {one: look_at(context, TaskId(one)) for one in ids}, self._take_seen)

    def _take_seen(self, found: Mapping[str, Seen]) -> None:
        read = {one: looked.with_told(found.get(one, looked.seen)) for one, looked in self._looked.items()}
        self._looked = {one: looked for one, looked in read.items() if looked is not None}
        self._draw_preview()
        if len(self._looked) < len(read):
            self._look_into_entry()

    def _entry_in(self, pane: str) -> inbox.Entry | None:
        """Returns what waits for a person and is under the cursor of a pane."""
        return inbox.entries(self.snapshot).get(self.pane(pane).key or "")

    @property
    def labels(self) -> Mapping[str, str]:
        has_inbox = self.focused is self.pane("inbox")
        if has_inbox and self.pane("inbox").key is None:
            return dict.fromkeys(("enter", "y", "n"), "")
        entry = self._entry_in("inbox" if has_inbox else "roots")
        if isinstance(entry, Question):
            return {"y": "allow once", "n": "deny"}
        if has_inbox and isinstance(entry, QueuedMerge | BrokenFile):
            return {"enter": "merge" if isinstance(entry, QueuedMerge) else "edit", "y": "", "n": ""}
        return dict(zip("yn", answers(entry.standing.task), strict=True)) if isinstance(entry, Asked) else {}

    def _draw_preview(self) -> None:
        """Shows what the entry under the cursor is about, so that most can be answered from here; else an epic's tasks."""
        self.query(KeyBar).refresh()
        pane = self.pane("preview")
        pane.title, rows = self._preview(pane.inner_width)
        pane.show(rows)

    def _preview(self, width: int) -> inbox.Preview:
        now, row, entry = self.gt.now, self.snapshot.find(self._root), self._entry_in("inbox")
        if isinstance(entry, Question):
            return inbox.permission_preview(entry, now, width)
        if isinstance(entry, QueuedMerge):
            return f"{entry.task}  merge waits", wrapped(entry.reason, width)
        if not self.snapshot.waiting and row is not None and self.snapshot.is_epic(row):
            below = self.snapshot.tasks_of(row.id)
            return f"{row.id}  tasks", tasks.listed(self.snapshot, below, width)
        if isinstance(entry, Asked):
            looked = self._looked.get(entry.standing.task.id)
            changes, handoff = (looked.changes, looked.handoff) if looked else (None, "")
            return inbox.preview(entry, changes, handoff, now, width)
        return ("", []) if entry is None else (entry.path, wrapped(entry.message, width))

    def on_lines_moved(self, event: Lines.Moved) -> None:
        if event.lines.id in ("inbox", "roots") and self.is_open:
            self._draw_preview()
            if event.lines.id == "inbox":
                self._look_into_entry()

    def on_lines_chosen(self, event: Lines.Chosen) -> None:
        entry = self._entry_in("inbox")
        if event.lines.id == "roots":
            self._ask_or_start(sorted(self._chosen) or [event.key])
        elif event.lines.id == "settings":
            self._change(event.key)
        elif isinstance(entry, Question):
            self.gt.go("permissions")
        elif isinstance(entry, QueuedMerge):
            self.gt.say(f"merging {entry.task}")
            self.gt.wait_for(partial(approving.merge, task_id=entry.task), task=f"merge {entry.task}")
        elif isinstance(entry, BrokenFile):
            self._show_broken(entry)
        elif entry is not None:
            verdicts.answer(self, entry, self._looked.get(entry.standing.task.id))

    def _show_broken(self, broken: BrokenFile) -> None:
        if broken.task_id is not None:
            edit_task(self, broken.task_id)
        elif broken.path.startswith(f"{BOARD_FOLDER}/"):
            edit_on_board(self, broken.path)
        else:
            self.gt.refuse(f"{broken.path}: {broken.message}", "`gt doctor` says how to fix it")

    def action_approve(self, always: bool = False) -> None:
        """Approves the entry of the inbox, allows what an agent asks, or answers where only words will do."""
        self._decide(is_yes=True, always=always)

    def action_reject(self, always: bool = False) -> None:
        """Sends the entry's work back, cancels what was asked, or denies what an agent asks for."""
        self._decide(is_yes=False, always=always)

    def _decide(self, *, is_yes: bool, always: bool) -> None:
        """Decides on what is under the cursor; `always` is for what an agent asks alone."""
        pane = self.pane("inbox")
        has_inbox = self.focused is pane
        asked = self._entry_in("inbox" if has_inbox else "roots")
        if isinstance(asked, Question):
            verdicts.answer_permission(self, pane, asked.number, allows=is_yes, always=always)
            return
        if always:
            return
        if not has_inbox:
            if asked is None:
                on = self._root or "anything here"
                self.gt.say(f"no verdict on {on} is wanted; i goes to the inbox")
                return
            pane.go_to(self._root or "")
        if not isinstance(asked, Asked):
            self.action_nothing()
            return
        task_id = asked.standing.task.id
        looked, is_judged = self._looked.get(task_id), verdicts.takes_verdict(asked)
        if verdicts.can_refuse(asked) and self.gt.unsent.on(task_id):
            self.gt.go("review", task_id)
            self.gt.say("your comments on it are not sent yet: a verdict given here sends them", warns=True)
        elif not verdicts.can_refuse(asked) or (is_yes and not is_judged):
            verdicts.answer(self, asked, looked)
        elif looked is None or (is_yes and not looked.is_whole):
            self.gt.go("review", task_id)
        else:
            ask = verdicts.ask_yes if is_yes else verdicts.ask_no
            ask(self, verdicts.judged_in(asked, looked))

    def _ask_or_start(self, ids: list[str]) -> None:
        """Starts a few at once; more than that only after saying how many tasks there are to work on."""
        if len(ids) <= A_FEW:
            self._start(ids)
            return
        snapshot, what = self.snapshot, in_words(ids)
        below = {row.id for one in ids for row in snapshot.tasks_of(one) if row.is_open and not row.is_epic}
        title = f"Add {what} to the run?" if snapshot.is_run_alive else f"Start {what}?"
        says = f"Agents work on {count_of(len(below), 'open task')}, each when it is ready."
        rows = [row for row in snapshot.roots if row.id in ids]
        ask_to_start(self.gt, title, says, rows, lambda: self._start(ids))

    def _start(self, ids: list[str]) -> None:
        def started(words: str) -> str:
            self._chosen.clear()
            self.redraw()
            if words.startswith("started") and self.is_active:  # a person who has gone elsewhere stays there
                self.gt.go("run", ids[0] if len(ids) == 1 else None)
            return words

        self.gt.say(f"starting {in_words(ids)}")
        start(self.gt, ids, started)

    def _change(self, flag: str) -> None:
        setting = run_settings.BY_FLAG[flag]
        if setting.choices:
            self.gt.run_choices = run_settings.after(flag, self.gt.run_choices)
            self._draw_settings()
            return
        if flag == run_settings.AGENT:
            self.look_up(run_settings.agents_here, self._choose_agent)
            return

        self._ask_for(setting, self.gt.run_choices.get(flag, ""))

    def _ask_for(self, setting: run_settings.RunSetting, text: str, refused: str | None = None) -> None:
        """Asks for a value, again with what was `refused` until it is one."""

        def chosen(text: str) -> None:
            value = run_settings.taken(setting.flag, text) if text else ""
            if value is None:
                self._ask_for(setting, text, refused=text)
            else:
                self._set(setting.flag, value)

        rows = [line(setting.ask), line(("for the next run; empty uses the repository's setting", "muted"))]
        if refused is not None:
            rows.append(line((f"{refused} is not {setting.takes}", "bad")))
        dialog = Dialog(setting.label, rows, ask=setting.takes, do="set", text=text, may_be_empty=True)
        self.gt.ask(dialog, chosen)

    def _choose_agent(self, names: tuple[str, ...]) -> None:
        if not self.is_active:
            return
        default = (self.read_defaults().get(run_settings.AGENT, ""), "muted")
        rows = [
            line("by settings", right=[default], key=_BY_SETTINGS),
            *(line(one, key=one) for one in names),
        ]

        def chosen(name: str) -> None:
            self._set(run_settings.AGENT, "" if name == _BY_SETTINGS else name)

        at = self.gt.run_choices.get(run_settings.AGENT, _BY_SETTINGS)
        self.gt.ask(Choice("Agent for the next run", rows, do="set", at=at), chosen)

    def _set(self, flag: str, text: str) -> None:
        rest = {name: value for name, value in self.gt.run_choices.items() if name != flag}
        self.gt.run_choices = {**rest, flag: text} if text else rest
        self._draw_settings()

    @property
    def _root(self) -> str | None:
        return self.pane("roots").key

    @property
    def about(self) -> str | None:
        if self.focused is not self.pane("inbox") or not self.snapshot.waiting:
            return self._root
        entry = self._entry_in("inbox")
        if isinstance(entry, Asked):
            return entry.standing.task.id
        return entry.task if isinstance(entry, Question | QueuedMerge) else None

    def action_edit(self) -> None:
        entry = self._entry_in("inbox")
        if self.focused is self.pane("inbox") and isinstance(entry, BrokenFile):
            self._show_broken(entry)
        elif (task := self.about) is not None:
            edit_task(self, task)

    def action_select(self) -> None:
        if self.focused is not self.pane("roots"):
            self.action_nothing()
        elif (key := self._root) is not None:
            self._chosen ^= {key}
            self._draw_roots()

    def action_select_all(self) -> None:
        if self.focused is not self.pane("roots"):
            self.action_nothing()
            return
        every: set[str] = {row.id for row in self.snapshot.roots}
        if not every:
            return  # what the pane says instead stays
        self._chosen = set() if self._chosen == every else every
        self._draw_roots()

    def action_nothing(self) -> None:
        """Says of an empty inbox that nothing in it can be answered."""
        if self.focused is self.pane("inbox") and self.pane("inbox").key is None:
            self.gt.say("nothing is waiting for an answer")

    def action_settings(self) -> None:
        self.set_focus(
            self.pane("settings")
        )  # `focus()` acts late: keys typed ahead would go to the old pane

    def action_new_task(self) -> None:
        row = self.snapshot.find(self._root)
        ask_for_task(
            self, row if row is not None and row.is_epic else None, lambda new: f"{new.id}  {new.title}"
        )
