from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.support import gt
from tests.support.repositories import clone, git, make_repository
from tests.support.stores import make_store
from tests.support.tasks import write_files


def config_file(root: Path) -> str:
    return git("show", "gitticks/state:config.yaml", at=root)


def test_a_value_is_set_for_the_team_by_one_commit(tmp_path: Path) -> None:
    make_store(tmp_path)
    assert gt("config", "verify.test", "make test", at=tmp_path).seen == (
        "verify.test: make test (config.yaml)\n--- 0\n"
    )
    assert config_file(tmp_path) == "version: 1\nverify: {test: make test}"
    assert git(
        "log", "-1", "--format=%s|%an|%(trailers:key=Actor,valueonly)", "gitticks/state", at=tmp_path
    ) == ("config: verify.test|Ada Lovelace|human Ada Lovelace\n")
    assert gt("config", "verify.test", at=tmp_path).seen == "make test\n--- 0\n"


def test_what_stands_in_the_file_stays(tmp_path: Path) -> None:
    make_store(tmp_path, config="version: 1\n# how many at once\nparallel: 5  # five\n")
    gt("config", "parallel", "7", at=tmp_path)
    assert config_file(tmp_path) == "version: 1\n# how many at once\nparallel: 7  # five"


def test_the_same_value_makes_no_commit(tmp_path: Path) -> None:
    store = make_store(tmp_path, config="version: 1\nparallel: 5\n")
    tip = store.tip()
    assert gt("config", "parallel", "5", at=tmp_path).code == 0
    assert store.tip() == tip


def test_unset_gives_the_default_back(tmp_path: Path) -> None:
    make_store(tmp_path, config="version: 1\nparallel: 5\n")
    assert gt("config", "parallel", "--unset", at=tmp_path).out == "parallel: 3 (default)\n"
    assert config_file(tmp_path) == "version: 1"


def test_two_wrong_values_are_named_together_and_fixed_one_by_one(tmp_path: Path) -> None:
    make_store(tmp_path, config="version: 1\nparallel: 100\nhuman: no\n")
    found = json.loads(gt("doctor", "--json", at=tmp_path).out)["findings"]
    named = {one["what"].split(" is ")[0] for one in found if one["topic"] == "settings"}
    assert named == {"config.yaml:2:11: `parallel`", "config.yaml:3:8: `human`"}
    first = gt("config", "parallel", "8", at=tmp_path)
    assert (first.code, first.out) == (0, "parallel: 8 (config.yaml)\n")
    assert first.err.startswith("warning: config.yaml:3:8: `human` is not one of ")
    assert gt("config", "human", "--unset", at=tmp_path).seen == "human: always (default)\n--- 0\n"
    assert config_file(tmp_path) == "version: 1\nparallel: 8"


@pytest.mark.parametrize("words", [["2"], ["1"], ["--unset"]])
def test_the_format_of_the_branch_is_no_persons_to_set(tmp_path: Path, words: list[str]) -> None:
    store = make_store(tmp_path, config="version: 1\n")
    tip = store.tip()
    ran = gt("config", "version", *words, at=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "hint: `gt version` shows the version of gitticks" in ran.err
    assert store.tip() == tip
    assert gt("config", "version", at=tmp_path).seen == "1\n--- 0\n"


def test_every_setting_says_where_it_comes_from(tmp_path: Path) -> None:
    make_store(tmp_path, config="version: 1\nparallel: 5\n")
    git("config", "gitticks.review-limit", "9", at=tmp_path)
    lines = gt("config", at=tmp_path, environment={"GITTICKS_CONFIG_ITERATIONS": "4"}).out.splitlines()
    found = {line.split()[0]: line.split()[1:] for line in lines}
    assert found["parallel"] == ["5", "config.yaml"]
    assert found["review_limit"][0] == "9"
    assert " ".join(found["review_limit"][1:]).startswith("git config gitticks.")
    assert found["iterations"] == ["4", "GITTICKS_CONFIG_ITERATIONS"]
    assert found["limits.idle"] == ["10m", "default"]


def test_json(tmp_path: Path) -> None:
    make_store(tmp_path)
    settings = json.loads(gt("config", "--json", at=tmp_path).out)["settings"]
    by_name = {setting["name"]: setting for setting in settings}
    assert by_name["limits.idle"]["value"] == 600
    assert by_name["limits.idle"]["shown"] == "10m"
    assert json.loads(gt("config", "human", "--json", at=tmp_path).out)["setting"]["value"] == "always"


def test_a_stricter_layer_that_wins_is_reported(tmp_path: Path) -> None:
    make_store(tmp_path, config="version: 1\nhuman: always\n")
    git("config", "gitticks.human", "when-required", at=tmp_path)
    ran = gt("config", at=tmp_path)
    assert "`human` from git config gitticks.human is when-required, but config.yaml is stricter" in ran.err


def test_explain_needs_no_repository(tmp_path: Path) -> None:
    ran = gt("config", "--explain", "human", at=tmp_path)
    assert ran.code == 0
    assert ran.out.startswith("human: ")
    assert "always, when-required" in ran.out
    for group, name in (("agents", "agents.NAME.fallback"), ("prices", "prices.NAME.input")):
        assert f"{name} " in gt("config", "--explain", group, at=tmp_path).out


def test_a_group_in_which_nothing_is_set_says_so(tmp_path: Path) -> None:
    make_store(tmp_path)
    assert gt("config", "agents", at=tmp_path).out == (
        "nothing in `agents` is set; `gt config --explain agents` lists what can be\n"
    )


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["verfy.test"], 2, "error: there is no setting `verfy.test`\n\nhint: did you mean `verify.test`?\n"),
        (
            ["parallel", "many"],
            2,
            "error: `parallel` is not a number from 1 to 64: 'many'\n\nhint: `gt config --explain parallel`\n",
        ),
        (
            ["--unset"],
            2,
            "error: `--unset` needs the name of a setting\n\nhint: `gt config` lists the settings\n",
        ),
        (
            ["parallel", "3", "--unset"],
            2,
            "error: a value was given with an option that takes none\n\nhint: `gt config --help`\n",
        ),
    ],
)
def test_what_is_wrong_changes_nothing(tmp_path: Path, words: list[str], code: int, said: str) -> None:
    store = make_store(tmp_path)
    tip = store.tip()
    assert gt("config", *words, at=tmp_path).seen == f"--- {code}\n{said}"
    assert store.tip() == tip


def test_agents_may_read_but_not_set(tmp_path: Path) -> None:
    make_store(tmp_path)
    session = {"GITTICKS_AGENT": "1"}
    assert gt("config", "parallel", at=tmp_path, environment=session).out == "3\n"
    ran = gt("config", "parallel", "9", at=tmp_path, environment=session)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith("error: only a person can change settings")


def test_without_a_state_branch_the_defaults_are_read_and_nothing_is_set(tmp_path: Path) -> None:
    make_repository(tmp_path)
    assert gt("config", "parallel", at=tmp_path).out == "3\n"
    assert gt("config", "parallel", "9", at=tmp_path).err == (
        "error: this repository has no tasks yet\n\nhint: `gt init` sets them up\n"
    )


def test_a_broken_file_is_reported_with_its_place(tmp_path: Path) -> None:
    make_store(tmp_path, config="version: 1\nparalel: 5\n")
    assert gt("config", at=tmp_path).err.startswith("error: config.yaml:2:1: ")


@pytest.mark.parametrize(("words", "held"), [(("parallel", "5"), "5\n"), (("parallel", "--unset"), "3\n")])
def test_a_wrong_value_can_be_set_or_unset(tmp_path: Path, words: tuple[str, ...], held: str) -> None:
    make_store(tmp_path, config="version: 1\nparallel: lots\nhuman: always\n")
    assert gt("config", "human", "always", at=tmp_path).err.startswith("error: config.yaml:2:11: ")
    assert gt("config", *words, at=tmp_path).code == 0
    assert gt("config", "parallel", at=tmp_path).out == held


@pytest.mark.parametrize(
    ("line", "key"), [("agents: {mine: {modl: x, model: y}}", "agents.mine.modl"), ("paralel: 5", "paralel")]
)
def test_a_key_that_is_no_setting_can_be_removed(tmp_path: Path, line: str, key: str) -> None:
    make_store(tmp_path, config=f"version: 1\n{line}\n")
    assert key in json.loads(gt("config", "--json", at=tmp_path).err)["error"]["message"]
    removed = json.loads(gt("config", key, "--unset", "--json", at=tmp_path).out)["setting"]
    assert (removed["name"], removed["shown"]) == (key, "removed")
    assert gt("config", at=tmp_path).code == 0
    assert "there is no setting" in gt("config", key, "--unset", at=tmp_path).err


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("agent", "nosuch"),
        ("agents.claude.fallback", "[codex, nosuch]"),
        ("reviewers", "[{name: r, agent: nosuch}]"),
    ],
)
def test_an_agent_that_there_is_not_is_warned_of(tmp_path: Path, name: str, value: str) -> None:
    make_store(tmp_path)
    ran = gt("config", name, value, at=tmp_path)
    assert (ran.code, ran.err) == (
        0,
        "warning: there is no agent `nosuch` (`gt agents` lists the agents)\n",
    )
    assert gt("config", name, "--unset", at=tmp_path).err == ""


def test_a_command_line_in_one_word_and_a_default_without_a_program_are_warned_of(tmp_path: Path) -> None:
    make_store(tmp_path)
    one_word = '`sh agent.sh` is one word; did you mean `["sh", "agent.sh"]`?'
    missing = "the program of `mine` is not on PATH here"
    assert gt("config", "agents.mine.argv", "sh agent.sh", at=tmp_path).err == f"warning: {one_word}\n"
    assert gt("config", "agent", "mine", at=tmp_path).err == f"warning: {missing}\n"
    examined = gt("doctor", at=tmp_path).out
    assert f"warning  the setting `agents.mine.argv`: {one_word}" in examined
    assert f"warning  the setting `agent`: {missing}" in examined
    for good in ('["sh", "agent.sh"]', '["./agent.sh"]'):
        assert gt("config", "agents.mine.argv", good, at=tmp_path).err == ""
        assert "the setting" not in gt("doctor", at=tmp_path).out


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("parallel", "65", "`parallel` is not a number from 1 to 64: '65'"),
        ("limits.prompt", "9999", "`limits.prompt` is less than 10kB: '9999'"),
        ("sandbox.max_memory", "1kB", "`sandbox.max_memory` is less than 16MB: '1kB'"),
        ("sandbox.max_processes", "1", "`sandbox.max_processes` is not a whole number from 10 up: '1'"),
        ("limits.prompt", "much", "`limits.prompt` is not a size: 'much'"),
    ],
)
def test_a_value_that_no_run_can_work_with_is_refused(
    tmp_path: Path, name: str, value: str, message: str
) -> None:
    make_store(tmp_path)
    ran = gt("config", name, value, at=tmp_path)
    assert (ran.code, ran.err.splitlines()[0]) == (2, f"error: {message}")


def test_a_base_whose_name_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    make_store(tmp_path)
    odd = os.fsdecode(b"odd\xe9")
    git("branch", odd, at=tmp_path)
    assert gt("config", "base", odd, at=tmp_path).seen == (
        "--- 1\nerror: the base cannot be the branch `odd\\xe9`, whose name is not UTF-8\n\n"
        "hint: `git branch --list` shows the branches\n"
    )


def test_a_base_that_is_no_branch_is_refused_with_a_near_one(tmp_path: Path) -> None:
    tip = make_store(tmp_path).tip()
    git("branch", "release", at=tmp_path)
    assert gt("config", "base", "relaese", at=tmp_path).seen == (
        "--- 1\nerror: there is no branch `relaese`\n\nhint: did you mean `release`?\n"
    )
    assert gt("config", "base", "nosuch", at=tmp_path).seen == (
        "--- 1\nerror: there is no branch `nosuch`\n\nhint: `git branch --list` shows the branches\n"
    )
    assert git("rev-parse", "gitticks/state", at=tmp_path) == tip
    for words in (("release",), ("null",), ("--unset",)):
        assert gt("config", "base", *words, at=tmp_path).code == 0


def test_a_base_without_commits_and_one_of_origin_may_be_set(tmp_path: Path) -> None:
    source = make_repository(tmp_path / "source")
    git("branch", "release", at=source)
    here = clone(source, tmp_path / "here")
    gt("init", at=here)
    assert gt("config", "base", "release", at=here).code == 0
    git("symbolic-ref", "HEAD", "refs/heads/fresh", at=here)
    assert gt("config", "base", "fresh", at=here).code == 0


def test_a_file_that_is_no_utf_8_is_named_by_whatever_reads_or_writes_it(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    write_files(store, {"config.yaml": b'version: 1\nnotify: "caf\xe9"\n'})
    for words in (["config"], ["config", "human", "always"], ["config", "human", "--unset"]):
        ran = gt(*words, at=tmp_path)
        assert (ran.code, ran.out) == (1, ""), words
        assert "config.yaml:2:13: this is not UTF-8" in ran.err


def test_a_mistyped_key_of_an_agent_names_the_one_meant(tmp_path: Path) -> None:
    tip = make_store(tmp_path).tip()
    ran = gt("config", "agents.mine.promt", "file", at=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "there is no setting `agents.mine.promt`" in ran.err
    assert "did you mean `agents.mine.prompt`?" in ran.err
    assert git("rev-parse", "gitticks/state", at=tmp_path).strip() == tip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sandbox.preset", "none"),
        ("sandbox.preset", "strict"),
        ("sandbox.denied_paths", "[/etc]"),
        ("sandbox.max_memory", "2GB"),
        ("approvals.minimum", "L2"),
        ("approvals.allowed_signers", "signers"),
        ("review", "none"),
        ("review", "council"),
        ("reviewers", "[claude]"),
        ("reviewers", "[{name: a, agent: claude, focus: bugs}, {name: b, agent: codex}]"),
        ("agents.codex.sandbox_mode", "read-only"),
        ("permissions.deny", "[{operation: shell, commands: [rm]}]"),
        ("permissions.default", "deny"),
    ],
)
def test_what_works_of_such_a_setting_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.delenv("GITTICKS_CONFIG_SANDBOX_PRESET")
    make_store(tmp_path)
    ran = gt("config", name, value, at=tmp_path)
    assert (ran.code, ran.err) == (0, "")


def test_a_commit_on_the_board_cannot_bring_an_unknown_setting(tmp_path: Path) -> None:
    make_repository(tmp_path)
    assert gt("init", at=tmp_path).code == 0
    board = tmp_path / ".gitticks"
    board.joinpath("config.yaml").write_text("version: 1\nagents: {claude: {sandbox: strict}}\n")
    ran = subprocess.run(
        ["git", "commit", "-qam", "walls"], cwd=board, capture_output=True, text=True, check=False
    )
    assert ran.returncode != 0
    assert "there is no setting `agents.claude.sandbox`" in ran.stderr


def test_a_run_names_the_flag_that_a_stricter_setting_overrules(tmp_path: Path) -> None:
    make_store(tmp_path, config="version: 1\npermissions: {mode: interactive}\nhuman: always\n")
    git("config", "gitticks.human", "when-required", at=tmp_path)
    ran = gt("run", "--permission", "auto-all", at=tmp_path)
    assert "`permissions.mode` from a flag is auto-all, but config.yaml is stricter" in ran.err
    assert "`human`" not in ran.err  # as it is for every run


def test_a_run_without_walls_says_so_each_time(tmp_path: Path) -> None:
    make_store(tmp_path)
    for words in (["run"], ["run", "--sandbox", "none"]):
        assert "no sandbox, so agents can do anything you can" in gt(*words, at=tmp_path).err


def test_an_older_file_that_asks_for_signatures_is_not_taken_for_less(tmp_path: Path) -> None:
    make_store(tmp_path, config="version: 1\napprovals: {minimum: L2}\n")
    task_id = gt("create", "a task", "--awaiting", "approval", at=tmp_path).out.strip()
    ran = gt("approve", task_id, at=tmp_path)
    assert ran.code == 3
    assert "no key is configured to sign your approvals" in ran.err


def test_a_group_shows_its_settings(tmp_path: Path) -> None:
    make_store(tmp_path)
    names = [line.split()[0] for line in gt("config", "council", at=tmp_path).out.splitlines()]
    assert names == ["setting", "council.rule", "council.rounds", "council.timeout"]
    for words in (["council", "any"], ["council", "--unset"]):
        assert gt("config", *words, at=tmp_path).err == (
            "error: `council` is a group of settings\n\nhint: `gt config council` lists them\n"
        )


def test_a_line_that_a_command_wrote_may_be_replaced_by_hand(tmp_path: Path) -> None:
    make_repository(tmp_path)
    board = tmp_path / ".gitticks"
    for words in (["init"], ["config", "iterations", "4"]):
        assert gt(*words, at=tmp_path).code == 0
    file = board / "config.yaml"
    edited = file.read_text().replace("iterations: 4", "parallel: 4")
    file.write_text(edited)
    assert "conflict" not in gt("status", at=tmp_path).seen
    git("commit", "--quiet", "--all", "--message", "parallel", at=board)
    assert file.read_text() == edited
    assert git("show", "gitticks/state:config.yaml", at=tmp_path) == edited.rstrip("\n")
    assert git("status", "--short", at=board) == ""


def test_a_change_that_meets_what_was_saved_in_the_same_place_says_so(tmp_path: Path) -> None:
    make_repository(tmp_path)
    assert gt("init", at=tmp_path).code == 0
    file = tmp_path / ".gitticks/config.yaml"
    file.write_text("version: 1\niterations: many\n")
    os.utime(file, (1e9, 1e9))
    ran = gt("config", "iterations", "5", at=tmp_path)
    assert ran.code == 0
    assert "warning: `.gitticks/config.yaml` has changed where you edited it: `gt status`" in ran.err
    assert "not in step: conflict" in gt("status", at=tmp_path).seen
    assert "conflict" not in gt("config", "parallel", "5", at=tmp_path).err
