"""The state branch as a whole: foreign things in it, tasks twice and in wrong places, and its history changed by hand."""

from __future__ import annotations

from tests.faults.corruptions.corruption import Corruption, Reach, variants
from tests.faults.scene import NEIGHBOUR, OTHER, STATE, VICTIM, Scene

HEAD = b"---\nid: %s\ntitle: Another\nstatus: pending\n---\n"
LINK, SUBMODULE = "120000", "160000"


def _foreign_file(scene: Scene, path: str) -> None:
    scene.commit_files({path: b"foreign\n"})


def _entry(scene: Scene, case: tuple[str, str]) -> None:
    """Puts a link or a submodule where gitticks expects a file or a folder."""
    mode, path = case
    name = scene.git("rev-parse", "main") if mode == SUBMODULE else scene.put_blob(b"/etc/passwd")
    tree = scene.git("rev-parse", f"{STATE}^{{tree}}")
    scene.put_commit(
        _replaced(scene, tree, path.split("/"), f"{mode} {'commit' if mode == SUBMODULE else 'blob'} {name}")
    )


def _replaced(scene: Scene, tree: str, path: list[str], entry: str) -> str:
    """Returns the tree with one entry replaced, whatever git would say of its name or mode."""
    name, *rest = path
    lines = [line for line in scene.git("ls-tree", "-z", tree).split("\0") if line]
    inner = next((line for line in lines if line.endswith(f"\t{name}")), None)
    if rest:
        below = inner.split()[2] if inner is not None else scene.git("mktree", input="")
        entry = f"040000 tree {_replaced(scene, below, rest, entry)}"
    kept = [line for line in lines if not line.endswith(f"\t{name}")]
    made = "\0".join([*kept, f"{entry}\t{name}", ""])
    return scene.git("mktree", "-z", "--missing", input=made)


def _odd_tree(scene: Scene, case: tuple[str, str]) -> None:
    """Writes a tree that git itself would not make, with an entry of that mode and name beside the tasks."""
    mode, name = case
    blob = scene.put_blob(HEAD % b"k7f2")
    top = scene.git("rev-parse", f"{STATE}^{{tree}}")
    lines = scene.git("ls-tree", top).splitlines()
    raw = bytearray()
    for line in lines:
        about, _, path = line.partition("\t")
        raw += f"{about.split()[0].lstrip('0')} {path}".encode() + b"\0" + bytes.fromhex(about.split()[2])
    raw += f"{mode} {name}".encode("utf-8", "surrogateescape") + b"\0" + bytes.fromhex(blob)
    (scene.spare / "tree").write_bytes(bytes(raw))
    tree = scene.git("hash-object", "-t", "tree", "--literally", "-w", str(scene.spare / "tree"))
    scene.put_commit(tree)


def _second(scene: Scene, path: str) -> None:
    scene.commit_files({path: HEAD % VICTIM.encode()})


def _moved(scene: Scene, folder: str) -> None:
    content = scene.git("show", f"{STATE}:tasks/f2/{VICTIM}/TASK.md").encode() + b"\n"
    history = scene.git("show", f"{STATE}:tasks/f2/{VICTIM}/history.jsonl").encode() + b"\n"
    old = f"tasks/f2/{VICTIM}"
    scene.commit_files(
        {
            f"{old}/TASK.md": None,
            f"{old}/history.jsonl": None,
            f"{folder}/TASK.md": content,
            f"{folder}/history.jsonl": history,
        }
    )


def _cycle(scene: Scene, field: str) -> None:
    for one, other in ((VICTIM, NEIGHBOUR), (NEIGHBOUR, VICTIM)):
        text = scene.git("show", f"{STATE}:tasks/f2/{one}/TASK.md")
        value = other if field == "parent" else f"[{other}]"
        kind = "type: epic\n" if field == "parent" else ""
        changed = text.replace("status: pending\n", f"status: pending\n{kind}{field}: {value}\n")
        scene.commit_files({f"tasks/f2/{one}/TASK.md": changed.encode() + b"\n"})


def _rewound(scene: Scene, to: str) -> None:
    scene.git("update-ref", STATE, f"{STATE}{to}")


def _rewritten(scene: Scene, _: object) -> None:
    """Says the same in another root commit, as a filter of the whole history does."""
    scene.put_commit(scene.git("rev-parse", f"{STATE}^{{tree}}"), None)


def _rewritten_parents(scene: Scene, parent: str) -> None:
    scene.put_commit(scene.git("rev-parse", f"{STATE}^{{tree}}"), scene.git("rev-parse", parent))


def _emptied(scene: Scene, _: object) -> None:
    scene.put_commit(scene.git("mktree", input=""))


def _removed(scene: Scene, paths: tuple[str, ...]) -> None:
    scene.commit_files(dict.fromkeys(paths))


def _orphaned(scene: Scene, _: object) -> None:
    """Puts code where the tasks were, as a person does who pushed the wrong branch."""
    scene.commit_files({"main.py": b"print(1)\n", "tasks": b"a file\n"}, parent=None)


def _replace_ref(scene: Scene, _: object) -> None:
    scene.git("replace", f"{STATE}", "main")


def _grafted(scene: Scene, content: str) -> None:
    (scene.git_dir / "shallow").write_text(content.format(tip=scene.tip), encoding="ascii")


FOREIGN = (
    "README.md",
    "tasks/README.md",
    "tasks/f2/README.md",
    f"tasks/f2/{VICTIM}/notes/deep/down.txt",
    "src/main.py",
    "tasks/f2/k7f2.orig/TASK.md.orig",
    "-rf",
    "a\nb",
    "tasks/f2/UPPER/other.md",
    "CON",
    "x" * 250,
)
FOREIGN_TASKS = (
    "tasks/TASK.md",
    "tasks/f2/TASK.md",
    "tasks/f2/UPPER/TASK.md",
    "tasks/f2/-rf/TASK.md",
    "tasks/f2/a b/TASK.md",
    "tasks/f2/k7f2/TASK.md/TASK.md",
)
ENTRIES = [
    (mode, path)
    for mode in (LINK, SUBMODULE)
    for path in (
        f"tasks/f2/{VICTIM}/TASK.md",
        f"tasks/f2/{VICTIM}",
        f"tasks/f2/{VICTIM}/history.jsonl",
    )
]
WORKLOGS = [(mode, f"tasks/f2/{VICTIM}/worklog.md") for mode in (LINK, SUBMODULE)]
TOP_ENTRIES = [
    (mode, path)
    for mode in (LINK, SUBMODULE)
    for path in ("tasks", "config.yaml", "tasks/f2", "prompts", ".gitattributes")
]
ODD_TREES = (
    ("100644", ".."),
    ("100644", "."),
    ("100644", ".git"),
    ("40000", "zz"),
    ("100644", "a/b"),
    ("100644", "tasks"),
    ("777", "zz"),
    ("100664", "zz"),
    ("100644", "z\udcff"),
    ("100644", ""),
)
ANSWERS, OTHERS = Reach.ANSWERS, Reach.OTHERS

CORRUPTIONS: tuple[Corruption, ...] = (
    *variants("foreign file", _foreign_file, FOREIGN),
    *variants("foreign template", _foreign_file, ("prompts/unknown.md",), ANSWERS),  # nobody trusted it yet
    *variants("foreign task", _foreign_file, FOREIGN_TASKS[:2], finding="the board is behind"),
    *variants("foreign task", _foreign_file, FOREIGN_TASKS[2:5], finding="TASK.md"),
    *variants("foreign entry", _entry, ENTRIES, OTHERS, VICTIM, can_be_fixed=False),
    *variants("foreign worklog", _entry, WORKLOGS, OTHERS, can_be_fixed=False),
    *variants("foreign top entry", _entry, TOP_ENTRIES, ANSWERS, can_be_fixed=False),
    *variants("odd tree", _odd_tree, ODD_TREES, ANSWERS, can_be_fixed=False),
    *variants(
        "id twice",
        _second,
        (f"tasks/xx/{VICTIM}/TASK.md",),
        ANSWERS,
        "TASK.md",
    ),
    *variants(  # only a person can tell which of file and folder has the right one
        "id of another",
        _second,
        (f"tasks/f2/{NEIGHBOUR}/TASK.md", "tasks/0a/zz0a/TASK.md"),
        ANSWERS,
        "TASK.md",
        can_be_fixed=False,
    ),
    *variants(
        "folder moved",
        _moved,
        (f"tasks/xx/{VICTIM}", "tasks/f2/wrong", f"tasks/{VICTIM}", f"{VICTIM}"),
        OTHERS,
    ),
    *variants("cycle", _cycle, ("blocked_by", "parent"), ANSWERS, "cycle"),
    *variants("rewound", _rewound, ("~1",), ANSWERS, "the state branch was rewound"),
    *variants("rewritten", _rewritten, ("as a new root",)),
    *variants("rewritten", _rewritten_parents, ("main", f"{STATE}~1")),
    *variants("emptied", _emptied, ("no file left",), ANSWERS),
    *variants(
        "removed", _removed, (("config.yaml",), (".gitattributes",), ("config.yaml", ".gitattributes"))
    ),
    *variants(
        "removed task",
        _removed,
        ((f"tasks/f2/{VICTIM}/TASK.md",), (f"tasks/f2/{VICTIM}/TASK.md", f"tasks/f2/{VICTIM}/history.jsonl")),
        OTHERS,
    ),
    *variants("orphaned", _orphaned, ("code instead of tasks",), ANSWERS, STATE),
    *variants("replaced", _replace_ref, ("by refs/replace",), ANSWERS),
    *variants("shallow", _grafted, ("{tip}\n", "garbage\n", ""), ANSWERS),
)
__all__ = ["CORRUPTIONS", "OTHER"]
