from __future__ import annotations

import os
import re
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from gitticks.agents.process import StopRequest
from gitticks.git.repository import Repository, discover
from gitticks.model.settings import LimitSettings, SandboxPreset, SandboxSettings, Settings, VerifySettings
from gitticks.runner.verifiers import ChecksReport, has_commands, run_checks
from tests.support.repositories import add_linked_worktree, commit_file, git, make_repository

IN_THE_OPEN = Settings()._replace(sandbox=SandboxSettings(preset=SandboxPreset.NONE))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return discover(make_repository(tmp_path / "repo"))


@pytest.fixture
def place(repository: Repository, tmp_path: Path) -> Path:
    assert repository.main_worktree is not None
    commit_file(repository.main_worktree, ".gitignore", "*.pyc\n__pycache__/\n")
    return add_linked_worktree(repository.main_worktree, tmp_path / "workspace", "gitticks/work/k7f2")


def check(
    repository: Repository, place: Path, *, limit: int = 60, on_merge: bool = False, **verify: Any
) -> ChecksReport:
    settings = IN_THE_OPEN._replace(verify=VerifySettings(**verify), limits=LimitSettings(gate=limit))
    return run_checks(place, settings, dict(os.environ), repository, on_merge=on_merge)


def status(place: Path) -> str:
    return git("status", "--porcelain", at=place)


def test_without_gates_a_clean_checkout_passes(repository: Repository, place: Path) -> None:
    report = check(repository, place)
    assert (report.failure, report.lines) == (None, ())
    assert not has_commands(Settings())


def test_what_is_not_committed_fails_first(repository: Repository, place: Path) -> None:
    (place / "README.md").write_text("changed\n")
    (place / "new.txt").write_text("new\n")
    report = check(repository, place, test="touch ran")
    assert report.failure == "not everything is committed: `README.md`, `new.txt`"
    assert not (place / "ran").exists()


def test_our_own_folders_and_ignored_files_are_nobodys_work(repository: Repository, place: Path) -> None:
    for name in (".gt/TASK.md", ".gitticks/x", ".gitticks-work/y", "a.pyc"):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text("x")
    assert check(repository, place).failure is None


def test_commands_run_in_order_up_to_the_first_failure(repository: Repository, place: Path) -> None:
    log = place.parent / "log"
    report = check(
        repository,
        place,
        test=f"echo test >> {log}",
        build=f"echo build >> {log}",
        scripts=(f"echo one >> {log}; exit 7", f"echo two >> {log}"),
    )
    assert log.read_text().split() == ["test", "build", "one"]
    assert report.failure is not None
    assert "failed (exit code 7)" in report.failure
    assert report.lines[0].startswith("tests pass (")
    assert report.lines[1].startswith("build passes (")
    assert "failed (exit code 7, " in report.lines[2]


def test_a_failure_carries_the_end_of_the_output(repository: Repository, place: Path) -> None:
    report = check(repository, place, test="seq 1 100000; echo '## Handoff' >&2; exit 1")
    assert report.failure is not None
    first, _, rest = report.failure.partition("\n\n")
    assert first.startswith("tests failed (exit code 1): `seq")
    assert rest.endswith("    100000\n    ## Handoff")
    assert len(report.failure) < 20_000


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("===== 212 passed, 3 skipped in 9.12s =====", "tests pass (212 in 0 s)"),
        ("1 failed, 7 passed in 0.12 s", "tests pass (7 in 0 s)"),
        ("Ran 41 tests in 0.003s\n\nOK", "tests pass (41 in 0 s)"),
        ("Tests:       2 skipped, 5 passed, 7 total", "tests pass (5 in 0 s)"),
        ("test result: ok. 3 passed; 0 failed\ntest result: ok. 4 passed; 0 failed", "tests pass (7 in 0 s)"),
        ("all fine", "tests pass (0 s)"),
    ],
)
def test_the_count_of_tests_is_shown_where_it_is_recognised(
    repository: Repository, place: Path, said: str, shown: str
) -> None:
    (place.parent / "said").write_text(said)
    (line,) = check(repository, place, test="cat ../said").lines
    assert re.sub(r"\b\d+ s\b", "0 s", line) == shown


def test_a_command_that_is_not_there_is_said_to_be_missing(repository: Repository, place: Path) -> None:
    report = check(repository, place, test="pytst -q")
    assert report.failure is not None
    assert report.failure.startswith("tests failed (exit code 127, a command was not found): `pytst -q`")


def test_a_gate_without_end_is_ended(repository: Repository, place: Path) -> None:
    tries = (
        check(repository, place, test="echo begun; sleep 600", limit=limit).failure or ""
        for limit in (1, 10, 100)
    )
    assert "did not finish within `limits.gate`" in next(failure for failure in tries if "begun" in failure)


def test_a_gate_that_fails_by_chance_is_tried_again(repository: Repository, place: Path) -> None:
    flaky = f"test -e {place.parent}/second || {{ touch {place.parent}/second; exit 1; }}"
    report = check(repository, place, test=flaky, retries=1)
    assert report.failure is None
    assert report.lines[0].endswith(", at try 2)")


def test_a_gate_that_fails_at_each_try_says_so_and_keeps_what_it_printed(
    repository: Repository, place: Path
) -> None:
    report = check(repository, place, test="echo one; echo two; exit 3", retries=2)
    (line,) = report.lines
    assert re.fullmatch(r"tests failed \(exit code 3, \d+ s, in each of 3 tries\)", line)
    assert report.output == "one\ntwo"


def test_gates_see_no_variable_of_git_or_gitticks(
    repository: Repository, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GITTICKS_AGENT", "1")
    assert check(repository, place, test="! env | grep -E '^GIT_|^GITTICKS_AGENT='").failure is None


def test_a_stop_ends_the_gates_and_is_no_verdict(repository: Repository, place: Path, tmp_path: Path) -> None:
    stop, begun = StopRequest(), tmp_path / "begun"
    settings = IN_THE_OPEN._replace(verify=VerifySettings(test=f"echo begun > {begun}; sleep 600"))
    os.mkfifo(begun)

    def stop_once_begun() -> None:
        begun.read_text()
        stop.request(at_once=True)

    threading.Thread(target=stop_once_begun, daemon=True).start()
    report = run_checks(place, settings, dict(os.environ), repository, stop=stop)
    assert report.is_stopped
    assert report.failure is not None


def test_what_gates_leave_behind_is_taken_away_and_kept_unnamed(repository: Repository, place: Path) -> None:
    commit_file(place, "fixture.txt", "as committed\n")
    commit_file(place, "gone.txt", "as committed\n")
    test = "mkdir -p out/deep; echo r > out/deep/report; echo x > fixture.txt; rm gone.txt; ln -s /etc link; echo s > s; git add s"
    report = check(repository, place, test=test)
    assert report.failure is None
    assert report.left == ()
    assert status(place) == ""
    assert not (place / "out").exists()
    assert (place / "fixture.txt").read_text() == "as committed\n"
    assert (place / "gone.txt").exists()
    (kept,) = re.findall(r"unreachable commit (\w+)", git("fsck", "--unreachable", at=place))
    assert git("show", f"{kept}:out/deep/report", at=place) == "r"
    assert Path("/etc/passwd").exists()


def test_ignored_files_stay(repository: Repository, place: Path) -> None:
    check(repository, place, test="mkdir __pycache__; echo x > __pycache__/a.pyc")
    assert (place / "__pycache__" / "a.pyc").exists()


def test_work_that_was_there_before_stays_as_it_was(repository: Repository, place: Path) -> None:
    (place / "README.md").write_bytes(b"mine \xff\r\n")
    (place / "notes.txt").write_text("mine\n")
    (place / "staged.txt").write_text("mine\n")
    git("add", "staged.txt", at=place)
    before = status(place)
    report = check(
        repository,
        place,
        committed=False,
        test="echo x > README.md; rm notes.txt; echo x >> staged.txt; touch report; git add .",
    )
    assert report.failure is None
    assert status(place) == before
    assert (place / "README.md").read_bytes() == b"mine \xff\r\n"
    assert (place / "notes.txt").read_text() == "mine\n"
    assert (place / "staged.txt").read_text() == "mine\n"


def test_in_the_persons_own_checkout_nothing_is_touched(repository: Repository) -> None:
    assert repository.main_worktree is not None
    report = check(repository, repository.main_worktree, test="touch report; echo x > README.md")
    assert report.failure is None
    assert report.left == ("README.md", "report")
    assert (repository.main_worktree / "report").exists()


def test_a_repository_that_a_gate_made_stays_and_is_named(repository: Repository, place: Path) -> None:
    report = check(repository, place, test="git init -q nested; touch nested/file; touch report")
    assert report.left == ("nested/",)
    assert (place / "nested" / "file").exists()
    assert not (place / "report").exists()


def test_a_gate_that_commits_fails(repository: Repository, place: Path) -> None:
    report = check(repository, place, test="git commit -q --allow-empty -m sneaky")
    assert report.failure is not None
    assert "moved HEAD" in report.failure


def test_on_a_merge_only_commands_count(repository: Repository, place: Path) -> None:
    (place / "README.md").write_text("changed\n")
    report = check(repository, place, on_merge=True, test="touch report")
    assert report.failure is None
    assert (place / "report").exists()


def test_nothing_of_a_gate_outlives_it(repository: Repository, place: Path) -> None:
    program = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(600)\n"
    (place.parent / "daemon.py").write_text(program)
    report = check(repository, place, test=f"{sys.executable} ../daemon.py; echo $$ > ../pid", limit=300)
    assert report.failure is None, "the gate waits for its daemon"
