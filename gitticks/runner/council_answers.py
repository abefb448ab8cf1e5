"""A council's answers, kept in the clone until complete, so that a killed run does not ask again."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path

from gitticks.agents.base import AgentReport
from gitticks.model.ids import TaskId
from gitticks.model.task import Ending, Usage
from gitticks.safe_read import read_plain_file

_FOLDER = "council"


class KeptAnswers:
    """The answers about one state of a task's work, `end_sha`; those about another one count no more.

    `own_dir` is `<common git dir>/gitticks`.
    """

    def __init__(self, own_dir: Path, task_id: TaskId, end_sha: str | None) -> None:
        self._folder = own_dir / _FOLDER / task_id
        self._end_sha = end_sha

    def find(self, reviewer: str) -> AgentReport | None:
        """Returns the kept result of a reviewer's session; None if there is none or it cannot be read."""
        try:
            body = json.loads(read_plain_file(self._folder / f"{reviewer}.json"))
            if body["end_sha"] != self._end_sha:
                return None
            cost, usage = body["cost"], body["usage"]
            return AgentReport(
                Ending.CLEAN,
                messages=(str(body["text"]),),
                usage=Usage(tokens_in=int(usage[0]), tokens_out=int(usage[1]), seconds=float(usage[2])),
                cost=None if cost is None else float(cost),
                model=body["model"],
            )
        except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError):
            return None

    def keep(self, reviewer: str, text: str, report: AgentReport) -> None:
        """Keeps an answer with what it took; where nothing can be written it is asked for again."""
        usage = report.usage
        body = {
            "end_sha": self._end_sha,
            "text": text,
            "usage": [usage.tokens_in, usage.tokens_out, usage.seconds],
            "cost": report.cost,
            "model": report.model,
        }
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            aside = self._folder / f"{reviewer}.new"
            aside.write_text(json.dumps(body), encoding="utf-8")
            aside.replace(self._folder / f"{reviewer}.json")

    def forget(self) -> None:
        """Drops the answers, since they were counted."""
        shutil.rmtree(self._folder, ignore_errors=True)
