"""What every forge can do for us, and the one way to call its tool; its output is untrusted."""

from __future__ import annotations

import json
import re
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from gitticks.agents.base import Command, Ended, EndReason, Limits
from gitticks.agents.process import StopRequest, run_supervised
from gitticks.agents.stream import mapping_at, objects_at, parse_event, text_at
from gitticks.document.values import parse_time
from gitticks.errors import GitticksError
from gitticks.git.process import printable
from gitticks.model.pull_request import Check, PullRequest

LONGEST_SECONDS = 60.0
REST_SECONDS, LONG_REST_SECONDS = 30.0, 300.0
_MOST_BYTES = 16_000_000
_PAGE, _MOST_PAGES, _ROUND = 100, 50, 10
_LOG_LINES, _LOG_CHARACTERS = 60, 6_000
_QUIET = {
    "NO_COLOR": "1",
    "GH_PROMPT_DISABLED": "1",
    "GH_NO_UPDATE_NOTIFIER": "1",
    "GLAB_CHECK_UPDATE": "false",
}
_ADDRESS = re.compile(
    r"(?:[a-z+]+://(?:[^/@]*@)?(?P<host>[\w.-]+)(?::\d+)?/|(?:[^/@:]+@)?(?P<ssh_host>[\w.-]+):(?!/))"
    r"(?P<path>[\w.-]+(?:/[\w.-]+)+)/?"
)
_OVER_443 = {"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com"}
"""Hosts of ssh over the port of https, by the hosts that they stand for."""
_LIMITED = ("rate limit", "http 429", "abuse detection")
_NO_LOGIN = (
    "auth login", "http 401", "bad credentials", "unauthorized", "not logged in", "set the gh_token environment",
)  # fmt: skip


class ForgeError(GitticksError):
    """A forge did not do what it was asked; nothing is lost, and after `rest_seconds` it may be asked again."""

    rest_seconds = REST_SECONDS


class UnavailableError(ForgeError):
    """No request is answered: the program, the login or the network is missing, or the rate limit is reached."""


class SlowError(UnavailableError):
    """A request took too long."""


class NotThereError(ForgeError):
    """The forge has no such thing, or hides it."""


class Project(NamedTuple):
    """A project on a forge: `path` is `owner/name`, on GitLab with any number of groups before."""

    host: str
    path: str

    @classmethod
    def of_address(cls, address: str) -> Project | None:
        """Returns the project that a remote's address names; None for a folder, or what has no owner."""
        found = _ADDRESS.fullmatch(address)
        if found is None or (host := found["host"] or found["ssh_host"]).startswith("-"):
            return None
        path = found["path"].removesuffix(".git")
        return None if {".", ".."} & set(path.split("/")) else cls(_OVER_443.get(host, host), path)


class Forge(ABC):
    """One project on a forge, asked by the forge's own program.

    `program` is what is run, `name` what people call the forge, `pull` what it calls a pull request, which has its
    address under the key `link`, below `folder` in the project.
    """

    program: str
    name: str
    pull = "pull request"
    link: str
    folder: str

    def __init__(self, project: Project, environment: Mapping[str, str], stop: StopRequest) -> None:
        self.project = project
        self._stop = stop
        self._environment = {**environment, **_QUIET}

    @abstractmethod
    def find(self, branch: str) -> str | None:
        """Returns the address of the open pull request of a branch."""

    @abstractmethod
    def open(self, branch: str, base: str, title: str, text: str) -> str:
        """Opens a pull request and returns its address."""

    @abstractmethod
    def look(self, url: str) -> PullRequest:
        """Returns the state of a pull request; the logs of red checks are still to be read."""

    @abstractmethod
    def read_log(self, check: Check) -> str:
        """Returns what a red check printed."""

    def number_of(self, url: str) -> int | None:
        """Returns the number of a pull request of this project; None for any other address."""
        head, _, number = urlsplit(url).path.rpartition("/")
        is_ours = head.lower() == f"/{self.project.path}/{self.folder}".lower()
        return int(number) if is_ours and number.isascii() and number.isdigit() else None

    def address(self, made: Mapping[str, Any]) -> str:
        """Returns the address of a pull request that the forge tells of."""
        url = text_of(made, self.link)
        self.number(url)
        return url

    def first_on(self, branch: str, pulls: Iterable[Mapping[str, Any]], *keys: str) -> str | None:
        """Returns the address of the first pull request that is of this very branch, named by some keys."""
        return next((self.address(one) for one in pulls if text_of(one, *keys) == branch), None)

    def log_of(self, check: Check) -> str:
        """Returns the end of what a red check printed; what is known already where it cannot be read.

        Raises:
            UnavailableError: no request is answered now, so that it is to be read later.
        """
        try:
            text = self.read_log(check)
        except ForgeError as error:
            # A log that takes too long may do so each time.
            if isinstance(error, UnavailableError) and not isinstance(error, SlowError):
                raise
            text = ""
        lines = (text or check.log).strip().splitlines()[-_LOG_LINES:]
        return "\n".join(lines)[-_LOG_CHARACTERS:]

    def number(self, url: str) -> int:
        """Returns the number of a pull request."""
        found = self.number_of(url)
        if found is None:
            raise ForgeError(
                f"`{url[:100]}` is not a {self.pull} of {self.project.path} on {self.project.host}",
                hint="`git remote set-url` with the address of its project lets it be followed",
            )
        return found

    def pages(self, path: str, key: str | None = None) -> list[Any]:
        """Returns all items of a list that comes in pages; `key` is where an object has them."""
        found: list[Any] = []
        mark = "&" if "?" in path else "?"
        for page in range(1, _MOST_PAGES + 1):
            answer = self.ask(f"{path}{mark}per_page={_PAGE}&page={page}")
            items = answer.get(key) if key is not None and isinstance(answer, dict) else answer
            if not isinstance(items, list):
                raise self._nonsense(path, json.dumps(answer))
            found += [one for one in items if isinstance(one, dict)]
            # A server may have smaller pages than were asked for; those are of a round number of items.
            if not items or (len(items) < _PAGE and len(items) % _ROUND):
                return found
        raise ForgeError(
            f"{self.name} has more than {len(found):,} items, where a few hundred are usual",
            hint=self._again(path),
        )

    def item(self, path: str, body: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Returns one object; with a body it is made by that."""
        answer = self.ask(path, body)
        if not isinstance(answer, dict):
            raise self._nonsense(path, json.dumps(answer), body)
        return answer

    def ask(self, path: str, body: Mapping[str, str] | None = None) -> Any:
        """Returns the JSON that the forge answers to a path of its interface."""
        text = self.text(path, body)
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise self._nonsense(path, text, body) from None

    def text(self, path: str, body: Mapping[str, str] | None = None) -> str:
        """Returns what the forge's program prints."""
        program = shutil.which(self.program, path=self._environment.get("PATH"))
        if program is None:
            raise UnavailableError(
                f"`{self.program}` is not installed, and opening pull requests on {self.project.host} needs it",
                hint=f"install `{self.program}`, then `{self._login}`; `gt config merge.mode queue` works without it",
            )
        given = (
            ["--method", "POST", "--input", "-", "--header", "Content-Type: application/json"] if body else []
        )
        ended = run_supervised(
            Command(
                (program, "api", "--hostname", self.project.host, path, *given),
                Path("/"),
                self._environment,
                None if body is None else json.dumps(body).encode(),
            ),
            Limits(total_seconds=LONGEST_SECONDS, kept_bytes=_MOST_BYTES),
            stop=self._stop,
        )
        if ended.is_success:
            return ended.output
        if ended.reason is EndReason.EXITED:
            raise self._failure(ended, self._again(path, body))
        why = ended.problem or f"took longer than {LONGEST_SECONDS:.0f} s"
        kind = SlowError if ended.reason is EndReason.TIMED_OUT else UnavailableError
        raise kind(f"`{self.program}` did not answer: {printable(why)}", hint=self._again(path, body))

    @property
    def _login(self) -> str:
        return f"{self.program} auth login --hostname {self.project.host}"

    def _again(self, path: str, body: Mapping[str, str] | None = None) -> str | None:
        """Returns what shows an answer again; None for a request that makes something."""
        shows = f"`{self.program} api --hostname {self.project.host} '{path}'` shows the whole answer"
        return None if body else shows

    def _failure(self, ended: Ended, again: str | None) -> ForgeError:
        heading = ended.errors.strip()
        said = printable(f"{heading}{_reasons_of(ended.output)}" if heading else ended.output, 300)
        lower = f"{ended.errors}\n{ended.output}".lower()
        if any(sign in lower for sign in _LIMITED):
            error = UnavailableError(
                f"{self.name} says that its rate limit is reached; the next try is in {LONG_REST_SECONDS / 60:.0f} minutes: {said}",
                hint=f"`{self.program} api --hostname {self.project.host} rate_limit` shows until when",
            )
            error.rest_seconds = LONG_REST_SECONDS
            return error
        if any(sign in lower for sign in _NO_LOGIN):
            return UnavailableError(f"`{self.program}` is not logged in: {said}", hint=f"`{self._login}`")
        if "http 404" in lower:
            return NotThereError(
                f"{self.name} has no such project or pull request, or hides it from you: {said}",
                hint=again,
            )
        words = said or "it says nothing about why"
        kind = ForgeError if "http " in lower else UnavailableError  # without a status nothing answered
        return kind(f"`{self.program}` failed with exit code {ended.exit_code}: {words}", hint=again)

    def _nonsense(self, path: str, text: str, body: Mapping[str, str] | None = None) -> ForgeError:
        said = printable(text, 120) or "nothing"
        return ForgeError(
            f"`{self.program}` printed something that is not an answer from {self.name}: {said}",
            hint=self._again(path, body),
        )


def _reasons_of(output: str) -> str:
    """Returns what the body of a refusal adds to the heading, which is all that `gh` prints of it as an error."""
    reasons = [
        text_of(one, "message") or f"{text_of(one, 'field')} {text_of(one, 'code')}"
        for one in objects_at(parse_event(output.strip()) or {}, "errors")
    ]
    return f": {'; '.join(reasons)}" if reasons else ""


def text_of(item: Mapping[str, Any], *keys: str) -> str:
    """Returns the text that is below some keys; empty where there is none."""
    return text_at(mapping_at(item, *keys[:-1]), keys[-1])


def name_of(item: Mapping[str, Any], *keys: str) -> str:
    """Returns a user's name, of which nothing but letters that names have is left."""
    return re.sub(r"[^\w.@+-]", "", text_of(item, *keys))[:60] or "unknown"


def time_of(item: Mapping[str, Any], *keys: str) -> datetime | None:
    """Returns the first time that is under one of some keys."""
    return next(filter(None, (parse_time(text_of(item, key)) for key in keys)), None)
