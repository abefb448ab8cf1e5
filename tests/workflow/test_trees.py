"""The rule about trees: what is refused, what a person looks at first, and what is neither."""

from __future__ import annotations

import pytest

from gitticks.model.tree_change import TreeChange
from gitticks.workflow.trees import look_first, refusals


def link(target: str, path: str = "a/b/link") -> TreeChange:
    return TreeChange(path, "000000", "120000", target)


def file(path: str, mode: str = "100644", before: str = "000000") -> TreeChange:
    return TreeChange(path, before, mode)


def modules(key: str, value: str) -> TreeChange:
    return TreeChange(".gitmodules", "000000", "100644", None, ((key, value),))


REFUSED = (
    link("/etc/passwd"),
    link("../../../outside"),
    link("../../.git/config"),
    link(".GIT/hooks", "link"),
    link("../..", "a/link"),
    link("x/../../../../etc"),
    link("C:\\Windows"),
    link("elsewhere", ".gitmodules"),
    link("elsewhere", "a/.gitattributes"),
    file(".git/config"),
    file("a/.GIT/hooks/post-checkout"),
    file("git~1/config"),
    file(".git::$INDEX_ALLOCATION/config"),
    file(".g\u200cit/config"),
    file("a/.git. /x"),
    file("a\\.git\\x"),
    file("a/../b"),
    file(".GitModules"),
    file("gitmod~1"),
    modules("submodule.a.update", "!touch pwned"),
    modules("submodule.a.url", "-uevil"),
    modules("submodule.a.url", "ext::sh -c evil"),
    modules("submodule.a.url", "fd::17"),
    modules("submodule.a.url", "https://example.org/%0aHost: evil"),
    modules("submodule.../../x.url", "https://example.org/a"),
    modules("submodule.a.path", "../outside"),
    modules("submodule.a.path", "-x"),
    modules("submodule.a.path", "sub/.git/hooks"),
    TreeChange(".gitmodules", "000000", "100644"),
)

LISTED = (
    (link("../c"), "symbolic link to `../c`"),
    (link("b", "link"), "symbolic link to `b`"),
    (file("vendored", "160000"), "submodule"),
    (modules("submodule.a.url", "https://example.org/a.git"), "names the submodules"),
    (modules("submodule.a.url", "git@example.org:a.git"), "names the submodules"),
    (modules("submodule.a.url", "../a.git"), "names the submodules"),
    (file("run.sh", "100755", "100644"), "executable"),
    (file("run.sh", "100644", "100755"), "no longer executable"),
    (file(".envrc"), "is read by your shell"),
    (file(".vscode/tasks.json"), "is read by your editor"),
    (file("Makefile"), "runs when you build"),
    (file("web/package.json", before="100644"), "runs when you install"),
    (file(".husky/pre-commit", "100755"), "may be a hook, executable"),
    (file(".github/workflows/ci.yml"), "runs in CI"),
    (file(".claude/settings.json"), "steers agents"),
    (file(".gitattributes"), "is acted on by git"),
    (file("allowed_signers"), "says whose approvals count"),
    (file(".cargo/config.toml"), "is read when you build"),
    (file("eslint.config.js"), "is read by your editor or debugger"),
)


@pytest.mark.parametrize("change", REFUSED, ids=lambda one: one.path)
def test_what_reaches_out_or_runs_something_is_refused_and_stands_first(change: TreeChange) -> None:
    assert refusals([file("README.md"), change])
    first = look_first([file("Makefile"), change])[0]
    assert first.path == change.path
    assert first.why.startswith("refused: ")


@pytest.mark.parametrize(("change", "why"), LISTED, ids=[one.path for one, _ in LISTED])
def test_what_acts_beyond_its_text_is_named_and_not_refused(change: TreeChange, why: str) -> None:
    assert not refusals([change])
    assert [(one.path, one.why) for one in look_first([file("README.md"), change])] == [(change.path, why)]


def test_the_file_of_those_who_may_sign_is_named_whatever_it_is_called() -> None:
    assert [one.why for one in look_first([file("ci/people")], "ci/people")] == ["says whose approvals count"]
    assert not look_first([file("ci/people")])


@pytest.mark.parametrize(
    "path", ["README.md", "src/git.py", "a/gitmodules", ".github/CODEOWNERS", "..a/b.txt"]
)
def test_ordinary_files_are_neither(path: str) -> None:
    assert not look_first([file(path)])


def test_what_is_removed_is_never_refused() -> None:
    assert not refusals([file("a/.git/x", "000000", "100644")])
