"""The kinds of values: read from YAML and from a command line, and shown."""

from __future__ import annotations

import pytest

from gitticks.document import settings_kinds as kinds
from gitticks.document.settings_kinds import Kind
from gitticks.errors import DocumentError
from gitticks.model.settings import PermissionRule, ReviewerSettings, SyncMode


@pytest.mark.parametrize(
    ("kind", "text", "value", "shown"),
    [
        (kinds.DURATION, "90s", 90, "90s"),
        (kinds.DURATION, "30m", 1800, "30m"),
        (kinds.DURATION, "2h", 7200, "2h"),
        (kinds.DURATION, "14d", 1_209_600, "14d"),
        (kinds.DURATION, "45", 45, "45s"),
        (kinds.DURATION, "120", 120, "2m"),
        (kinds.SIZE, "64MB", 64_000_000, "64MB"),
        (kinds.SIZE, "200kb", 200_000, "200kB"),
        (kinds.SIZE, "1GB", 1_000_000_000, "1GB"),
        (kinds.SIZE, "17", 17, "17B"),
        (kinds.FLAG, "yes", True, "true"),
        (kinds.FLAG, "OFF", False, "false"),
        (kinds.FLAG, "", True, "true"),
        (kinds.COST, "2.5", 2.5, "2.5"),
        (kinds.TEXT, "make test", "make test", "make test"),
        (kinds.TEXT, "no", "no", "no"),
        (kinds.integer(1), " 3 ", 3, "3"),
        (kinds.word(SyncMode), "off", SyncMode.OFF, "off"),
        (kinds.TEXTS, "[a, 'b c']", ("a", "b c"), "[a, b c]"),
        (kinds.TEXTS, "a, b", ("a, b",), '["a, b"]'),
        (kinds.TEXTS, "", (), "[]"),
        (
            kinds.HOSTS,
            "['*', '*.a.org', b-c.org:8443, 'localhost:80', '127.0.0.1:80']",
            ("*", "*.a.org", "b-c.org:8443", "localhost:80", "127.0.0.1:80"),
            '["*", "*.a.org", b-c.org:8443, localhost:80, 127.0.0.1:80]',
        ),
        (
            kinds.REVIEWERS,
            "[{name: a, focus: bugs}]",
            (ReviewerSettings("a", None, "bugs"),),
            "[{name: a, focus: bugs}]",
        ),
        (kinds.REVIEWERS, "security", (ReviewerSettings("security"),), "[{name: security}]"),
        (
            kinds.RULES,
            "[{operation: shell, commands: [rm *]}]",
            (PermissionRule("shell", commands=("rm *",)),),
            "[{operation: shell, commands: [rm *]}]",
        ),
    ],
)
def test_values(kind: Kind, text: str, value: object, shown: str) -> None:
    found = kind.parse("name", text, "flag")
    assert found == value
    assert type(found) is type(value)
    assert kind.show(found) == shown


@pytest.mark.parametrize(
    "kind", [kinds.TEXT, kinds.COST, kinds.DURATION_OR_NULL, kinds.integer(1, is_nullable=True)]
)
@pytest.mark.parametrize("text", ["null", ""])
def test_null(kind: Kind, text: str) -> None:
    assert kind.parse("name", text, "flag") is None


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (kinds.DURATION, "soon", "`name` is not a duration: 'soon'"),
        (kinds.DURATION, "0s", "`name` is not a duration: '0s'"),
        (kinds.DURATION, "-5m", "`name` is not a duration: '-5m'"),
        (kinds.DURATION, "36501d", "`name` is longer than 36500d: '36501d'"),
        (kinds.DURATION, "1" * 5000, "`name` is not a duration"),
        (kinds.SIZE, "big", "`name` is not a size: 'big'"),
        (kinds.FLAG, "perhaps", "`name` is not true or false: 'perhaps'"),
        (kinds.COST, "-1", "`name` is not a number from 0 up: '-1'"),
        (kinds.BUDGET, "0", "`name` is not a number above 0: '0'"),
        (kinds.BUDGET, "-4", "`name` is not a number above 0: '-4'"),
        (kinds.BUDGET, "nan", "`name` is not a number above 0: 'nan'"),
        (kinds.ARGUMENT, "--yolo", "`name` cannot be passed to an agent's program: '--yolo'"),
        (kinds.ARGUMENT, "a\nb", "`name` cannot be passed to an agent's program"),
        (kinds.NEEDED_TEXT, " ", "`name` is empty"),
        (kinds.word(SyncMode), "pull", "`name` is not one of off, push, both: 'pull'"),
        (kinds.choice("a", "b"), "c", "`name` is not one of a, b: 'c'"),
        (kinds.TEXTS, "[a", "is never closed"),
        (kinds.HOSTS, "[a.org, https://b.org]", "`name` has what is no host: 'https://b.org'"),
        (kinds.HOSTS, "[a b]", "`name` has what is no host: 'a b'"),
        (kinds.HOSTS, "1.2.3.4", "`name` has what is no host: '1.2.3.4'"),
        (kinds.HOSTS, "localhost:70000", "`name` has what is no host"),
        (kinds.HOSTS, "a.*", "`name` has what is no host"),
        (
            kinds.ALLOWED_HOSTS,
            "[a.org, localhost]",
            "`name` has `localhost`, and of this machine only single ports",
        ),
        (kinds.ALLOWED_HOSTS, "127.0.0.1:80", "only single ports from 1024 can be reached"),
        (kinds.TEXTS, "[{a: b}]", "`name` is not text: a mapping"),
        (kinds.RULES, "rm -rf", "`name` has what is no rule: 'rm -rf'"),
        (
            kinds.RULES,
            "[{operation: file_write, paths: []}]",
            "`name` has a rule with no `paths` in its list",
        ),
        (
            kinds.RULES,
            "[{operation: network, hosts: ['https://x.y/z']}]",
            "has what is no host: 'https://x.y/z'",
        ),
        (kinds.RULES, "[{operation: network, hosts: ['x.y:443']}]", "has what is no host: 'x.y:443'"),
        (kinds.REVIEWERS, "[{focus: x}]", "`name` has a reviewer without `name`"),
        (
            kinds.REVIEWERS,
            "[../../evil]",
            "`name` has a reviewer whose name cannot be that of a file: '../../evil'",
        ),
        (
            kinds.REVIEWERS,
            "[{name: a b}]",
            "`name` has a reviewer whose name cannot be that of a file: 'a b'",
        ),
        (kinds.REVIEWERS, "[a, {name: A}]", "`name` has two reviewers of the name `a`"),
        (kinds.REVIEWERS, "[{name: x, focs: y}]", "there is no setting `name.focs`"),
        (kinds.RULES, "[{operation: fly}]", "`name.operation` is not one of file_read"),
        (kinds.RULES, "[{paths: [a]}]", "`name` has a rule without `operation`"),
    ],
)
def test_wrong_values(kind: Kind, text: str, message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        kind.parse("name", text, "flag")
    assert message in caught.value.problem
    assert caught.value.hint
