"""What people do on the board by plain git."""

from __future__ import annotations

from tests.end_to_end.two_clones import by_hand
from tests.end_to_end.two_clones.ledger import Place
from tests.end_to_end.two_clones.scene import STATE, Scene
from tests.support.clones import Clone
from tests.support.repositories import git, run_git_command

_LOOKS_FIRST = 0.3


def commit(scene: Scene, clone: Clone) -> None:
    """Commits whatever is edited."""
    by_hand.commit(scene, clone)


def fetch(scene: Scene, clone: Clone) -> None:
    """Fetches alone."""
    scene.git(clone, "fetch", "--quiet", "origin")


def push(scene: Scene, clone: Clone) -> None:
    """Pushes, which others may have done before."""
    scene.git(clone, "push", "--quiet", "origin", STATE)


def pull(scene: Scene, clone: Clone) -> None:
    """Pulls by a merge, and concludes or gives up what stopped."""
    if scene.git(clone, "pull", "--no-rebase", "--no-edit", "origin", STATE).returncode:
        conclude_merge(scene, clone)


def pull_by_rebase(scene: Scene, clone: Clone) -> None:
    """Pulls by a rebase, and gives up one that stopped."""
    if scene.git(clone, "pull", "--rebase", "origin", STATE).returncode and _is_rebasing(clone):
        assert scene.git(clone, "rebase", "--abort").returncode == 0


def cherry_pick(scene: Scene, clone: Clone) -> None:
    """Picks one commit of the other clone that was pushed and is not here."""
    listed = git(
        "rev-list", "--no-merges", "--cherry-pick", "--right-only", f"{STATE}...origin/{STATE}", at=clone.path
    ).split()
    if not listed:
        return
    done = scene.git(clone, "cherry-pick", scene.dice.choice(listed))
    if done.returncode and (clone.path / ".git/worktrees/-gitticks/CHERRY_PICK_HEAD").exists():
        assert scene.git(clone, "cherry-pick", "--abort").returncode == 0


def revert(scene: Scene, clone: Clone) -> None:
    """Commits an edit and takes it back by a revert."""
    if clone.board_status():
        return
    task, word = scene.task_of(clone), scene.ledger.new_word()
    file = clone.board_file(task)
    file.write_text(file.read_text().replace("\nstatus:", f"\nx-{word}: 1\nstatus:", 1))
    if not by_hand.commit(scene, clone):
        assert scene.git(clone, "checkout", "--", str(file.relative_to(clone.board))).returncode == 0
        return
    made = git("log", "--format=%H", "-n1", "--grep=^by hand$", STATE, at=clone.path)
    if scene.git(clone, "revert", "--no-edit", made).returncode:
        scene.git(clone, "revert", "--abort")
        scene.ledger.keep(word, task, Place.KEY)


def amend(scene: Scene, clone: Clone) -> None:
    """Amends the newest commit with what is edited, where nobody else has it."""
    shared = git("branch", "--remotes", "--contains", STATE, at=clone.path)
    if not shared and clone.board_status():
        scene.git(clone, "commit", "--quiet", "--amend", "--no-edit", "-a")


def stash(scene: Scene, clone: Clone) -> None:
    """Puts what is edited aside and takes it back, before or after a look at what is new."""
    if not clone.board_status() or scene.git(clone, "stash", "push", "--include-untracked").returncode:
        return
    if scene.dice.random() < _LOOKS_FIRST:
        pull(scene, clone)
    take_back(scene, clone)


def take_back(scene: Scene, clone: Clone) -> None:
    """Takes back what lies aside; what it hits is joined by the doctor."""
    if git("stash", "list", at=clone.board) and scene.git(clone, "stash", "pop").returncode:
        scene.gt(clone, "doctor", "--fix")
        scene.git(clone, "add", "--all")


def forget_the_driver(scene: Scene, clone: Clone) -> None:
    """Takes our merge driver away and pulls, so that git joins tasks by lines; the doctor brings it back."""
    scene.git(clone, "config", "--remove-section", "merge.gitticks")
    pull(scene, clone)
    scene.gt(clone, "doctor", "--fix")


def conclude_merge(scene: Scene, clone: Clone) -> None:
    """Lets the doctor join what git could not, chooses settings that both set, and commits; else gives the merge up."""
    if not clone.is_merging:
        return
    scene.gt(clone, "doctor", "--fix")
    if "config.yaml" in git("diff", "--name-only", "--diff-filter=U", at=clone.board):
        assert scene.git(clone, "checkout", "--theirs", "--", "config.yaml").returncode == 0
        assert scene.git(clone, "add", "config.yaml").returncode == 0
    if scene.git(clone, "commit", "--quiet", "--no-edit").returncode:
        _give_up_edits(scene, clone)
        assert scene.git(clone, "merge", "--abort").returncode == 0


def _give_up_edits(scene: Scene, clone: Clone) -> None:
    """Forgets what is only saved in files that wait to be merged: giving up a merge gives that up, as git says."""
    for kept in list(scene.ledger.words.values()):
        if _has(clone, kept.word) and not _has(clone, kept.word, STATE):
            scene.ledger.release(kept.word)


def _has(clone: Clone, word: str, *where: str) -> bool:
    return run_git_command("grep", "--quiet", "-e", word, *where, at=clone.board).returncode == 0


def _is_rebasing(clone: Clone) -> bool:
    here = clone.path / ".git/worktrees/-gitticks"
    return (here / "rebase-merge").exists() or (here / "rebase-apply").exists()
