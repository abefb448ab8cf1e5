"""A forge to test with: a small GitHub and GitLab behind the real `gh`, or a recorded one, on a socket of this machine."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.support.repositories import git

PROJECT = "acme/shop"
LINE = "2020-11-23T10:00:{:02d}Z"

# What `gh api` and `glab api` do of all that they can: one request, the answer on stdout, errors as gh words them.
RECORDED = """#!{python} -IS
import os, socket, sys
words = sys.argv[1:]
assert words[:2] == ["api", "--hostname"], words
host, path, rest = words[2], words[3], words[4:]
if not os.environ.get("GH_TOKEN"):
    sys.exit("To get started with GitHub CLI, please run:  gh auth login")
body = sys.stdin.buffer.read() if "--input" in rest else b""
method = "POST" if "--method" in rest else "GET"
connection = socket.socket(socket.AF_UNIX)
connection.connect({socket!r})
head = f"{{method}} /{{path}} HTTP/1.0\\r\\nHost: {{host}}\\r\\nContent-Length: {{len(body)}}\\r\\n\\r\\n"
connection.sendall(head.encode() + body)
answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
head, _, data = answer.partition(b"\\r\\n\\r\\n")
status = int(head.split()[1])
sys.stdout.buffer.write(data)
sys.stdout.flush()
if status >= 400:
    import json
    try:
        said = json.loads(data).get("message")
    except ValueError:
        said = "invalid character"
    sys.exit(f"gh: {{said}} (HTTP {{status}})")
"""


@dataclass
class StandIn:
    """A forge's project; `asked` are the paths that were asked for, `fault` answers instead where it is set.

    `project` is what it is called now; it answers under each name that it had.
    """

    remote: Path
    socket: Path
    pulls: dict[int, dict[str, Any]] = field(default_factory=dict)
    lists: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    fault: Callable[[str], tuple[int, str] | None] = lambda _: None
    page_bound: int = 100
    project: str = PROJECT

    def head(self, number: int = 1) -> str:
        """Returns where the branch of a pull request stands in the remote."""
        return git("rev-parse", f"refs/heads/{self.pulls[number]['branch']}", at=self.remote)

    def answer(self, method: str, target: str, body: bytes) -> tuple[int, str]:
        """Returns a status and a body."""
        parts = urlsplit(target)
        path, query = parts.path.removeprefix("/api/v3").removeprefix("/"), parse_qs(parts.query)
        self.asked.append(f"{method} {unquote(path)}")
        broken = self.fault(path)
        if broken is not None:
            return broken
        found = (
            self._github(method, path, query, body)
            if path.startswith("repos/")
            else self._gitlab(method, path, query, body)
        )
        if found is None:
            return 404, '{"message": "Not Found"}'
        return 200, found if isinstance(found, str) else json.dumps(found)

    def _listed(self, name: str, query: dict[str, list[str]]) -> list[dict[str, Any]]:
        size, page = int(query["per_page"][0]), int(query.get("page", ["1"])[0])
        size = min(size, self.page_bound)
        return self.lists.get(name, [])[(page - 1) * size : page * size]

    def _github(self, method: str, path: str, query: dict[str, list[str]], body: bytes) -> Any:
        rest = re.sub("^repos/[^/]+/[^/]+/", "", path)
        if rest == "pulls" and method == "POST":
            return self._shown(self._open(json.loads(body), "head", "base", "body"))
        if rest == "pulls":
            branch = query["head"][0].partition(":")[2]
            return [
                self._shown(one)
                for one in self.pulls.values()
                if (one["branch"], one["state"]) == (branch, "open")
            ]
        if found := re.fullmatch(r"pulls/(\d+)", rest):
            return self._shown(self.pulls[int(found[1])])
        if found := re.fullmatch(r"(pulls|issues)/1/(reviews|comments)", rest):
            return self._listed("talk" if found[1] == "issues" else found[2], query)
        if re.fullmatch(r"commits/\w+/check-runs", rest):
            return {"total_count": 1, "check_runs": self._listed("checks", query)}
        if re.fullmatch(r"commits/\w+/status", rest):
            return {"state": "success", "statuses": self._listed("statuses", query)}
        return self.texts.get(rest)

    def _open(self, made: dict[str, str], branch: str, base: str, text: str) -> dict[str, Any]:
        number = len(self.pulls) + 1
        self.pulls[number] = {
            "number": number, "branch": made[branch], "base": made[base], "title": made["title"],
            "text": made[text], "state": "open", "sha": None, "by": None,
        }  # fmt: skip
        return self.pulls[number]

    def _shown(self, pull: dict[str, Any]) -> dict[str, Any]:
        is_merged = pull["state"] == "merged"
        return {
            "number": pull["number"],
            "html_url": f"https://github.com/{self.project}/pull/{pull['number']}",
            "state": "open" if pull["state"] == "open" else "closed",
            "merged": is_merged,
            "merge_commit_sha": pull["sha"],
            "merged_by": {"login": pull["by"]} if is_merged else None,
            "head": {"ref": pull["branch"], "sha": pull.get("head") or self.head(pull["number"])},
            "base": {"ref": pull["base"]},
        }

    def _gitlab(self, method: str, path: str, query: dict[str, list[str]], body: bytes) -> Any:
        rest = unquote(path).removeprefix(f"projects/{PROJECT}/")
        if rest == "merge_requests" and method == "POST":
            return self._merge_request(
                self._open(json.loads(body), "source_branch", "target_branch", "description")
            )
        if rest == "merge_requests":
            return [
                self._merge_request(one)
                for one in self.pulls.values()
                if (one["branch"], one["state"]) == (query["source_branch"][0], "open")
            ]
        if rest == "merge_requests/1":
            return self._merge_request(self.pulls[1])
        if rest == "merge_requests/1/approvals":
            return {"approved_by": self.lists.get("approvals", [])}
        if found := re.fullmatch(r"merge_requests/1/(notes|versions)", rest):
            return self._listed(found[1], query)
        if rest == "pipelines/5/jobs":
            return self._listed("jobs", query)
        if found := re.fullmatch(r"members/all/(\d+)", rest):
            return {"access_level": 40} if int(found[1]) < 10 else None
        return self.texts.get(rest)

    def _merge_request(self, pull: dict[str, Any]) -> dict[str, Any]:
        head = pull.get("head") or self.head(pull["number"])
        return {
            "iid": pull["number"],
            "web_url": f"https://gitlab.com/{PROJECT}/-/merge_requests/{pull['number']}",
            "state": "opened" if pull["state"] == "open" else pull["state"],
            "sha": head,
            "source_branch": pull["branch"],
            "source_project_id": pull.get("fork", 1),
            "target_branch": pull["base"],
            "target_project_id": 1,
            "merge_commit_sha": pull["sha"],
            "squash_commit_sha": None,
            "merge_user": {"username": pull["by"]},
            "head_pipeline": {"id": 5, "sha": head, **pull.get("pipeline", {})},
        }

    # What people do there

    def merge(self, how: str = "merge", number: int = 1, by: str = "grace") -> str:
        """Merges a pull request as the forge would, in the remote; returns the commit that the base got."""
        pull, clone = self.pulls[number], self.remote.parent / f"forge-{number}"
        pull["head"] = self.head(number)
        git("clone", "-q", str(self.remote), str(clone), at=self.remote.parent)
        branch = f"origin/{pull['branch']}"
        if how == "merge":
            git("merge", "-q", "--no-ff", "-m", f"Merge pull request #{number}", branch, at=clone)
        elif how == "squash":
            git("merge", "-q", "--squash", branch, at=clone)
            git("commit", "-qm", f"{pull['title']} (#{number})", at=clone)
        else:
            git("cherry-pick", f"origin/{pull['base']}..{branch}", at=clone)
        git("push", "-q", "origin", "HEAD", at=clone)
        pull.update(state="merged", sha=git("rev-parse", "HEAD", at=clone), by=by)
        return str(pull["sha"])

    def review(
        self, state: str, text: str = "", *, by: str = "grace", commit: str | None = None, say: str = "MEMBER"
    ) -> int:
        """Adds a review and returns its number."""
        reviews = self.lists.setdefault("reviews", [])
        number = len(reviews) + 1
        reviews.append({
            "id": number, "user": {"login": by}, "state": state, "body": text, "author_association": say,
            "commit_id": commit or self.head(), "submitted_at": LINE.format(number),
        })  # fmt: skip
        return number

    def comment(
        self, text: str, *, review: int | None = None, by: str = "grace", say: str = "MEMBER"
    ) -> None:
        """Adds a comment, on a line if it belongs to a review."""
        comments = self.lists.setdefault("talk" if review is None else "comments", [])
        place = {} if review is None else {"path": "login.txt", "line": 1, "pull_request_review_id": review}
        comments.append({
            "id": 100 + len(comments), "user": {"login": by}, "body": text, "author_association": say,
            "created_at": LINE.format(len(comments) % 60), **place,
        })  # fmt: skip

    def check(self, name: str, conclusion: str | None, **more: Any) -> None:
        """Adds or replaces a check; without a conclusion it still runs."""
        checks = [one for one in self.lists.get("checks", []) if one["name"] != name]
        status = "completed" if conclusion else "in_progress"
        self.lists["checks"] = [*checks, {"name": name, "status": status, "conclusion": conclusion, **more}]


class _Server(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True
    forge: StandIn


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def address_string(self) -> str:
        return "here"

    def log_message(self, *_: object) -> None:
        pass

    def _serve(self) -> None:
        body = self._body()
        status, text = self.server.forge.answer(self.command, self.path, body)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    do_GET = do_POST = _serve  # noqa: N815 (named by the library)


@contextmanager
def serving(folder: Path, remote: Path) -> Iterator[StandIn]:
    """Serves a forge for a bare remote while the block runs."""
    forge = StandIn(remote, folder / "forge.sock")
    server = _Server(str(forge.socket), _Handler)
    server.forge = forge
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield forge
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def install_recorded(folder: Path, socket: Path) -> Path:
    """Writes the recorded `gh` and `glab`, and returns their folder."""
    folder.mkdir()
    for name in ("gh", "glab"):
        program = folder / name
        program.write_text(RECORDED.format(python=sys.executable, socket=str(socket)))
        program.chmod(0o755)
    return folder


def configure_real(folder: Path, socket: Path) -> dict[str, str]:
    """Returns the environment in which the `gh` of this machine speaks to the socket."""
    assert shutil.which("gh")
    folder.mkdir()
    (folder / "config.yml").write_text(f"http_unix_socket: {socket}\n")
    return {"GH_CONFIG_DIR": str(folder), "PATH": os.environ["PATH"]}
