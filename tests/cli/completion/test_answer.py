from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.agents.registry import Registry
from gitticks.board.place import create_board
from gitticks.cli.completion.offers import KNOWN_AGENTS, MOST_OFFERED, Offer, offers
from gitticks.model.ids import TaskId
from gitticks.store.transaction import Transaction
from tests.cli.support import gt, gt_process
from tests.support.checkpoints import make_checkpoint
from tests.support.projects import make_project
from tests.support.repositories import git, make_repository
from tests.support.stores import ADA, change_task, make_queue, put_task, write_task_file
from tests.support.tasks import make_store, make_task


def offered(at: Path, line: str, by: str = "zsh", **environment: str) -> list[str]:
    ran = gt_process(*line.split(" "), at=at, environment={"_GT_COMPLETE": by, **environment})
    assert (ran.code, ran.err) == (0, "")
    return ran.out.splitlines()


def words(lines: list[str]) -> list[str]:
    return [line.partition("\t")[0] for line in lines]


def test_ids_come_in_the_order_of_work_and_closed_ones_last(tmp_path: Path) -> None:
    make_queue(tmp_path)
    assert words(offered(tmp_path, "show ")) == ["r3vw", "k7f2", "b1kd", "c0de", "e0pc", "m3xq", "d3fr"]
    assert offered(tmp_path, "show d") == ["d3fr\tThank the testers", "d0ne\tSay hello"]


def test_of_very_many_the_first_are_offered_and_what_all_ids_have_in_common_stays(tmp_path: Path) -> None:
    tasks = [make_task(f"proj-{number:03}") for number in range(MOST_OFFERED + 20)]
    early, late = replace(tasks[-1], id=TaskId("proj"), priority=4), replace(tasks[50], priority=0)
    make_store(tmp_path, [*tasks[:50], late, *tasks[51:], early])
    found = words(offered(tmp_path, "show "))
    assert found[:3] == ["proj-050", "proj-000", "proj-001"]
    assert found[-2:] == [f"proj-{MOST_OFFERED + 19}", "proj"]
    assert len(found) == MOST_OFFERED + 2
    assert len(offered(tmp_path, "show proj-")) == MOST_OFFERED + 20


def test_commands_offer_what_they_can_be_used_on(tmp_path: Path) -> None:
    make_queue(tmp_path)
    assert offered(tmp_path, "approve ") == [
        "r3vw\treview: Faster start",
        "m3xq\tinput: Rename the error page",
    ]
    assert offered(tmp_path, "reopen ") == ["d0ne\tSay hello"]
    assert offered(tmp_path, "reopen k") == []


def test_an_id_that_stands_on_the_line_is_not_offered_again(tmp_path: Path) -> None:
    make_queue(tmp_path)
    assert words(offered(tmp_path, "approve r3vw ")) == ["m3xq"]
    assert words(offered(tmp_path, "approve r3vw m3xq ")) == []
    assert words(offered(tmp_path, "run k7f2 k")) == []


def test_workspaces_are_those_that_there_are(tmp_path: Path) -> None:
    make_queue(tmp_path)
    git("worktree", "add", "--quiet", "-b", "gitticks/work/k7f2", ".gitticks-work/k7f2", at=tmp_path)
    assert words(offered(tmp_path, "worktree clean ")) == ["k7f2"]
    assert offered(tmp_path, "worktree clean k7f2 ") == []


def test_a_guide_is_offered_by_its_name_else_by_a_word_of_it() -> None:
    def found(typed: str) -> list[str]:
        return [one.word for one in offers(Context(), "topic", typed) or ()]

    assert found("review-") == ["review-by-a-council"]
    assert found("coun") == ["council"]
    assert found("nonesuch") == []


def test_words_that_tasks_use(tmp_path: Path) -> None:
    store = make_queue(tmp_path)
    change_task(store, "b1kd", labels=("web", "odd\nlabel", "a,b"))
    assert offered(tmp_path, "list --label ") == ["web\t", "auth\t"]
    assert offered(tmp_path, "create x --label=web,") == ["--label=web,auth\t"]
    assert offered(tmp_path, "list --reviewer G") == ["Grace\t"]
    assert offered(tmp_path, "list --agent co") == ["codex\t"]


def test_the_known_agents_are_all_and_those_of_the_settings_come_too(tmp_path: Path) -> None:
    store = make_queue(tmp_path)
    create_board(store.repository)
    assert Registry().names == KNOWN_AGENTS
    assert gt("config", "agents.mine.argv", "[./agent.sh]", at=tmp_path).code == 0
    assert offered(tmp_path, "run --agent m") == ["mine\t"]


def test_statuses_and_kinds_tell_what_they_mean(tmp_path: Path) -> None:
    assert offered(tmp_path, "list --status=pend") == ["--status=pending\tnot started"]
    assert offered(tmp_path, "list --status open,in_r") == ["open,in_review\ta phase"]
    assert offered(tmp_path, "next --awaiting review,r") == []
    assert offered(tmp_path, "next --awaiting review,c") == [
        "review,content\ttexts or designs need a review",
        "review,checkpoint\ta phase is finished, and the next one may need direction",
    ]
    assert offered(tmp_path, "update k --status re") == [
        "reviewing\treviewed; a person decides, or the merge is pending"
    ]


def test_commands_and_flags_and_settings(tmp_path: Path) -> None:
    assert words(offered(tmp_path, "compl")) == ["completion", "complete"]
    assert offered(tmp_path, "worktree c") == ["clean\t"]
    assert "--no-wait\tLeave the merge to a run or to `gt merge`." in offered(tmp_path, "approve k --")
    assert offered(tmp_path, "config verify.t")[0].startswith("verify.test\t")
    assert "hook\t" not in " ".join(offered(tmp_path, "h"))


def test_files_are_left_to_the_shell(tmp_path: Path) -> None:
    assert offered(tmp_path, "export -o ") == ["\tfile"]
    assert offered(tmp_path, "export --output=x", by="bash") == ["\tfile"]
    assert offered(tmp_path, "-C sr") == ["\tfolder"]


def test_a_home_folder_is_known_as_it_is_typed(tmp_path: Path) -> None:
    make_queue(tmp_path / "project")
    (tmp_path / "elsewhere").mkdir()
    found = offered(tmp_path / "elsewhere", "-C ~/project show k", HOME=str(tmp_path))
    assert words(found) == ["k7f2"]


def test_checkpoints_are_those_that_there_are(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    project.make("k7f2")
    make_checkpoint(project, "k7f2", 3, head=git("rev-parse", "HEAD", at=tmp_path))
    assert offered(tmp_path, "resume k") == ["k7f2-3\tLogin loses the return URL"]


def test_bash_takes_a_flag_and_its_value_for_three_words(tmp_path: Path) -> None:
    def by_bash(line: str) -> list[str]:
        return words(offered(tmp_path, line, by="bash"))

    assert by_bash("list --status = pending,wor") == ["pending,working"]
    assert by_bash("list --status =")[0] == "pending"
    assert by_bash("list --status=wor") == ["--status=working"]


def test_bash_takes_what_a_colon_is_in_for_several_words(tmp_path: Path) -> None:
    store = make_queue(tmp_path)
    change_task(store, "b1kd", labels=("area:ui", "area::it"))

    def by_bash(line: str) -> list[str]:
        return words(offered(tmp_path, line, by="bash"))

    assert by_bash("list --label are") == ["area::it", "area:ui"]
    assert by_bash("list --label area : u") == ["ui"]
    assert by_bash("list --label = area ::") == ["it"]
    assert by_bash("list -l = web,area : u") == ["ui"]
    assert by_bash("list --label=area:u") == ["--label=area:ui"]


def test_bash_lists_words_with_their_meanings_and_inserts_them_without(tmp_path: Path) -> None:
    store = make_queue(tmp_path)
    change_task(store, "d0ne", labels=("needs work", "needs 1% more"))
    assert words(offered(tmp_path, "show d", by="bash", COMP_TYPE="9")) == ["d3fr", "d0ne"]
    assert offered(tmp_path, "show d", by="bash", COMP_TYPE="63", COLUMNS="16") == [
        "d3fr  Thank th…\t",
        "d0ne  Say hello\t",
    ]
    assert offered(tmp_path, "show d3", by="bash", COMP_TYPE="63") == ["d3fr\tThank the testers"]
    assert offered(tmp_path, "show d3", COLUMNS="20") == ["d3fr\tThank the te…"]
    assert offered(tmp_path, "show d3", COLUMNS="9") == ["d3fr\t"]
    assert offered(tmp_path, "list --label n", by="bash") == ["needs\\ 1%\\ more\t", "needs\\ work\t"]
    ran = gt_process("list", "--label", "needs\\ w", at=tmp_path, environment={"_GT_COMPLETE": "bash"})
    assert ran.out == "needs\\ work\t\n"


def test_nothing_of_a_title_reaches_the_shell_but_what_can_be_seen(tmp_path: Path) -> None:
    store = make_queue(tmp_path)

    def put(transaction: Transaction) -> None:
        put_task(transaction, "a\tb\nc \x1b[2J \u202e z", id="h0st")

    store.transact(put, author=ADA)
    write_task_file(store, "br0k", "---\nid: br0k\ntitle: [\n---\n")
    assert offered(tmp_path, "show h") == ["h0st\ta\\tb\\nc \\x1b[2J \\u202e z"]


@pytest.mark.parametrize("place", ["bare", "empty"])
def test_where_there_are_no_tasks_there_is_nothing_to_offer_and_no_error(tmp_path: Path, place: str) -> None:
    at = make_repository(tmp_path / "r") if place == "bare" else tmp_path
    for line in ("show k", "list --label ", "approve ", "list --reviewer "):
        assert offered(at, line) == []


def test_kinds_that_need_no_tasks() -> None:
    assert offers(Context(), "click", "") is None
    assert offers(Context(), "-", "x") == []
    assert offers(Context(), "one|two", "t") == [Offer("two")]
