"""GitHub, by `gh api`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from gitticks.forge.base import Forge, name_of, text_of, time_of
from gitticks.model.pull_request import Check, Comment, PullRequest, PullState

_HAVE_A_SAY = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
"""Whoever else may comment on a public project could tell an agent what to do."""
_RED = frozenset({"failure", "timed_out", "action_required", "startup_failure", "error"})
_APPROVED, _REFUSED = "APPROVED", "CHANGES_REQUESTED"


class GitHub(Forge):
    """A project on github.com, or on a GitHub of a company's own."""

    program = "gh"
    name = "GitHub"
    link = "html_url"
    folder = "pull"

    @property
    def _path(self) -> str:
        return f"repos/{self.project.path}"

    def find(self, branch: str) -> str | None:
        """Returns the address of the open pull request of a branch of this project."""
        owner = self.project.path.partition("/")[0]
        asked = f"{self._path}/pulls?state=open&head={quote(owner)}:{quote(branch, safe='')}"
        return self.first_on(branch, self.pages(asked), "head", "ref")

    def open(self, branch: str, base: str, title: str, text: str) -> str:
        """Opens a pull request."""
        made = self.item(f"{self._path}/pulls", {"head": branch, "base": base, "title": title, "body": text})
        return self.address(made)

    def look(self, url: str) -> PullRequest:
        """Returns the state of a pull request."""
        pull = f"{self._path}/pulls/{self.number(url)}"
        seen = self.item(pull)
        head = text_of(seen, "head", "sha")
        state = PullState.CLOSED if text_of(seen, "state") == "closed" else PullState.OPEN
        state = PullState.MERGED if seen.get("merged") is True else state
        reviews = [one for one in self.pages(f"{pull}/reviews") if _has_a_say(one)]
        last = {
            name_of(one, "user", "login"): one
            for one in reviews
            if text_of(one, "state") in (_APPROVED, _REFUSED, "DISMISSED")
        }
        return PullRequest(
            url,
            state,
            head,
            text_of(seen, "base", "ref"),
            checks=tuple(self._checks(head)) if state is PullState.OPEN else (),
            comments=tuple(sorted(self._comments(pull, reviews), key=lambda one: (one.at, one.mark))),
            approved_by=tuple(
                name
                for name, one in last.items()
                if text_of(one, "state") == _APPROVED and text_of(one, "commit_id") == head
            ),
            refused_by=tuple(name for name, one in last.items() if text_of(one, "state") == _REFUSED),
            merged_as=text_of(seen, "merge_commit_sha") or None,
            merged_by=name_of(seen, "merged_by", "login"),
        )

    def read_log(self, check: Check) -> str:
        """Returns the log of a job of GitHub Actions; other checks have none that can be read."""
        job = check.url.rpartition("/job/")[2]
        return self.text(f"{self._path}/actions/jobs/{job}/logs") if job.isdigit() else ""

    def _comments(self, pull: str, reviews: list[dict[str, Any]]) -> Iterator[Comment]:
        states = {one.get("id"): text_of(one, "state") for one in reviews}
        lines = [one for one in self.pages(f"{pull}/comments") if _has_a_say(one)]
        commented = {one.get("pull_request_review_id") for one in lines}
        for one in reviews:
            state = text_of(one, "state")
            is_empty = not text_of(one, "body").strip()
            if state not in ("PENDING", "DISMISSED") and not (
                is_empty and (state != _REFUSED or one.get("id") in commented)
            ):
                yield from _comment("review", one, is_request=state != _APPROVED, empty="Changes requested.")
        for one in lines:
            number = one.get("line") or one.get("original_line")
            place = f"{text_of(one, 'path')}:{number}" if number else text_of(one, "path")
            is_request = states.get(one.get("pull_request_review_id")) != _APPROVED
            yield from _comment("line", one, is_request=is_request, place=place)
        talk = pull.replace("/pulls/", "/issues/")
        for one in self.pages(f"{talk}/comments"):
            if _has_a_say(one):
                yield from _comment("talk", one, is_request=False)

    def _checks(self, head: str) -> Iterator[Check]:
        commit = f"{self._path}/commits/{quote(head)}"
        for one in self.pages(f"{commit}/check-runs", "check_runs"):
            yield Check(
                text_of(one, "name"),
                is_running=text_of(one, "status") != "completed",
                is_red=text_of(one, "conclusion") in _RED,
                url=text_of(one, "html_url") or text_of(one, "details_url"),
                log="\n\n".join(
                    part for key in ("title", "summary", "text") if (part := text_of(one, "output", key))
                ),
            )
        for one in self.pages(f"{commit}/status", "statuses"):
            state = text_of(one, "state")
            yield Check(
                text_of(one, "context"),
                is_running=state == "pending",
                is_red=state in _RED,
                url=text_of(one, "target_url"),
                log=text_of(one, "description"),
            )


def _has_a_say(one: dict[str, Any]) -> bool:
    return text_of(one, "author_association") in _HAVE_A_SAY


def _comment(
    kind: str, one: dict[str, Any], *, is_request: bool, place: str = "", empty: str = ""
) -> Iterator[Comment]:
    at, text = time_of(one, "submitted_at", "created_at"), text_of(one, "body").strip() or empty
    if at is not None and text:
        mark = f"{kind}:{one.get('id')}"
        yield Comment(mark, name_of(one, "user", "login"), at, text, place, is_request)
