from __future__ import annotations

import ast
import os
import re
import stat
from pathlib import Path

import pytest

from gitticks.git import process
from gitticks.git.process import GitError, git_version, printable, run_git
from tests.support.repositories import blob_id, clone, commit_file, git, make_repository
from tests.support.waiting import LONGEST_SECONDS, until

PACKAGE = Path(process.__file__).resolve().parents[1]


def test_versions_have_numbers() -> None:
    found = process.versions_of_git()
    assert list(found) == ["git", "pygit2", "libgit2"]
    assert all(re.match(r"\d+\.\d+", version) for version in found.values())


def test_an_old_git_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    process.git_version.cache_clear()
    monkeypatch.setattr(process, "OLDEST_GIT", (99, 0))
    with pytest.raises(GitError, match="is too old"):
        process.git_version()


def test_it_returns_what_git_printed(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "r")
    result = run_git(["rev-parse", "HEAD"], repository_dir=repository / ".git")
    assert result.text == git("rev-parse", "HEAD", at=repository)
    assert result.code == 0


def test_it_hands_over_input_and_extra_variables(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "r")
    made = run_git(["hash-object", "--stdin"], repository_dir=repository / ".git", input=b"hello\n")
    assert made.text == "ce013625030ba8dba906f756967f9e9ca394464a"
    seen = run_git(
        ["var", "GIT_AUTHOR_IDENT"], directory=repository, extra_environment={"GIT_AUTHOR_NAME": "Eve"}
    )
    assert seen.text.startswith("Eve <")


def test_variables_that_hooks_set_never_choose_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = make_repository(tmp_path / "here")
    other = make_repository(tmp_path / "other", commits=2)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "nowhere"))
    assert run_git(["rev-parse", "--show-toplevel"], directory=here).text == str(here)


def test_the_persons_own_configuration_still_counts(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "r")
    assert run_git(["config", "user.name"], directory=repository).text == "Ada Lovelace"


def test_a_failure_carries_gits_own_words(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "r")
    with pytest.raises(
        GitError, match=r"`git rev-parse --verify no-such` failed: .*single revision"
    ) as caught:
        run_git(["rev-parse", "--verify", "no-such"], directory=repository)
    assert caught.value.code == 128
    unchecked = run_git(["rev-parse", "--verify", "no-such"], directory=repository, check=False)
    assert unchecked.code == 128
    assert "single revision" in unchecked.stderr


def test_a_failure_is_one_printable_short_line(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "r")
    with pytest.raises(GitError) as caught:
        run_git(["cat-file", "-t", "\x1b[31mred\n" + "x" * 5000], directory=repository)
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 800


def test_hooks_run_only_when_trusted(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "r")
    marker = tmp_path / "ran"
    hook = repository / ".git" / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch '{marker}'\n")
    hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
    run_git(["update-ref", "refs/heads/a", "HEAD"], directory=repository)
    assert not marker.exists()
    run_git(["update-ref", "refs/heads/b", "HEAD"], directory=repository, trusted=True)
    assert marker.exists()


def test_a_folder_on_path_that_cannot_be_looked_into_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is refused a name of 300 letters for who they are, unlike `/root/bin`, so this fails for root as well."""
    monkeypatch.setenv("PATH", f"/{'x' * 300}{os.pathsep}{os.environ['PATH']}")
    assert run_git(["version"]).text.startswith("git version")


def test_the_file_system_monitor_does_not_run(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "r")
    marker = tmp_path / "ran"
    monitor = tmp_path / "monitor"
    monitor.write_text(f"#!/bin/sh\ntouch '{marker}'\n")
    monitor.chmod(0o755)
    git("config", "core.fsmonitor", str(monitor), at=repository)
    run_git(["status", "--porcelain"], directory=repository)
    assert not marker.exists()


def test_a_transport_that_runs_programs_is_refused(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "r")
    git("config", "protocol.ext.allow", "always", at=repository)
    marker = tmp_path / "ran"
    with pytest.raises(GitError, match="not allowed"):
        run_git(["ls-remote", f"ext::touch {marker}"], directory=repository)
    assert not marker.exists()


def test_files_are_a_transport(tmp_path: Path) -> None:
    source = make_repository(tmp_path / "source")
    copy = clone(source, tmp_path / "copy")
    assert "refs/heads/main" in run_git(["ls-remote", "origin"], directory=copy).text


def test_nothing_is_fetched_lazily(tmp_path: Path) -> None:
    source = make_repository(tmp_path / "source")
    git("config", "uploadpack.allowFilter", "true", at=source)
    copy = clone(source, tmp_path / "copy", "--filter=blob:none", "--no-checkout")
    blob = git("rev-parse", "HEAD:README.md", at=source)
    with pytest.raises(GitError):
        run_git(["cat-file", "blob", blob], directory=copy)
    assert run_git(["cat-file", "blob", blob], directory=copy, trusted=True).text == "version 1"


def test_a_call_past_its_limit_is_ended(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "r")
    git("config", "alias.forever", "!exec sleep 600", at=repository)
    with pytest.raises(GitError, match=r"`git forever` took longer than 0\.2 s"):
        run_git(["forever"], directory=repository, timeout_seconds=0.2)


def test_a_call_that_is_ended_leaves_nothing_half_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_GRACE_SECONDS", LONGEST_SECONDS)
    repository, mark = make_repository(tmp_path / "r"), tmp_path / "mark"
    commit_file(repository, ".gitattributes", "* filter=slow\n")
    git("config", "filter.slow.smudge", f"touch '{mark}'; sleep 600", at=repository)
    with pytest.raises(GitError, match="took longer"):
        run_git(
            ["worktree", "add", "../w"],
            directory=repository,
            trusted=True,
            timeout_seconds=0.1,
            started=lambda _: until(mark.exists),
        )
    assert not (tmp_path / "w").exists()
    assert list((repository / ".git").rglob("*.lock")) == []


def test_a_helper_that_will_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_GRACE_SECONDS", 0.1)
    repository = make_repository(tmp_path / "r")
    git(
        "config",
        "alias.forever",
        "!trap '' TERM; echo $$ >new; mv new pid; while :; do sleep 1; done",
        at=repository,
    )
    pid = repository / "pid"

    with pytest.raises(GitError, match="took longer"):
        run_git(["forever"], directory=repository, timeout_seconds=0.1, started=lambda _: until(pid.exists))
    until(lambda: not is_running(int(pid.read_text())), "the end of the helper, which SIGKILL only begins")


def is_running(pid: int) -> bool:
    """True for a process that is there and no zombie that nobody has reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_missing_git_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="not installed") as caught:
        run_git(["version"])
    assert caught.value.hint is not None


def test_a_missing_directory_is_not_taken_for_a_missing_git(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="is not a directory"):
        run_git(["version"], directory=tmp_path / "gone")


def test_an_old_git_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "git"
    old.write_text("#!/bin/sh\necho git version 2.38.5\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    git_version.cache_clear()
    with pytest.raises(GitError, match=r"2\.38\.5.* is too old"):
        git_version()
    git_version.cache_clear()


def test_the_git_of_this_machine_will_do() -> None:
    assert git_version() >= (2, 39)


def test_printable_joins_lines_and_shows_control_characters() -> None:
    assert printable("one\n\n  two\x07\n") == "one / two\\x07"
    assert len(printable("x" * 1000, 50)) == 50


def test_git_is_started_nowhere_else() -> None:
    starters = [
        file.relative_to(PACKAGE)
        for file in PACKAGE.rglob("*.py")
        if file != Path(process.__file__) and _starts_git(ast.parse(file.read_text(encoding="utf-8")))
    ]
    assert starters == []


def _starts_git(tree: ast.Module) -> bool:
    """True if a list or tuple begins with the word `git`, as an argument list would, or a call is given that word."""
    return any(_first_word(node) in {"git", "/usr/bin/git"} for node in ast.walk(tree))


def _first_word(node: ast.AST) -> object:
    items: list[ast.expr] = []
    if isinstance(node, ast.List | ast.Tuple):
        items = node.elts
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        runs = node.func.attr in {
            "Popen",
            "run",
            "check_output",
            "check_call",
            "call",
            "execvp",
            "execlp",
            "system",
        }
        items = node.args if runs else []
    first = items[0] if items else None
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        return first.value.split(" ")[0]
    return None


def test_an_open_file_is_handed_to_git(tmp_path: Path) -> None:
    file = tmp_path / "large"
    file.write_bytes(b"large\n" * 100_000)
    with file.open("rb") as given:
        told = run_git(["hash-object", "--no-filters", "--stdin"], input=given).text
    assert told == blob_id(file.read_bytes())
