"""The rules about what agents may do, row by row."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.model.settings import PermissionMode, PermissionRule
from gitticks.workflow.permission_patterns import learned_pattern, matches_host, matches_path
from gitticks.workflow.permissions import (
    Access,
    Answer,
    Grants,
    Operation,
    PolicyLayer,
    judge,
    learned_rule,
    matches,
)

SHELL, READ, WRITE, NETWORK = Operation.SHELL, Operation.FILE_READ, Operation.FILE_WRITE, Operation.NETWORK
INTERACTIVE, AUTO_EDIT, AUTO_ALL, YOLO = PermissionMode
ALLOW, DENY, ASK = Answer


def shell(*commands: str) -> PermissionRule:
    return PermissionRule(SHELL, commands=commands)


def project(**parts: object) -> PolicyLayer:
    return PolicyLayer("config.yaml", is_project=True, **parts)  # type: ignore[arg-type]


def own(**parts: object) -> PolicyLayer:
    return PolicyLayer("git config", **parts)  # type: ignore[arg-type]


GO = Access(SHELL, "go test ./...")
RM = Access(SHELL, "rm -rf build")
EDIT = Access(WRITE, "src/main.py", is_inside=True)
OUTSIDE = Access(WRITE, "/etc/passwd")
LOOK = Access(READ, "src/main.py", is_inside=True)
SITE = Access(NETWORK, "github.com")

LAYERS = [
    # access, the layers, the mode, what is decided, who decided
    (GO, [], AUTO_EDIT, ASK, None),
    (GO, [own(deny=(shell("go *"),), allow=(shell("go *"),))], YOLO, DENY, "git config"),
    (GO, [project(deny=(shell("go *"),)), own(allow=(shell("go *"),))], YOLO, DENY, "config.yaml"),
    (GO, [project(allow=(shell("go *"),)), own(deny=(shell("go *"),))], YOLO, DENY, "git config"),
    (GO, [project(allow=(shell("go *"),))], INTERACTIVE, ALLOW, "config.yaml"),
    (GO, [own(allow=(shell("go *"),))], INTERACTIVE, ALLOW, "git config"),
    # what a project leaves open a person may have answered for good
    (GO, [project(allow=(shell("git *"),)), own(allow=(shell("go *"),))], INTERACTIVE, ALLOW, "git config"),
    (GO, [project(default=ASK), own(allow=(shell("go *"),))], INTERACTIVE, ALLOW, "git config"),
    # a project's default of deny tightens what a person allows, and a rule of its own lets through
    (GO, [project(default=DENY), own(allow=(shell("go *"),))], YOLO, DENY, "config.yaml"),
    (GO, [project(default=DENY, allow=(shell("go *"),))], AUTO_EDIT, ALLOW, "config.yaml"),
    (EDIT, [project(default=DENY)], AUTO_EDIT, DENY, "config.yaml"),
    # a project takes no question away that a person wants
    (GO, [project(allow=(shell("go *"),)), own(default=ASK)], AUTO_EDIT, ASK, "git config"),
    (GO, [project(default=ALLOW), own(default=ASK)], AUTO_EDIT, ASK, "git config"),
    (GO, [project(default=ALLOW)], AUTO_EDIT, ALLOW, "config.yaml"),
    (GO, [project(default=ASK), own(default=ALLOW)], AUTO_EDIT, ASK, "config.yaml"),
]


@pytest.mark.parametrize(("access", "layers", "mode", "answer", "origin"), LAYERS)
def test_the_strictest_place_decides(
    access: Access, layers: list[PolicyLayer], mode: PermissionMode, answer: Answer, origin: str | None
) -> None:
    ruling = judge(access, layers, Grants(mode))
    assert (ruling.answer, ruling.origin) == (answer, origin), ruling.reason
    assert ruling.reason


MODES = [
    # access, interactive, auto-edit, auto-all, yolo
    (LOOK, ALLOW, ALLOW, ALLOW, ALLOW),
    (EDIT, ASK, ALLOW, ALLOW, ALLOW),
    (OUTSIDE, ASK, ASK, ASK, ALLOW),
    (GO, ASK, ASK, ALLOW, ALLOW),
    (Access(SHELL, "git add -A && git commit -m x"), ASK, ALLOW, ALLOW, ALLOW),
    (Access(SHELL, "ls -la | grep x"), ASK, ALLOW, ALLOW, ALLOW),
    (Access(SHELL, "ls > listing"), ASK, ASK, ALLOW, ALLOW),
    (Access(SHELL, "rg --pretty x && git diff --output-indicator-new=x"), ASK, ALLOW, ALLOW, ALLOW),
    (Access(SHELL, "git commit -m 'rg --pre x, git diff --output=x'"), ASK, ALLOW, ALLOW, ALLOW),
    (Access(SHELL, "ls && rg x --p're' ./x.sh"), ASK, ASK, ALLOW, ALLOW),
    (Access(SHELL, "rg --hostname-bin=./x.sh x"), ASK, ASK, ALLOW, ALLOW),
    (Access(SHELL, "git diff HEAD --output=/tmp/x"), ASK, ASK, ALLOW, ALLOW),
    (Access(SHELL, "git diff --output /tmp/x"), ASK, ASK, ALLOW, ALLOW),
    (Access(SHELL, "git diff --out${z}put=x"), ASK, ASK, ALLOW, ALLOW),
    (Access(SHELL, "rg x --pr{e,e}=./x.sh"), ASK, ASK, ALLOW, ALLOW),
    (Access(SHELL, "rg x *"), ASK, ASK, ALLOW, ALLOW),
    (Access(SHELL, "rg -n 'foo$' -g '*.py' src/*.py"), ASK, ALLOW, ALLOW, ALLOW),
    (SITE, ASK, ASK, ASK, ALLOW),
]


@pytest.mark.parametrize(("access", "answers"), [(row[0], row[1:]) for row in MODES])
def test_without_rules_the_mode_decides(access: Access, answers: tuple[Answer, ...]) -> None:
    needed = ("git add", "git commit", "git diff")
    assert tuple(judge(access, [], Grants(mode, needed)).answer for mode in PermissionMode) == answers


def test_a_command_that_no_shell_takes_is_refused_without_being_judged() -> None:
    grants = Grants(PermissionMode.YOLO)
    for length, answer in ((131_071, Answer.ALLOW), (131_072, Answer.DENY)):
        assert judge(Access(Operation.SHELL, "x" * length), (), grants).answer is answer
    assert judge(Access(Operation.FILE_WRITE, "x" * 200_000), (), grants).answer is Answer.ALLOW


def test_a_client_with_walls_of_its_own_is_not_asked_about_commands_but_in_interactive() -> None:
    found = [judge(GO, [], Grants(mode, is_walled=True)).answer for mode in (INTERACTIVE, AUTO_EDIT)]
    assert found == [ASK, ALLOW]


def test_only_a_question_that_nobody_set_rules_for_is_left_to_the_client() -> None:
    assert judge(GO, [], Grants(AUTO_EDIT)).is_open
    assert not judge(GO, [], Grants(INTERACTIVE)).is_open
    assert not judge(GO, [own(default=ASK)], Grants(AUTO_EDIT)).is_open


COMMANDS = [
    # pattern, line, does a deny rule match, does a rule that allows
    ("go *", "go test", True, True),
    ("go *", "go", True, True),
    ("go *", "gofmt x", False, False),
    ("go test", "go test ./...", True, True),
    ("go test", "go testing", False, False),
    ("*", "anything; at $(all)", True, True),
    ("rm -rf", "rm  -rf /", True, True),
    ("rm -rf", "make && rm -rf /", True, False),
    ("go *", "go build; rm x", True, False),
    ("go *", "go build $(rm x)", True, False),
    ("rm", "go build $(rm x)", True, False),
    ("rm", "go build `rm x`", True, False),
    ("go *", "go build > /etc/x", True, False),
    ("go *", "go build 2>&1", True, True),
    ("go *", "go build > /dev/null 2>&1", True, True),
    ("go *", "bash -lc 'go build'", True, True),
    ("go *", "bash -lc 'go build; rm x'", True, False),
    ("rm", "sh -c 'cd x && rm y'", True, False),
    ("rm", "sudo rm y", True, False),
    ("sudo", "FOO=1 sudo rm y", True, False),
    ("rm", "env FOO=1 rm y", True, False),
    ("rm", "/bin/rm y", True, False),
    ("rm", "r'm' y", True, True),
    ("rm", "echo rm", False, False),
    ("rm", "timeout 5 rm y", True, False),
    ("go *", "PATH=/tmp go build", True, False),
    ("git commit", "git commit -m \"$(cat <<'EOF'\nit's `this`; $(that)\nEOF\n)\"", True, True),
    ("git commit", 'git commit -m "$(cat <<EOF\n$(that)\nEOF\n)"', True, False),
    ("echo", 'sh -c "echo \\"\\$(rm x)\\""', True, False),
    ("rm", 'sh -c "echo \\"\\$(rm x)\\""', True, False),
    ("rm", 'sh -c "echo \\`rm x\\`"', True, False),
    ("echo", 'echo "$\\\n(rm x)"', True, False),
    ("rm", 'echo "$\\\n(rm x)"', True, False),
    ("echo", "echo evil \\' >~/.bashrc \\'", True, False),
    ("echo", "bash -c \"echo '\";./evil;true\\'", True, False),
    ("cat", "cat \\ # <<E\necho '\nE\nrm x #'", True, False),
    ("rm", "cat \\ # <<E\necho '\nE\nrm x #'", True, False),
    ("rm", "cat <\\\n<E\necho '\nE\nrm x #'", True, False),
    ("git commit", 'git commit -m "$$(cat <<\'E\'\n"; rm x; "\nE\n)"', True, False),
    ("git *", "git \"$(cat <<'E'\npush\nE\n)\"", True, False),
    ("rm", "bash -cb \"$(cat <<'E'\nrm x\nE\n)\"", True, False),
    ("rm", "echo \\>& rm x", True, False),
    ("true", "sh -c 'true &>/dev/null rm x'", True, False),
    ("go *", "go build &> /dev/null && go vet &>/dev/null", True, True),
    ("echo", 'bash -c "echo a$IFS./evil"', True, False),
    ("echo", "bash -lc 'echo \"$HOME\"'", True, True),
    ("echo", "echo $['$(./evil)']", True, False),
    ("echo", "echo ${x:='$(./evil)'}${x@P}", True, False),
    ("rm", "bash -c -m \"$(cat <<'E'\nrm x\nE\n)\"", True, False),
    ("go *", "go 'unfinished", True, False),
    ("rm", "if true; then rm x; fi", True, False),
    ("rm", "if a; then b; elif ! rm x; then c; else rm y; fi", True, False),
    ("rm", "while rm x; do :; done", True, False),
    ("git push", "for i in 1; do git push; done", True, False),
    ("rm", "f() { rm x; }; function g { rm x; }", True, False),
    ("rm", 'bash -lc "cd x; if [ -d y ]; then rm -rf y; fi"', True, False),
    ("rm", "sudo -u root bash -c 'if ! X=1 rm y; then :; fi'", True, False),
    ("rm", "/usr/bin/sudo -u root rm x", True, False),
    ("rm", "env -u A -- rm x", True, False),
    ("rm", "timeout -s KILL 5 rm x", True, False),
    ("rm", "xargs -I {} -n 1 rm {}", True, False),
    ("rm", "flock -w 5 lock setsid rm x", True, False),
    ("rm", "eval rm x", True, False),
    ("rm", "> out rm x", True, False),
    ("rm x", "rm \\\n x", True, True),
    ("rm", "find . -name '*.o' -exec rm {} ';'", True, False),
    ("git push", "git -C . --no-pager push", True, False),
    ("git push", "cd x && /usr/bin/git -c a.b=c push", True, False),
    ("git push", "git --no-pager stash push", False, False),
    ("git push", "git commit -m 'git push'", False, False),
    ("rm", "timeout 60 grep -r rm .", False, False),
    ("rm", "if grep rm x; then echo rm; fi", False, False),
    # an apostrophe in a comment or a heredoc begins no quote, and a comment does not go on after a backslash
    ("git push", "# Don't\ngit push", True, False),
    ("git push", "# Don't\ngit \\\n push", True, False),
    ("git push", "ls # it's\ngit 'push' x", True, False),
    ("rm", "# it ends \\\nrm x", True, False),
    ("rm", "# it's \\\nrm x", True, False),
    ("rm", "cat > n <<'E'\nIt doesn't\nE\nrm x", True, False),
    ("npm test", "npm test # it's\nrm x # that's", True, False),
    ("npm test", "npm test # all of them", True, True),
    ("npm test", "# all # of them\nnpm test 'a; b'", True, False),
    ("rm", "# all # of them\nnpm test 'a; rm b'", False, False),
    ("npm test", "npm test ${x/ # /}; rm x", True, False),
    ("rm", "# $(cat <<'E'\nrm x\nE\n)", True, False),
    ("npm test", "npm test '#1' a#b's' <<< \"it's\"", True, True),
    ("echo", "echo $'a\\'' ; rm x #'", True, False),
    ("rm", "echo $'a\\'' ; rm x #'", True, False),
    ("rm", "it's; rm x", True, False),
    ("git commit", 'git commit -m "it\'s #1; rm x" -m \'say "no" <<<<\'', True, True),
    ("rm", 'git commit -m "it\'s #1; rm x" -m \'say "no" <<<<\'', False, False),
    # within double quotes the shell begins anew in `$(…)` and takes quotes otherwise in `${…}`
    ("rm", 'echo "$(true && rm x)"', True, False),
    ("rm", 'echo "`true; rm x`"', True, False),
    ("rm", 'echo "$(echo "it\'s" && rm x)"', True, False),
    ("npm test", "npm test \"${x#'\"'}\"; rm y #'", True, False),
    ("rm", "npm test \"${x#'\"'}\"; rm y #'", True, False),
    ("npm test", 'npm test "${x:-y}" "$HOME" "${PWD}"', True, True),
    ("make", "sh -c \"make '$(rm x)'\"", True, False),
    # a message ends with the first line that ends it for the shell
    ("git commit", "git commit -m \"$(cat <<'EOF'\na\nEOF\nrm x\ncat <<'EOF'\nb\nEOF\n)\"", True, False),
    ("rm", "git commit -m \"$(cat <<'EOF'\na\nEOF\nrm x\ncat <<'EOF'\nb\nEOF\n)\"", True, False),
    ("git commit", "git commit -m \"$(cat <<'E'\n E\n)\" ' \nE\n)\"; rm x #'", True, False),
    ("git commit", "git commit -m '$(cat <<'E'\n'; rm x; '\nE\n)'", True, False),
    ("git commit", 'git commit -m "$(cat <<\'E\'\nE)"; rm x; "\nE\n)"', True, False),
    ("git commit", "git commit -m \"$(cat <<'E'\nThe EOF isn't E.\n\n(rm; x)\nE\n)\"", True, True),
    ("rm", "git commit -m \"$(cat <<'E'\nThe EOF isn't E.\n\n(rm; x)\nE\n)\"", False, False),
]


@pytest.mark.parametrize(("pattern", "line", "denies", "allows"), COMMANDS)
def test_commands_are_matched_one_by_one(pattern: str, line: str, denies: bool, allows: bool) -> None:
    access, rule = Access(SHELL, line), shell(pattern)
    assert (matches(rule, access, to_deny=True), matches(rule, access, to_deny=False)) == (denies, allows)


def test_what_is_taken_back_is_not_matched() -> None:
    rule = shell("git *", "!git push")
    assert matches(rule, Access(SHELL, "git status"), to_deny=False)
    assert not matches(rule, Access(SHELL, "git push origin"), to_deny=False)


def test_what_is_taken_back_is_so_in_every_way_to_write_it() -> None:
    rule = shell("git *", "!git push")
    assert not matches(rule, Access(SHELL, "git -C . push"), to_deny=False)
    assert not matches(rule, Access(SHELL, "git -C . push"), to_deny=True)
    assert matches(rule, Access(SHELL, "git -C . status"), to_deny=True)


def test_commands_of_one_line_may_be_allowed_by_a_rule_each() -> None:
    layer = own(allow=(shell("go *"), shell("npm *")))
    assert judge(Access(SHELL, "go build && npm test"), [layer], Grants()).answer is ALLOW
    assert judge(Access(SHELL, "go build && rm x"), [layer], Grants()).answer is ASK


PATHS = [
    (["src/**"], "src/a/b.py", True),
    (["src/**"], "src", False),
    (["src"], "src/a/b.py", True),
    (["src"], "srcs/a", False),
    (["src/*.py"], "src/a.py", True),
    (["src/*.py"], "src/a/b.py", False),
    (["src/**", "!src/secrets/**"], "src/secrets/k", False),
    (["!docs/**"], "src/a", True),
    (["**/.env"], ".env", True),
    (["**/.env"], "a/b/.env", True),
    ([".env"], "a/.env", True),
    ([".env*"], "a/.env.local", True),
    (["*.pem"], "keys/a.pem", True),
    (["/etc/**"], "/etc/passwd", True),
    (["./src/"], "src/a", True),
    (["a?c"], "abc", True),
    (["a.c"], "abc", False),
    (["**"], "any/thing", True),
]


@pytest.mark.parametrize(("patterns", "path", "is_match"), PATHS)
def test_globs_of_paths(patterns: list[str], path: str, is_match: bool) -> None:
    assert matches_path(patterns, path) is is_match


@pytest.mark.parametrize(
    ("pattern", "host", "is_match"),
    [
        ("github.com", "GitHub.com", True),
        ("github.com", "api.github.com", False),
        ("*.github.com", "api.github.com", True),
        ("*.github.com", "evilgithub.com", False),
        ("*", "x.org", True),
    ],
)
def test_names_of_hosts(pattern: str, host: str, is_match: bool) -> None:
    assert matches_host([pattern], host) is is_match


@pytest.mark.parametrize(
    ("line", "pattern"),
    [
        ("go test ./... -run X", "go test"),
        ("npm install", "npm install"),
        ("ls", "ls"),
        ("make -j4", "make -j4"),
        ("python x.py", "python x.py"),
        ("rm -rf build", "rm -rf build"),
        ("a && b", "a && b"),
        ("bash -lc 'go vet ./...'", "go vet"),
    ],
)
def test_always_remembers_the_kind_of_command(line: str, pattern: str) -> None:
    assert learned_pattern(line) == pattern


def test_a_learned_rule_is_about_no_other_files_than_those_that_were_shown() -> None:
    rule = learned_rule(Access(SHELL, "rm -f build/*.o"))
    assert matches(rule, Access(SHELL, "rm -f build/*.o"), to_deny=False)
    assert not matches(rule, Access(SHELL, "rm -f build/x /home/me/other.o"), to_deny=False)


@pytest.mark.parametrize(
    "access", [GO, RM, EDIT, OUTSIDE, SITE, Access(WRITE, "top.txt", is_inside=True), Access(SHELL, "a && b")]
)
def test_a_learned_rule_matches_what_was_asked(access: Access) -> None:
    assert matches(learned_rule(access), access, to_deny=False)


def test_an_answer_for_good_about_a_path_outside_is_about_that_path_and_what_is_in_it() -> None:
    assert learned_rule(Access(READ, "/etc")).paths == ("/etc",)
    rule = learned_rule(Access(READ, "/usr/share/doc"))
    found = {
        one: matches(rule, Access(READ, one), to_deny=True) for one in ("/usr/share/doc/x", "/usr/share/x")
    }
    assert found == {"/usr/share/doc/x": True, "/usr/share/x": False}


_WORDS = [
    "git",
    "go",
    "g*",
    "*",
    "rm",
    "sudo",
    "test",
    "./git",
    "sh -c 'rm x'",
    "&&",
    ";",
    "| rm",
    "[g]it",
    "X=1",
    "\\git",
]
_NAMES = ["src", "*.py", "**", "a.py", "./a.py", "/etc", "ex.org", "*.ex.org", "EX.org.", "a.ex.org"]


@given(
    operation=st.sampled_from(Operation),
    patterns=st.lists(
        st.tuples(st.sampled_from(["", "", "!"]), st.lists(st.sampled_from(_WORDS + _NAMES), min_size=1)),
        max_size=3,
    ),
    target=st.lists(st.sampled_from(_WORDS + _NAMES), min_size=1, max_size=4),
)
def test_no_rule_that_is_about_an_access_is_left_out(
    operation: Operation, patterns: list[tuple[str, list[str]]], target: list[str]
) -> None:
    between = " " if operation is SHELL else "/"
    given = tuple(lead + between.join(words) for lead, words in patterns)
    parts = {SHELL: "commands", NETWORK: "hosts"}.get(operation, "paths")
    rule = PermissionRule(operation, **{parts: given})
    access = Access(operation, between.join(target))
    layer = PolicyLayer("x", deny=(rule,), allow=(rule,))
    for indexes, to_deny in ((layer.denying, True), (layer.allowing, False)):
        if matches(rule, access, to_deny=to_deny):
            assert rule in indexes[operation].about(
                access.target.rstrip(".") if operation is NETWORK else access.target
            )
