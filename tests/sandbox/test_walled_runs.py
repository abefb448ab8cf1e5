"""Runs behind walls: what an agent does there comes home, and nothing else does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitticks.model.status import Status
from tests.runner.test_council import council, rounds
from tests.support.agents import write_program
from tests.support.repositories import commit_file, fsck_problems, git, make_repository
from tests.support.runs import (
    COMMIT,
    DONE,
    HANDOFF,
    NO_PERSON,
    NO_REVIEW,
    PASS,
    TO_REVIEW,
    RunProject,
    project,
)
from tests.support.waiting import until

pytestmark = pytest.mark.debian("bubblewrap", program="bwrap")
__all__ = ["project"]

PRESETS = pytest.mark.parametrize("preset", ["strict", "permissive"])


@PRESETS
def test_work_comes_home_and_is_tested_and_merged_behind_walls(project: RunProject, preset: str) -> None:
    project.settings(
        f"{NO_PERSON}verify: {{test: 'test $GITTICKS_SANDBOX = {preset} && git log -1 --format=%s'}}\n"
    )
    project.agent(f"echo $GITTICKS_SANDBOX > walls.txt\n{DONE}")
    project.make()
    ran = project.run("--sandbox", preset)
    assert project.task("k7f2").status is Status.DONE, ran.seen
    assert git("show", "main:walls.txt", at=project.path) == preset
    assert "Task: k7f2" in git("log", "-3", "--format=%B", "main", at=project.path)
    assert not fsck_problems(project.path)


@PRESETS
def test_a_check_may_commit_in_the_workspace_and_on_the_merge(project: RunProject, preset: str) -> None:
    check = "date > stamp.txt && git add stamp.txt && git commit -qm stamp"
    project.settings(f"{NO_PERSON}verify: {{test: '{check}', committed: false}}\n")
    project.agent(DONE)
    project.make()
    ran = project.run("--sandbox", preset)
    assert project.task("k7f2").status is Status.DONE, ran.seen
    assert "stamp.txt" not in project.files("main")


@PRESETS
def test_a_setting_that_is_a_link_is_one_again_though_the_run_was_killed(
    project: RunProject, preset: str
) -> None:
    theirs, real = Path(os.environ["HOME"], ".claude/settings.json"), project.path.parent / "settings.json"
    theirs.parent.mkdir()
    real.write_text("{}\n")
    theirs.symlink_to(real)
    replace = (
        "rm ~/.claude/settings.json; echo evil > ~/.claude/settings.json; touch ~/.claude/up; exec sleep 600"
    )
    program = write_program(project.shared / "claude", replace)
    project.ok("config", "agents.claude.argv", f"[{program}]")
    project.ok("config", "agent", "claude")
    project.make()
    with project.running("--sandbox", preset) as process:
        until((theirs.parent / "up").exists, "the agent")
        process.kill()
    assert theirs.read_text() == "evil\n"
    sessions, told = project.path / ".git/gitticks/sessions", list[str]()

    def is_finished() -> bool:
        told.append(project.gt("health").seen)
        return not (sessions / "k7f2.json").exists()

    until(is_finished, "the dead session")
    assert theirs.readlink() == real
    assert f"`{theirs}` was changed in the sandbox" in " ".join("".join(told).split())
    assert real.read_text() == "{}\n"
    assert not list(sessions.glob("*.links"))


@PRESETS
def test_submodules_that_the_set_up_fetches_are_there_for_the_agent_and_the_checks(
    project: RunProject, preset: str
) -> None:
    library = make_repository(project.path.parent / "library")
    commit_file(library, "lib.txt", "v1\n")
    fetch = "git -c protocol.file.allow=always submodule --quiet update --init"
    git(
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        str(library),
        "vendor",
        at=project.path,
    )
    git("commit", "--quiet", "-m", "a submodule", at=project.path)
    look = "git status --short && git -C vendor rev-parse HEAD && test -s vendor/lib.txt"
    seen = f"sandbox: {{allowed_paths: ['{library}']}}\n"
    project.settings(f"{NO_PERSON}{seen}setup: {{run: '{fetch}'}}\nverify: {{test: '{look}'}}\n")
    project.agent(f"{look} || exit 3\n{DONE}")
    project.make()
    ran = project.run("--sandbox", preset)
    assert project.task("k7f2").status is Status.DONE, ran.seen
    assert git("rev-parse", "main:vendor", at=project.path) == git("rev-parse", "HEAD", at=library)


@pytest.mark.parametrize("setting", ["sparse", "split"])
def test_an_index_that_is_sparse_or_split_comes_home_as_such(project: RunProject, setting: str) -> None:
    (project.path / "left").mkdir()
    commit_file(project.path, "left/out.txt", "not here\n")
    if setting == "sparse":
        git("sparse-checkout", "set", "--no-cone", "/*", "!/left/", at=project.path)
    else:
        git("config", "core.splitIndex", "true", at=project.path)
    project.settings(NO_REVIEW)
    project.agent(f"git status --short > /dev/null || exit 3\n{DONE}")
    project.make()
    ran = project.run("--sandbox", "permissive")
    assert project.stands() == TO_REVIEW, ran.seen
    assert git("status", "--short", at=project.workspace()) == ""


@PRESETS
def test_an_agent_writes_nowhere_else(project: RunProject, preset: str, tmp_path: Path) -> None:
    beside, common = tmp_path / "beside", project.path / ".git"
    project.settings(NO_PERSON)
    before = sorted(common.glob("hooks/*")), (common / "config").read_bytes()
    project.agent(
        f"echo out > {beside}; echo out > {project.path}/out.txt; echo out > {common}/hooks/post-merge;"
        f"git config core.fsmonitor 'touch {beside}'; echo evil >> {common}/config;"
        f"git update-ref refs/heads/main HEAD; {DONE}"
    )
    project.make()
    project.run("--sandbox", preset)
    assert not beside.exists()
    assert not (project.path / "out.txt").exists()
    assert (sorted(common.glob("hooks/*")), (common / "config").read_bytes()) == before


@PRESETS
@pytest.mark.parametrize("role", ["worker", "reviewer"])
def test_a_base_that_only_the_remote_has_is_not_made_by_an_agent(
    project: RunProject, preset: str, role: str
) -> None:
    git("update-ref", "refs/remotes/origin/develop", "main", at=project.path)
    make = f'if [ "$GITTICKS_ROLE" = {role} ]; then {COMMIT}git branch develop; fi\n'
    project.settings("base: develop\n")
    project.agent(f'{make}if [ "$GITTICKS_ROLE" = reviewer ]; then {PASS}else {DONE}fi\n')
    project.make()
    ran = project.run("--sandbox", preset)
    assert "`develop` was made in the sandbox, but its name would mean something else outside" in ran.seen
    assert "develop" not in git("for-each-ref", "refs/heads", at=project.path)
    assert git("for-each-ref", "refs/gitticks/kept/*/heads/develop.*", at=project.path)
    project.ok("list")
    assert project.stands() == TO_REVIEW


@PRESETS
def test_the_base_of_another_task_that_is_gone_is_not_made_by_an_agent(
    project: RunProject, preset: str
) -> None:
    project.settings(NO_REVIEW)
    git("branch", "topic", at=project.path)
    project.make()
    project.ok("config", "base", "topic")
    project.run("--sandbox", preset)
    assert project.task("k7f2").base == "topic"
    project.ok("config", "base", "main")
    git("branch", "-D", "topic", at=project.path)
    project.agent(f"git merge -q gitticks/work/k7f2\n{COMMIT}git branch topic\n{HANDOFF}")
    project.make("m4n8")
    ran = project.run("--sandbox", preset)
    assert "`topic` was made in the sandbox" in ran.seen
    project.ok("list")
    assert project.stands() == TO_REVIEW


@PRESETS
@pytest.mark.parametrize("is_link", [False, True])
def test_an_allowed_folder_around_the_repository_does_not_open_the_repository(
    project: RunProject, preset: str, tmp_path: Path, *, is_link: bool
) -> None:
    around, common = project.path.parent, project.path / ".git"
    if is_link:
        (tmp_path / "projects").symlink_to(around)
        around = tmp_path / "projects"
    project.settings(f"{NO_PERSON}sandbox: {{allowed_paths: ['{around}']}}\n")
    before = git("rev-parse", "main", at=project.path), (common / "config").read_bytes()
    names = {project.path, around / project.path.name}
    out = "; ".join(
        f"echo out > {top}/out.txt; echo out > {top}/.gitticks/out.txt; echo out >> {top}/.git/config; "
        f"git --git-dir={top}/.git update-ref refs/heads/main refs/heads/gitticks/state"
        for top in sorted(names)
    )
    project.agent(f"echo in > {around}/made; {out}; {HANDOFF}echo '<promise>COMPLETE</promise>'")
    project.make()
    ran = project.run("--sandbox", preset)
    assert (around / "made").exists(), ran.seen
    assert not list(project.path.rglob("out.txt"))
    assert (git("rev-parse", "main", at=project.path), (common / "config").read_bytes()) == before


def test_work_on_a_person_s_branch_goes_back_and_that_branch_stays(project: RunProject) -> None:
    project.settings(NO_PERSON)
    ask = "sed -n 's/.*: `\\(git [^`]*\\)`.*/\\1/p' .gt/prompt.md | head -1"
    project.agent(
        f'if [ $GITTICKS_ITERATION = 1 ]; then git checkout -q main; {DONE} else eval "$({ask})"; {HANDOFF}'
        "echo '<promise>COMPLETE</promise>'; fi"
    )
    project.make()
    ran = project.run("--sandbox", "permissive")
    assert "the work was committed on a detached HEAD" in ran.out, ran.seen
    assert "`main` was changed in the sandbox, and stays as it is outside" in ran.err, ran.seen
    assert project.task("k7f2").status is Status.DONE, ran.seen
    assert "k7f2.txt" in project.files()


def test_several_sessions_go_on_where_the_last_one_ended(project: RunProject) -> None:
    project.settings(NO_PERSON)
    project.agent(
        f"if [ $GITTICKS_ITERATION = 1 ]; then {COMMIT} git checkout -q -b aside; echo more > more; git add more;"
        f"else git rev-parse --verify -q aside && cat more && {HANDOFF} git checkout -q gitticks/work/k7f2; {DONE} fi"
    )
    project.make()
    project.run("--sandbox", "strict")
    project.run("--sandbox", "strict")
    assert project.task("k7f2").status is Status.DONE


def test_a_program_that_npm_installed_is_found_by_its_link_and_finds_its_packages(
    project: RunProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "node_modules"
    for folder in (".bin", "client", "needed"):
        (packages / folder).mkdir(parents=True)
    (packages / "needed/name").write_text("found\n")
    write_program(packages / "client/cli.sh", f'cat "{packages}/needed/name" > packages.txt\n{DONE}')
    (packages / ".bin/some-client").symlink_to("../client/cli.sh")
    monkeypatch.setenv("PATH", f"{packages}/.bin{os.pathsep}{os.environ['PATH']}")
    project.settings(NO_PERSON)
    project.ok("config", "agents.mine.argv", '["some-client"]')
    project.make()
    ran = project.run("--sandbox", "strict")
    assert project.task("k7f2").status is Status.DONE, ran.seen
    assert git("show", "main:packages.txt", at=project.path) == "found"


@PRESETS
def test_a_program_that_is_a_link_as_in_a_virtual_environment_starts(
    project: RunProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, preset: str
) -> None:
    real = write_program(tmp_path / "real/bin/client", DONE)
    link = tmp_path / "environment/bin/client"
    link.parent.mkdir(parents=True)
    link.symlink_to(real)
    monkeypatch.setenv("PATH", f"{link.parent}{os.pathsep}{os.environ['PATH']}")
    project.settings(NO_PERSON)
    project.ok("config", "agents.mine.argv", f'["{link}"]')
    project.make()
    ran = project.run("--sandbox", preset)
    assert project.task("k7f2").status is Status.DONE, ran.seen


@PRESETS
def test_a_linked_program_in_an_allowed_folder_that_is_a_link_starts(
    project: RunProject, tmp_path: Path, preset: str
) -> None:
    real = write_program(tmp_path / "real/client", DONE)
    (tmp_path / "opt").mkdir()
    (tmp_path / "opt/client").symlink_to(real)
    (tmp_path / "tools").symlink_to(tmp_path / "opt")
    project.settings(
        f"{NO_PERSON}sandbox: {{allowed_paths: ['{tmp_path}/tools', '{tmp_path}/opt', '{tmp_path}/real']}}\n"
    )
    project.ok("config", "agents.mine.argv", f'["{tmp_path}/tools/client"]')
    project.make()
    ran = project.run("--sandbox", preset)
    assert project.task("k7f2").status is Status.DONE, ran.seen


@PRESETS
def test_commits_of_a_branch_that_a_person_deleted_come_back(project: RunProject, preset: str) -> None:
    project.agent(f"[ -e seen ] && exit 0\n{COMMIT}\ntouch seen")
    project.make()
    project.run("--max-iterations", "1", "--sandbox", preset)
    branch = "refs/heads/gitticks/work/k7f2"
    made = git("rev-parse", branch, at=project.path)
    git("update-ref", "-d", branch, at=project.path)
    project.run("--max-iterations", "1", "--sandbox", preset)
    assert git("rev-parse", branch, at=project.path) == made
    assert made != git("rev-parse", "main", at=project.path)


def test_a_process_that_computes_for_too_long_is_ended_and_the_agent_goes_on(project: RunProject) -> None:
    project.settings(f"{NO_PERSON}sandbox: {{max_process_time: 1s}}\n")
    project.agent(f"sh -c 'while :; do :; done'; echo $? > ended.txt\n{DONE}")
    project.make()
    ran = project.run("--sandbox", "permissive")
    assert project.task("k7f2").status is Status.DONE, ran.seen
    assert git("show", "main:ended.txt", at=project.path) == "152"


@pytest.mark.parametrize(
    ("limit", "does"),
    [
        ("max_process_time: 1s", "while :; do :; done"),
        ("max_file_size: 1MB", "exec head -c 2000000 /dev/zero > large"),
    ],
)
def test_an_agent_that_a_limit_ended_names_the_setting(project: RunProject, limit: str, does: str) -> None:
    project.settings(f"sandbox: {{{limit}}}\n")
    project.agent(does)
    project.make()
    ran = project.run("--sandbox", "permissive", "--max-iterations", "1")
    assert f"as at `sandbox.{limit.partition(':')[0]}`" in ran.seen


@PRESETS
def test_what_is_hidden_from_an_agent_is_not_taken_for_removed(project: RunProject, preset: str) -> None:
    (project.path / "secrets").mkdir()
    for name in ("secrets/key", "top.pem"):
        (project.path / name).write_text("hidden\n")
    git("add", "-A", at=project.path)
    git("commit", "-qm", "begin", at=project.path)
    project.settings(f"{NO_PERSON}sandbox: {{denied_paths: [secrets, '**/*.pem']}}\n")
    project.agent(f"(cat secrets/key top.pem; git status --short) > seen.txt 2>/dev/null; git add -A; {DONE}")
    project.make()
    ran = project.run("--sandbox", preset)
    assert project.task("k7f2").status is Status.DONE, ran.seen
    assert git("show", "main:seen.txt", at=project.path) == "?? seen.txt"
    assert {"secrets/key", "top.pem"} <= {*project.files()}


def test_no_reviewer_sees_what_another_has_answered(project: RunProject) -> None:
    own, said = project.path / ".git/gitticks", project.shared / "said"
    answer = "echo 'VERDICT: APPROVED'"
    council(
        project,
        more=f"sandbox: {{allowed_paths: ['{project.shared}']}}\n",
        one=f"echo an opinion; {answer}; touch '{said}'",
        two=f"until [ -e '{said}' ]; do sleep 0.05; done; sleep 0.5\n"
        f"cat {own}/council/*/* {own}/transcripts/*/* 2>&1; {answer}",
    )
    project.make()
    project.run("--sandbox", "permissive")
    assert {name: "an opinion" in text for name, text in rounds(project).items() if "review-" in name} == {
        "01-review-one.md": True,
        "01-review-two.md": False,
    }


def test_an_allowed_path_that_an_agent_made_a_link_is_not_let_through(
    project: RunProject, tmp_path: Path
) -> None:
    project.settings(
        f"{NO_PERSON}sandbox: {{allowed_paths: [cache, '{tmp_path}/shared', '{tmp_path}/shared/in']}}\n"
    )
    for name in ("shared/in", "other"):
        (tmp_path / name).mkdir(parents=True)
    (project.path / ".gitignore").write_text("cache\n")
    git("add", "-A", at=project.path)
    git("commit", "-qm", "begin", at=project.path)
    up = os.path.relpath(tmp_path / "other", project.path / ".gitticks-work/k7f2")
    lure = f"ln -s {up} cache; mv {tmp_path}/shared/in {tmp_path}/shared/old || ln -s ../other {tmp_path}/shared/new"
    use = f"echo out > cache/fired; echo out > {tmp_path}/shared/in/fired; {DONE}"
    project.agent(f"if [ $GITTICKS_ITERATION = 1 ]; then {lure}; else {use} fi")
    project.make()
    ran = project.run("--sandbox", "permissive")
    assert "`cache` is not writable" in ran.seen.replace(f"{project.path}/.gitticks-work/k7f2/", ""), ran.seen
    assert list((tmp_path / "other").iterdir()) == []
    assert project.task("k7f2").status is Status.DONE, ran.seen


def test_an_agent_finds_its_task_and_the_file_of_it(project: RunProject) -> None:
    project.agent(
        f"gt current > seen.txt; gt ready >> seen.txt; gt path >> seen.txt; gt path w1ts 2>> seen.txt; {DONE}"
    )
    project.make()
    project.make("w1ts")
    project.run("k7f2", "--sandbox", "permissive")
    workspace = project.path / ".gitticks-work" / "k7f2"
    current, *rest = git("show", "gitticks/work/k7f2:seen.txt", at=project.path).splitlines()[1:]
    assert current.split()[:3] == ["k7f2", "this", "session"]
    assert str(workspace) in current
    assert not [line for line in rest if line.startswith("k7f2")], "what is in work is not ready"
    assert str(workspace / ".gt" / "TASK.md") in rest
    assert "error: this session cannot see the board" in rest
