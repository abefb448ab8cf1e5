"""What people and agents do by `gt`."""

from __future__ import annotations

from tests.end_to_end.two_clones.ledger import Place
from tests.end_to_end.two_clones.scene import Scene
from tests.support.clones import Clone
from tests.support.tasks import task_ids

_ANSWERS_WHO_ASKS = 0.8
_PEOPLE = ("Ada", "Grace", "null")


def create(scene: Scene, clone: Clone) -> None:
    """Creates a task, now and then an epic."""
    word = scene.ledger.new_word()
    options = scene.dice.choice([(), ("-t", "epic"), ("-p", "0", "-l", "new"), ("--requires", "approval")])
    ran = scene.gt(
        clone, "create", f"Task {word}", "-d", f"About {word}.\n\n## Context\n\nOne line.", *options
    )
    task = ran.out.strip()
    assert ran.code == 0, ran.seen
    scene.tasks.append(task)
    scene.ledger.keep(word, task, Place.FILE)


def note(scene: Scene, clone: Clone) -> None:
    """Adds a note, of a person or of an agent."""
    task, word = scene.task_of(clone), scene.ledger.new_word()
    by = scene.dice.choice([(), ("--from", "agent")])
    scene.acknowledged(scene.gt(clone, "note", task, f"Seen {word}.", *by), word, task, Place.ENTRY)


def change_a_field(scene: Scene, clone: Clone) -> None:
    """Sets one field that people write."""
    task, number = scene.task_of(clone), scene.dice.randrange(100)
    wish = scene.dice.choice(
        [
            ("--title", f"Title {number} of {clone.path.name}"),
            ("-p", str(number % 5)),
            ("--requires", scene.dice.choice(("approval", "review", "content", "null"))),
            ("--reviewer", scene.dice.choice(_PEOPLE)),
            ("--agent", scene.dice.choice(("claude", "codex", "null"))),
            ("--model", f"model-{number}"),
            ("--isolation", scene.dice.choice(("task", "epic", "none", "null"))),
            ("--defer-until", scene.dice.choice(("2099-01-01", "+3d", "null"))),
            ("-t", scene.dice.choice(("task", "epic"))),
        ]
    )
    scene.gt(clone, "update", task, *wish)


def add_label(scene: Scene, clone: Clone) -> None:
    """Adds a label that no task has."""
    task, word = scene.task_of(clone), scene.ledger.new_word()
    scene.acknowledged(scene.gt(clone, "update", task, "-l", f"+{word}"), word, task, Place.LABEL)


def take_label_away(scene: Scene, clone: Clone) -> None:
    """Removes a label that a task has here."""
    task = scene.task_of(clone)
    labels = clone.task(task).labels
    if labels:
        label = scene.dice.choice(labels)
        scene.gt(clone, "update", task, "-l", f"-{label}")
        scene.ledger.release(label)


def link(scene: Scene, clone: Clone) -> None:
    """Sets a parent or a blocker, or takes it away; what makes a cycle is refused."""
    task, other = scene.task_of(clone), scene.task_of(clone)
    match scene.dice.randrange(4):
        case 0:
            scene.gt(clone, "block", task, other)
        case 1:
            scene.gt(clone, "unblock", task, *(clone.task(task).blocked_by[:1] or (other,)))
        case 2:
            scene.gt(clone, "update", task, "--parent", other)
        case _:
            scene.gt(clone, "update", task, "--parent=null")


def ask(scene: Scene, clone: Clone) -> None:
    """Asks a question as an agent, which begins the work if it has to."""
    task, word = scene.task_of(clone), scene.ledger.new_word()
    if clone.task(task).status == "pending":
        scene.gt(clone, "update", task, "--status", "working")
    scene.acknowledged(scene.gt(clone, "ask", task, f"Which {word}?", role="worker"), word, task, Place.ENTRY)


def respond(scene: Scene, clone: Clone) -> None:
    """Answers a task's question, of whichever task has one."""
    word = scene.ledger.new_word()
    asking = [task for task in scene.tasks if awaits(clone, task, "input")]
    task = scene.dice.choice(asking) if asking else scene.task_of(clone)
    scene.acknowledged(scene.gt(clone, "respond", task, f"This {word}."), word, task, Place.ENTRY)


def hand_off(scene: Scene, clone: Clone) -> None:
    """Writes a hand-off in the place of the one that stands there, and asks for the review."""
    task, word = scene.task_of(clone), scene.ledger.new_word()
    if clone.task(task).status == "pending":
        scene.gt(clone, "update", task, "--status", "working")
    replaced = clone.file(task).frontmatter.text + clone.file(task).body.text
    if not scene.acknowledged(
        scene.gt(clone, "handoff", task, "--done", f"Done {word}"), word, task, Place.FOLDER
    ):
        return
    for kept in list(scene.ledger.words.values()):
        if kept.task == task and kept.place is Place.FOLDER and kept.word in replaced:
            scene.ledger.release(kept.word)
    scene.gt(clone, "update", task, "--status", "agent-review")


def decide(scene: Scene, clone: Clone) -> None:
    """Gives a verdict, or moves a task in another way, whether it is allowed or not."""
    task, word = scene.task_of(clone), scene.ledger.new_word()
    waiting = [one for one in scene.tasks if awaits(clone, one)]
    asked = scene.dice.choice(waiting) if waiting and scene.dice.random() < _ANSWERS_WHO_ASKS else task
    words = scene.dice.choice(
        [
            ("approve", asked, f"Good {word}."),
            ("reject", asked, f"Bad {word}."),
            ("approve", asked),
            ("cancel", task, "no longer"),
            ("reopen", task),
            ("close", task, "by hand"),
            ("update", task, "--status", "working"),
            ("update", task, "--status", "stuck"),
            ("update", task, "--awaiting", scene.dice.choice(("work", "input", "review", "escalation"))),
            ("update", task, "--awaiting=null"),
            ("defer", task, "+1d"),
        ]
    )
    ran = scene.gt(clone, *words)
    if word in words[-1]:
        scene.acknowledged(ran, word, asked, Place.FOLDER if words[0] == "reject" else Place.FILE)


def configure(scene: Scene, clone: Clone) -> None:
    """Sets something for the whole team."""
    key = scene.dice.choice(("parallel", "iterations", "review_limit", "limits.in_review"))
    scene.gt(clone, "config", key, str(scene.dice.randint(1, 9)))


def look(scene: Scene, clone: Clone) -> None:
    """Looks, which takes up what was saved."""
    scene.gt(clone, scene.dice.choice(("status", "list", "next", "inbox")))


def sync(scene: Scene, clone: Clone) -> None:
    """Shares; out of reach of the remote that is no failure."""
    ran = scene.gt(clone, "sync")
    assert ran.code == 0, ran.seen
    assert ("cannot be reached" in ran.out) == (clone.path in scene.offline), ran.seen


def lose_the_line(scene: Scene, clone: Clone) -> None:
    """Loses the remote for some time."""
    if clone.path not in scene.offline:
        scene.say(clone, "is offline")
        scene.go_offline(clone, scene.dice.randint(2, 12))


def awaits(clone: Clone, task: str, kind: str | None = None) -> bool:
    """True if a task awaits that kind of answer here, or any."""
    if task not in task_ids(clone.store):
        return False
    found = clone.task(task).awaiting
    return found == kind if kind else found is not None
