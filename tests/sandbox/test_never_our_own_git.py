"""What an agent can write into a git directory of its own: it fires where git is called on that, and never by us."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gitticks.errors import GitticksError
from gitticks.git.checkouts import Checkout, changed_paths, checkout_at, current_branch
from gitticks.git.process import GitResult, run_git
from gitticks.git.repository import Repository, discover
from gitticks.git.snapshots import take_snapshot
from gitticks.git.worktrees import add_worktree
from gitticks.model.settings import SandboxPreset, SandboxSettings
from gitticks.runner.verifiers import judge_tree
from gitticks.sandbox import bringing_home
from gitticks.sandbox.enclosure import ClientNeeds, enclosed, take_home
from gitticks.sandbox.private_git import FOLDER
from gitticks.sandbox.walls import walls_of
from tests.support.agents import write_program
from tests.support.repositories import git, make_repository

pytestmark = [pytest.mark.debian("bubblewrap", program="bwrap"), pytest.mark.damages]

BRANCH, KEPT = "gitticks/work/k7f2", "refs/gitticks/kept/work/"
SETTINGS = SandboxSettings(SandboxPreset.STRICT)
COMMIT = "echo two > file; git add -A; git commit -qm work; "


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Returns a repository with a workspace."""
    main = tmp_path / "main"
    make_repository(main)
    (main / "file").write_text("one\n")
    git("add", "-A", at=main)
    git("commit", "-q", "-m", "begin", at=main)
    made = discover(main)
    add_worktree(made, tmp_path / "work", branch=BRANCH, commit=git("rev-parse", "HEAD", at=main).strip())
    return made


@pytest.fixture
def checkout(repository: Repository, tmp_path: Path) -> Checkout:
    """Returns the workspace."""
    return checkout_at(repository, tmp_path / "work")


def inside(repository: Repository, checkout: Checkout, script: str, **variables: str) -> None:
    """Runs a script behind walls, as an agent."""
    walls = walls_of(SETTINGS)
    assert walls is not None
    who = {f"GIT_{role}_{what}": "a@x.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    outer = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **who, **variables}
    with enclosed(walls, repository, checkout, os.environ, client=ClientNeeds()) as enclosure:
        argv = enclosure.around(("/bin/sh", "-c", script))
        subprocess.run(
            argv, env=enclosure.environment(outer), cwd=checkout.path, check=False, capture_output=True
        )


def home(repository: Repository, checkout: Checkout) -> tuple[str, ...]:
    """Takes what was committed, and returns what is said of it."""
    return take_home(repository, checkout, BRANCH, base="develop")


def refs(repository: Repository, below: str = "refs") -> list[str]:
    """Returns the refs outside."""
    return git("for-each-ref", "--format=%(refname)", below, at=repository.common_dir).split()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Returns what git is asked while commits are brought home, as it grows."""
    found: list[list[str]] = []

    def counting(arguments: list[str], *rest: Any, **named: Any) -> GitResult:
        found.append(arguments)
        return run_git(arguments, *rest, **named)

    monkeypatch.setattr(bringing_home, "run_git", counting)
    return found


def fires(fired: Path) -> str:
    """Returns the program of a trap."""
    return f"touch {fired}; false"


TRAPS = {
    "fsmonitor": ('git config core.fsmonitor "$FIRE"', ("status",)),
    "hook": ('h=$PWD/hooks; mkdir -p $h; printf "#!/bin/sh\\n$FIRE" > $h/post-checkout; chmod +x $h/post-checkout; git config core.hooksPath $h', ("checkout", "-q", "-f", BRANCH)),
    "filter": ('git config filter.x.clean "$FIRE"; echo "* filter=x" > .gitattributes; echo x > new', ("add", "-A")),
    "filter in info/attributes": ('git config filter.x.clean "$FIRE"; d=$(git rev-parse --git-dir); mkdir -p $d/info; echo "* filter=x" > $d/info/attributes; echo x > new', ("add", "-A")),
    "process filter": ('git config filter.x.process "$FIRE"; echo "* filter=x" > .gitattributes; echo x > new', ("add", "-A")),
    "textconv": ('git config diff.x.textconv "$FIRE"; echo "* diff=x" > .gitattributes; echo x > file', ("diff",)),
    "external diff": ('git config diff.external "$FIRE"; echo x > file', ("diff",)),
    "merge driver": ('git config merge.x.driver "$FIRE"; echo "* merge=x" > .gitattributes; git add -A; git commit -qm attributes; git checkout -q -b o; echo a > file; git add -A; git commit -qm a; git checkout -q -; echo b > file; git add -A; git commit -qm b', ("-c", "user.name=a", "-c", "user.email=a@x", "merge", "-q", "o")),
    "signing program": ('git config commit.gpgSign true; git config gpg.program "$SCRIPT"', ("-c", "user.name=a", "-c", "user.email=a@x", "commit", "--allow-empty", "-qm", "x")),
    "editor": ('git config core.editor "$FIRE"', ("-c", "user.name=a", "-c", "user.email=a@x", "commit", "--allow-empty")),
    "an included file": ('printf "[core]\\nfsmonitor = $FIRE\\n" > evil; git config include.path "$PWD/evil"', ("status",)),
    "alternate refs": ('git config core.alternateRefsCommand "$FIRE"', ("fetch", "-q", ".")),
    "credential helper": ('git config credential.helper "!$FIRE"', ("credential", "fill")),
    "ssh command": ('git config core.sshCommand "$FIRE"; git config remote.origin.url ssh://example.invalid/x', ("fetch", "-q", "origin")),
    "remote helper": ('git config protocol.ext.allow always; git config remote.origin.url "ext::sh -c $EXT"', ("fetch", "-q", "origin")),
    "upload-pack of a remote": ('git config remote.origin.url .; git config remote.origin.uploadpack "$FIRE"', ("fetch", "-q", "origin")),
}  # fmt: skip


@pytest.mark.parametrize(
    "more",
    [
        "git commit -q --allow-empty -m more",
        "git update-ref refs/heads/other HEAD",
        "git pack-refs --all; git commit -q --allow-empty -m more",
        "git stash -q",
        "d=$(git rev-parse --git-dir); cat $d/refs/heads/other2 > $d/refs/heads/other1",
        "git checkout -q --detach; git commit -q --allow-empty -m more",
    ],
)
def test_what_was_brought_home_is_not_asked_for_again_until_something_changes(
    repository: Repository, checkout: Checkout, calls: list[list[str]], more: str
) -> None:
    def stands() -> str:
        return git("for-each-ref", at=repository.common_dir) + git("rev-parse", "HEAD", at=checkout.path)

    two = "git update-ref refs/heads/other1 HEAD~1; git update-ref refs/heads/other2 HEAD; "
    inside(repository, checkout, f"{COMMIT}{two}echo changed > file")
    home(repository, checkout)
    before, asked = stands(), len(calls)
    assert asked
    assert home(repository, checkout) == ()
    assert len(calls) == asked
    inside(repository, checkout, more)
    home(repository, checkout)
    assert len(calls) > asked
    assert stands() != before


def test_where_something_moved_outside_it_is_asked_again(
    repository: Repository, checkout: Checkout, calls: list[list[str]]
) -> None:
    inside(repository, checkout, COMMIT)
    home(repository, checkout)
    git("update-ref", f"refs/heads/{BRANCH}", "main", at=repository.common_dir)
    asked = len(calls)
    home(repository, checkout)
    assert len(calls) > asked


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_fires_by_a_naive_call_and_not_by_ours(
    repository: Repository, checkout: Checkout, tmp_path: Path, name: str
) -> None:
    plant, naive = TRAPS[name]
    fired, script = tmp_path / "fired", checkout.path / "trap.sh"
    script.write_text(f"#!/bin/sh\n{fires(fired)}\n")
    script.chmod(0o755)
    inside(repository, checkout, f"{COMMIT}{plant}", FIRE=fires(fired), SCRIPT=str(script), EXT=str(script))
    assert not fired.exists()
    home(repository, checkout)
    changed_paths(checkout)
    take_snapshot(checkout)
    judge_tree(repository, *git("rev-parse", "main", BRANCH, at=repository.common_dir).split())
    git("status", at=checkout.path)  # a person, who does not know better
    git("diff", "HEAD", at=checkout.path)
    assert not fired.exists()
    tip = git("log", "-5", "--format=%s", BRANCH, at=repository.common_dir)
    assert "work" in tip
    subprocess.run(
        ["git", f"--git-dir={checkout.git_dir / FOLDER}", f"--work-tree={checkout.path}", *naive],
        cwd=checkout.path,
        input=b"protocol=https\nhost=example.invalid\n\n",
        check=False,
        capture_output=True,
        timeout=60,
    )
    assert fired.exists(), "the trap does not bite, so the test shows nothing"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("b=$(echo x | git hash-object -w --stdin); t=$(printf '100644 blob %s\\t.git\\n' $b | git mktree); git update-ref HEAD $(git commit-tree -m e $t)", "hasDotgit"),
        ("t=$(printf '040000 tree %s\\t..\\n' $(git rev-parse HEAD^{tree}) | git mktree); git update-ref HEAD $(git commit-tree -m e $t)", "hasDotdot"),
        ("printf '[submodule \"a\"]\\n\\tpath = a\\n\\turl = -utouch\\n' > .gitmodules; git add -A; git commit -qm e", "gitmodules"),
        ('h=$(git rev-parse HEAD); seq 201 | sed "s|.*|create refs/heads/flood-& $h|" | git update-ref --stdin', "201 branches"),
        ("rm -rf $(git rev-parse --git-dir)/refs", "git repository"),
        ("d=$(git rev-parse --git-dir); rm $d/HEAD; ln -s /etc/passwd $d/HEAD", ""),
        ("d=$(git rev-parse --git-dir); echo /nowhere > $d/commondir", ""),
        ("d=$(git rev-parse --git-dir); git commit -q --allow-empty -m more; mkfifo $d/refs/heads/pipe", "refs/heads/pipe` is no file"),
        ("d=$(git rev-parse --git-dir); git commit -q --allow-empty -m more; mkfifo pipe; ln -sf $PWD/pipe $d/shallow", "shallow` links to what is outside"),
        ("d=$(git rev-parse --git-dir); git commit -q --allow-empty -m more; mkdir sub; mkfifo sub/pipe; ln -s $PWD/sub $d/refs/heads/sub", "heads/sub` links to what is outside"),
        ("d=$(git rev-parse --git-dir); git commit -q --allow-empty -m more; mkdir sub; mkfifo pipe; ln -s $PWD/sub $d/sub; ln -s ../../sub/../pipe $d/refs/heads/x", "` links to what is outside"),
        ("d=$(git rev-parse --git-dir); git commit -q --allow-empty -m more; ln -s /proc/self/fd/0 $d/refs/heads/in", "refs/heads/in` links to what is outside"),
        ("cd $(git rev-parse --git-dir); git commit -q --allow-empty -m more; n=$(printf %0200d 0); for i in $(seq 30); do mkdir $n && cd $n; done", "cannot be read"),
    ],
)  # fmt: skip
def test_what_is_broken_or_hostile_is_refused_and_nothing_moves(
    repository: Repository, checkout: Checkout, script: str, said: str
) -> None:
    before = git("for-each-ref", at=repository.common_dir)
    inside(repository, checkout, script)
    with pytest.raises(GitticksError) as caught:
        home(repository, checkout)
    assert said in caught.value.message
    assert git("for-each-ref", at=repository.common_dir) == before


def test_other_branches_and_stashes_are_taken_where_the_work_is_refused(
    repository: Repository, checkout: Checkout
) -> None:
    before = git("rev-parse", BRANCH, at=repository.common_dir)
    bad = "printf '[submodule \"a\"]\\n\\tpath = a\\n\\turl = -utouch\\n' > .gitmodules; git add -A; "
    aside = (
        "git switch -qc aside; git commit -q --allow-empty -m aside; git branch -f main; git switch -q -; "
    )
    inside(repository, checkout, f"{aside}echo s > file; git stash -qm s; {bad}git commit -qm bad")
    for said in ("gitmodules.*`main` was changed in the sandbox", "gitmodules"):
        with pytest.raises(GitticksError, match=said):
            home(repository, checkout)
    assert git("log", "-1", "--format=%s", "aside", at=repository.common_dir) == "aside"
    assert [kept.partition(".")[0] for kept in refs(repository, KEPT)] == [
        f"{KEPT}heads/main",
        f"{KEPT}stash",
    ]
    assert refs(repository, "refs/gitticks/incoming") == []
    assert git("rev-parse", BRANCH, at=repository.common_dir) == before
    git("tag", "v1", at=repository.common_dir)  # so that the next session begins anew
    inside(
        repository,
        checkout,
        "git rm -qf --cached .gitmodules; rm .gitmodules; git log -1 --format=%s aside > seen; git add -A; git commit -qm good",
    )
    home(repository, checkout)
    assert git("show", f"{BRANCH}:seen", at=repository.common_dir) == "aside"


def test_a_symbolic_link_in_the_place_of_a_ref_reads_nothing_outside(
    repository: Repository, checkout: Checkout, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text(git("rev-parse", "main", at=repository.common_dir))
    inside(repository, checkout, f"{COMMIT}ln -s {secret} $(git rev-parse --git-dir)/refs/heads/stolen")
    assert "stolen" in git(f"--git-dir={checkout.git_dir / FOLDER}", "for-each-ref", at=checkout.path)
    with pytest.raises(GitticksError, match="heads/stolen` links to what is outside"):
        home(repository, checkout)
    assert "stolen" not in git("for-each-ref", at=repository.common_dir)


def test_what_names_an_option_stays_a_name(
    repository: Repository, checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, fired = "--upload-pack=a-trap", tmp_path / "fired"
    program = write_program(tmp_path / "programs/a-trap", f"touch {fired}")
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    inside(
        repository,
        checkout,
        f"{COMMIT}d=$(git rev-parse --git-dir)/refs/heads; git rev-parse HEAD | tee -- $d/{name} $d/-q $d/'a b'",
    )
    home(repository, checkout)
    assert "work" in git("log", "-1", "--format=%s", BRANCH, at=repository.common_dir)
    assert not fired.exists()
    private = checkout.git_dir / FOLDER
    subprocess.run(["git", "fetch", private, name], cwd=checkout.path, check=False, capture_output=True)
    assert fired.exists()


def test_a_repository_within_the_workspace_is_not_asked(
    repository: Repository, checkout: Checkout, tmp_path: Path
) -> None:
    fired = tmp_path / "fired"
    inside(
        repository,
        checkout,
        f'{COMMIT}git init -q sub; git -C sub config core.fsmonitor "$FIRE"; echo x > sub/x',
        FIRE=fires(fired),
    )
    home(repository, checkout)
    changed_paths(checkout)
    take_snapshot(checkout)
    assert not fired.exists()
    subprocess.run(["git", "status"], cwd=checkout.path / "sub", check=False, capture_output=True)
    assert fired.exists()


def test_other_branches_stay_and_what_was_made_of_them_is_kept(
    repository: Repository, checkout: Checkout
) -> None:
    before = git("rev-parse", "main", at=repository.common_dir)
    inside(
        repository, checkout, f"{COMMIT}git branch -f main HEAD; git branch mine; echo s > file; git stash -q"
    )
    (said,) = home(repository, checkout)
    assert said.startswith("`main` was changed in the sandbox")
    assert git("rev-parse", "main", at=repository.common_dir) == before
    assert "refs/heads/mine" in refs(repository)
    assert [kept.partition(".")[0] for kept in refs(repository, KEPT)] == [
        f"{KEPT}heads/main",
        f"{KEPT}stash",
    ]
    assert home(repository, checkout) == ()


def test_what_was_kept_before_stays_beside_what_is_kept_now(
    repository: Repository, checkout: Checkout
) -> None:
    def stashed(text: str) -> str:
        return f"echo {text} > file; git stash -qm {text}; "

    inside(
        repository, checkout, f"git branch -f main $(git commit-tree -m one HEAD^{{tree}}); {stashed('a')}"
    )
    home(repository, checkout)
    git("tag", "v1", at=repository.common_dir)  # so that the next session begins anew
    two = f"git branch -f main $(git commit-tree -m two HEAD^{{tree}}); {stashed('b')}{stashed('c')}"
    inside(repository, checkout, two)
    home(repository, checkout)
    said = git("for-each-ref", "--format=%(contents:subject)", KEPT, at=repository.common_dir).splitlines()
    assert sorted(words.removeprefix(f"On {BRANCH}: ") for words in said) == ["a", "b", "c", "one", "two"]


@pytest.mark.parametrize(
    "name",
    [
        "origin/new",
        "upstream/new",
        "remotes/x/y",
        "v1.0",
        "HEAD",
        "gitticks/work/m3x1",
        "gitticks/state",
        "refs/heads/main",
        "a1b2c3d",
        "@",
        "release",
        "release/next",
        "develop",
        "trunk",
    ],
)
def test_a_new_branch_whose_name_means_something_else_outside_is_kept_aside(
    repository: Repository, checkout: Checkout, name: str
) -> None:
    # Of `origin` there is none yet: a branch of its name would mean another thing as soon as there is.
    git("config", "remote.upstream.url", "https://example.invalid/x", at=repository.common_dir)
    git("tag", "v1.0", at=repository.common_dir)
    git("update-ref", "refs/remotes/upstream/release", "main", at=repository.common_dir)
    git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk", at=repository.common_dir)
    inside(repository, checkout, f"{COMMIT}git update-ref refs/heads/{name} HEAD; git branch mine")
    (said,) = home(repository, checkout)
    (kept,) = refs(repository, KEPT)
    assert kept == f"{KEPT}heads/{name}.{git('rev-parse', 'mine', at=repository.common_dir)[:10]}"
    assert said == (
        f"`{name}` was made in the sandbox, but its name would mean something else outside: "
        f"what was made of it is at `{kept}`"
    )
    assert "refs/heads/mine" in refs(repository)
    assert f"refs/heads/{name}" not in refs(repository)


@pytest.mark.parametrize(
    ("name", "followed"),
    [("new", True), ("main", False), ("taken", False), ("develop", False), ("gitticks/work/m3x1", False)],
)
def test_a_checkout_without_commits_is_followed_to_a_branch_of_its_own_alone(
    repository: Repository, checkout: Checkout, name: str, *, followed: bool
) -> None:
    git("branch", "taken", at=repository.common_dir)
    inside(
        repository,
        checkout,
        f"git update-ref -d refs/heads/{name}; git symbolic-ref HEAD refs/heads/{name}",
    )
    assert home(repository, checkout) == ()
    assert current_branch(checkout) == (name if followed else BRANCH)


def test_a_branch_that_was_moved_outside_meanwhile_stays(repository: Repository, checkout: Checkout) -> None:
    inside(repository, checkout, COMMIT)
    person = git(
        "commit-tree", "-p", BRANCH, "-m", "by a person", f"{BRANCH}^{{tree}}", at=repository.common_dir
    ).strip()
    git("update-ref", f"refs/heads/{BRANCH}", person, at=repository.common_dir)
    assert "changed in the sandbox" in home(repository, checkout)[0]
    assert git("rev-parse", BRANCH, at=repository.common_dir).strip() == person
    (kept,) = refs(repository, f"{KEPT}heads/gitticks/work")
    assert git("log", "-1", "--format=%s", kept, at=repository.common_dir) == "work"
