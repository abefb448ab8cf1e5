"""Rules about the trees that agents hand off: what is refused, and what a person should look at first.

Refused is what can reach out of the checkout or run something as soon as git fills it. Named first is what may be well
meant but acts beyond its text: links, submodules, modes, and files that programs of the reviewer's run by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from gitticks.model.tree_change import (
    EXECUTABLE,
    LINK,
    SUBMODULE,
    TreeChange,
    is_taken_for_git,
    taken_for,
)

MODULES = ".gitmodules"
_READ_BY_GIT = frozenset({MODULES, ".gitattributes", ".gitignore", ".mailmap"})
_HELPER = re.compile(r"[A-Za-z0-9+.-]+::")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]|%0[ad]", re.IGNORECASE)

_RUNS_BY_NAME: Mapping[str, str] = {
    **dict.fromkeys((".envrc", ".env", ".mise.toml", "mise.toml", ".tool-versions"), "is read by your shell"),
    **dict.fromkeys(
        ("makefile", "gnumakefile", "justfile", "taskfile.yml", "taskfile.yaml", "rakefile", "build.rs"),
        "runs when you build",
    ),
    **dict.fromkeys(
        ("package.json", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnp.cjs", "setup.py", "pyproject.toml"),
        "runs when you install",
    ),
    **dict.fromkeys(("conftest.py", "tox.ini", "noxfile.py", "sitecustomize.py"), "runs with your tests"),
    **dict.fromkeys(
        (
            "build.gradle",
            "build.gradle.kts",
            "pom.xml",
            "flake.nix",
            "shell.nix",
            "build.sbt",
            "build.zig",
            "cmakelists.txt",
            "compose.yaml",
            "compose.yml",
            "docker-compose.yaml",
            "docker-compose.yml",
            "dockerfile",
            "gemfile",
            "gruntfile.js",
            "gulpfile.js",
            "package.swift",
            "vagrantfile",
        ),
        "runs when you build",
    ),
    **dict.fromkeys(
        (".gdbinit", ".lldbinit", "eslint.config.js", "eslint.config.mjs"),
        "is read by your editor or debugger",
    ),
    "allowed_signers": "says whose approvals count",
    **dict.fromkeys(
        (".pre-commit-config.yaml", ".lefthook.yml", "lefthook.yml", ".gitattributes"), "is acted on by git"
    ),
    **dict.fromkeys((".gitlab-ci.yml", "jenkinsfile", "azure-pipelines.yml"), "runs in CI"),
    **dict.fromkeys(("agents.md", "claude.md", "gemini.md", ".mcp.json"), "steers agents"),
}
_RUNS_BY_FOLDER: Mapping[str, str] = {
    **dict.fromkeys((".vscode", ".idea", ".zed", ".devcontainer", ".vim", ".nvim"), "is read by your editor"),
    **dict.fromkeys((".husky", ".githooks", "githooks", "hooks"), "may be a hook"),
    ".cargo": "is read when you build",
    **dict.fromkeys((".circleci", ".buildkite", ".woodpecker"), "runs in CI"),
    **dict.fromkeys((".claude", ".codex", ".gemini", ".cursor", ".opencode"), "steers agents"),
}


class Remark(NamedTuple):
    """A path, and what there is to say about it."""

    path: str
    why: str


def refusals(changes: Iterable[TreeChange]) -> tuple[Remark, ...]:
    """Returns what keeps a tree from being merged, in the order of the changes; empty if nothing does."""
    return tuple(Remark(one.path, why) for one in changes if not one.is_removed for why in _refused(one))


def look_first(changes: Iterable[TreeChange], signers: str | None = None) -> tuple[Remark, ...]:
    """Returns what a person should look at before the rest: first what is refused, then what acts beyond its text.

    `signers` is the path of the file that lists whose approvals count.
    """
    kept = tuple(changes)
    refused = tuple(Remark(one.path, f"refused: {one.why}") for one in refusals(kept))
    known = {one.path for one in refused}
    return refused + tuple(
        Remark(one.path, why) for one in kept if one.path not in known for why in _acts(one, signers)
    )


def _refused(change: TreeChange) -> Iterator[str]:
    words = change.path.split("/")
    if any(is_taken_for_git(word) for word in words):
        yield "the path is taken for git's own folder by some systems"
    elif any(word in ("", ".", "..") for word in words):
        yield "the path leads out of its folder"
    name = taken_for(words[-1])
    if name in _READ_BY_GIT and words[-1] != name:
        yield f"the path is taken for `{name}` by some systems"
    if change.new_mode == LINK:
        yield from _refused_link(change, name)
    elif change.path == MODULES:
        yield from _refused_modules(change.settings)


def _refused_link(change: TreeChange, name: str) -> Iterator[str]:
    target = change.target or ""
    words = [word for word in target.split("/") if word not in ("", ".")]
    climbs = 0
    while climbs < len(words) and words[climbs] == "..":
        climbs += 1
    if name in _READ_BY_GIT:
        yield "git reads this file, and it is a symbolic link"
    elif target.startswith("/") or re.match(r"[A-Za-z]:|\\", target) or climbs > change.path.count("/"):
        yield f"the symbolic link leads out of the tree, to `{target}`"
    elif any(is_taken_for_git(word) for word in words):
        yield f"the symbolic link leads into git's own folder, to `{target}`"
    elif ".." in words[climbs:] or "\\" in target:
        yield f"it cannot be determined where the symbolic link leads, to `{target}`"


def _refused_modules(settings: tuple[tuple[str, str], ...] | None) -> Iterator[str]:
    if settings is None:
        yield "git cannot read it"
        return
    for key, value in settings:
        first, _, rest = key.partition(".")
        name, _, last = rest.rpartition(".")
        if first != "submodule" or not name:
            continue
        if name.startswith("-") or ".." in re.split(r"[/\\]", name) or _CONTROL.search(name):
            yield f"the submodule's name `{name}` leads out of git's folder"
        elif last == "update" and value.lstrip().startswith("!"):
            yield f"`update = {value}` of the submodule `{name}` is a command"
        elif last == "url" and (value.startswith("-") or _HELPER.match(value) or _CONTROL.search(value)):
            yield f"`url = {value}` of the submodule `{name}` can run a command"
        elif last == "path" and (value.startswith("-") or _leads_out(value)):
            yield f"`path = {value}` of the submodule `{name}` leads out of the tree"


def _leads_out(path: str) -> bool:
    words = re.split(r"[/\\]", path)
    return words[0] == "" or ".." in words or any(map(is_taken_for_git, words)) or bool(_CONTROL.search(path))


def _acts(change: TreeChange, signers: str | None) -> Iterator[str]:
    if change.new_mode == LINK:
        yield f"symbolic link to `{change.target}`"
    elif SUBMODULE in (change.old_mode, change.new_mode):
        yield "submodule removed" if change.is_removed else "submodule"
    elif change.old_mode == LINK:
        yield "was a symbolic link"
    elif change.path == MODULES:
        yield "names the submodules"
    else:
        reason = _RUNS_BY_NAME["allowed_signers"] if change.path == signers else _runs(change.path)
        mode = _mode_words(change)
        if reason or mode:
            yield ", ".join(word for word in (reason, mode) if word)


def _runs(path: str) -> str:
    words = path.lower().split("/")
    if path.startswith(".github/") and words[1] in ("workflows", "actions"):
        return "runs in CI"
    by_folder = next((_RUNS_BY_FOLDER[word] for word in words[:-1] if word in _RUNS_BY_FOLDER), "")
    return _RUNS_BY_NAME.get(words[-1], by_folder)


def _mode_words(change: TreeChange) -> str:
    if change.is_removed or EXECUTABLE not in (change.old_mode, change.new_mode):
        return ""
    if change.old_mode == change.new_mode:
        return ""
    return "executable" if change.new_mode == EXECUTABLE else "no longer executable"
