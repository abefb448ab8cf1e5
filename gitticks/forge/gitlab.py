"""GitLab, by `glab api`; its merge requests are our pull requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from gitticks.agents.stream import mapping_at, objects_at
from gitticks.forge.base import Forge, NotThereError, name_of, text_of, time_of
from gitticks.model.pull_request import Check, Comment, PullRequest, PullState

_DEVELOPER = 30
"""The least access with which somebody may push, and so may tell an agent what to do."""
_STATES = {"merged": PullState.MERGED, "closed": PullState.CLOSED}
_APPROVED = "approved this merge request"
_MERGED_RESULTS = "refs/merge-requests/"
_ENDED = frozenset({"success", "failed", "canceled", "skipped", "manual"})


class GitLab(Forge):
    """A project on gitlab.com, or on a GitLab of one's own."""

    program = "glab"
    name = "GitLab"
    pull = "merge request"
    link = "web_url"
    folder = "-/merge_requests"

    @property
    def _path(self) -> str:
        return f"projects/{quote(self.project.path, safe='')}"

    def find(self, branch: str) -> str | None:
        """Returns the address of the open merge request of a branch of this project."""
        asked = f"{self._path}/merge_requests?state=opened&source_branch={quote(branch, safe='')}"
        # The answer has those of forks as well, whose branches may have that name.
        own = [
            one for one in self.pages(asked) if one.get("source_project_id") == one.get("target_project_id")
        ]
        return self.first_on(branch, own, "source_branch")

    def open(self, branch: str, base: str, title: str, text: str) -> str:
        """Opens a merge request."""
        body = {"source_branch": branch, "target_branch": base, "title": title, "description": text}
        return self.address(self.item(f"{self._path}/merge_requests", body))

    def look(self, url: str) -> PullRequest:
        """Returns the state of a merge request."""
        path = f"{self._path}/merge_requests/{self.number(url)}"
        seen = self.item(path)
        state = _STATES.get(text_of(seen, "state"), PullState.OPEN)
        head = text_of(seen, "sha")
        approvals = objects_at(self.item(f"{path}/approvals"), "approved_by")
        notes = self.pages(f"{path}/notes?sort=asc")
        merged_as = next(
            filter(None, (text_of(seen, key) for key in ("merge_commit_sha", "squash_commit_sha"))), head
        )
        merger = "merge_user" if isinstance(seen.get("merge_user"), dict) else "merged_by"
        return PullRequest(
            url,
            state,
            head,
            text_of(seen, "target_branch"),
            checks=tuple(self._checks(seen.get("head_pipeline"), head)) if state is PullState.OPEN else (),
            comments=tuple(sorted(self._comments(notes), key=lambda one: (one.at, one.mark))),
            approved_by=tuple(self._approvers(path, head, approvals, notes)) if approvals else (),
            merged_as=merged_as if state is PullState.MERGED else None,
            merged_by=name_of(seen, merger, "username"),
        )

    def read_log(self, check: Check) -> str:
        """Returns the trace of a job."""
        job = check.url.rpartition("/jobs/")[2]
        return self.text(f"{self._path}/jobs/{job}/trace") if job.isdigit() else ""

    def _checks(self, pipeline: Any, head: str) -> Iterator[Check]:
        if not isinstance(pipeline, dict) or not self._is_of(pipeline, head):
            return
        for one in self.pages(f"{self._path}/pipelines/{pipeline.get('id')}/jobs"):
            status = text_of(one, "status")
            yield Check(
                text_of(one, "name"),
                is_running=status not in _ENDED,
                is_red=status == "failed" and one.get("allow_failure") is not True,
                url=text_of(one, "web_url"),
            )

    def _is_of(self, pipeline: Mapping[str, Any], head: str) -> bool:
        """True for a pipeline of the head, or of what merging it comes to, where the project tests that."""
        sha = text_of(pipeline, "sha")
        if sha == head or not text_of(pipeline, "ref").startswith(_MERGED_RESULTS):
            return sha == head
        try:
            parents = self.item(f"{self._path}/repository/commits/{quote(sha, safe='')}").get("parent_ids")
        except NotThereError:
            return False
        return isinstance(parents, list) and head in parents

    def _approvers(
        self, path: str, head: str, approvals: Iterable[Mapping[str, Any]], notes: Iterable[Mapping[str, Any]]
    ) -> Iterator[str]:
        """Yields who approved since the head was pushed: an approval names no commit, and stays when others come."""
        noted = {
            name_of(one, "author", "username"): time_of(one, "created_at")
            for one in notes
            if one.get("system") is True and text_of(one, "body").lower() == _APPROVED
        }
        pushed = None
        for version in self.pages(f"{path}/versions"):  # the newest first
            if text_of(version, "head_commit_sha") != head:
                break
            pushed = time_of(version, "created_at")
        for one in approvals:
            name = name_of(one, "user", "username")
            # Older servers tell the time in the note alone.
            at = time_of(one, "approved_at") or noted.get(name)
            if pushed is not None and at is not None and at > pushed:
                yield name

    def _comments(self, notes: Iterable[Mapping[str, Any]]) -> Iterator[Comment]:
        has_a_say: dict[object, bool] = {}
        for one in notes:
            at, text = time_of(one, "created_at"), text_of(one, "body").strip()
            user = mapping_at(one, "author").get("id")
            if one.get("system") is not False or at is None or not text or not isinstance(user, int):
                continue
            if user not in has_a_say:
                has_a_say[user] = self._has_a_say(user)
            if not has_a_say[user]:
                continue
            position = mapping_at(one, "position")
            line = position.get("new_line") or position.get("old_line")
            place = text_of(one, "position", "new_path")
            yield Comment(
                f"note:{one.get('id')}",
                name_of(one, "author", "username"),
                at,
                text,
                f"{place}:{line}" if place and line else place,
                is_request=one.get("resolvable") is True and one.get("resolved") is not True,
            )

    def _has_a_say(self, user: int) -> bool:
        try:
            level = self.item(f"{self._path}/members/all/{user}").get("access_level")
        except NotThereError:
            return False
        return isinstance(level, int) and level >= _DEVELOPER
