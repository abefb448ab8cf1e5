"""Secrets are masked whatever stands around them, and what only looks random stays."""

from __future__ import annotations

import json
import subprocess
import sysconfig
from pathlib import Path

import pytest

from gitticks.redaction import LineMask, digest_of_secret, find_secrets, mask, mask_bytes, secret_values

_TOP = Path(__file__).parent.parent
_RANDOM = "q7Zp3LxVb9TnR2kWm8Jd5HsYf4Gc6Ea1UoNiPqMzX0vBtKwSyDlCrFhAgQeOjIuT7x5Zr2P9nL4k"
_KEYS = {
    "GitHub token": "ghp" + "_" + _RANDOM[:36],
    "GitLab token": "glpat" + "-" + _RANDOM[:20],
    "AWS access key": "AKIA" + "Q7ZP3LXVB5TNR2KW",
    "AWS secret key": "aws_secret_access_key = " + _RANDOM[:40],
    "Anthropic key": "sk-" + "ant-api03-" + _RANDOM[:60],
    "OpenAI key": "sk-" + "proj-" + _RANDOM[:48],
    "Google key": "AI" + "za" + _RANDOM[:35],
    "Slack token": "xox" + "b-1234-" + _RANDOM[:24],
    "Stripe key": "sk" + "_live_" + _RANDOM[:24],
    "npm token": "npm" + "_" + _RANDOM[:36],
    "PyPI token": "pypi" + "-AgEIcHlwaS5vcmc" + _RANDOM[:60],
    "JSON web token": "ey" + f"J{_RANDOM[:20]}.ey" + f"J{_RANDOM[20:50]}.{_RANDOM[:43]}",
    "private key": f"-----BEGIN OPENSSH {'PRIVATE'} KEY-----\n{_RANDOM}\n{_RANDOM}\n-----END OPENSSH {'PRIVATE'} KEY-----",
    "bearer token": f"Authorization: Bearer {_RANDOM[:40]}",
    "password in an address": "postgres://ada:" + "h4Rd2gu3ss@db.example.org/app",
    "Telegram token": "804512397" + ":AA" + _RANDOM[:33],
}


@pytest.mark.parametrize("kind", _KEYS)
def test_keys_of_known_shapes_are_masked_and_their_kind_is_said(kind: str) -> None:
    secret = _KEYS[kind]
    for text in (secret, f"before {secret}\nafter", f'"{secret}", and more'):
        masked = mask(text)

        assert f"(masked {kind})" in masked
        assert _RANDOM[:16] not in masked
        assert "h4Rd2gu3ss" not in masked
        assert mask(masked) == masked


def test_what_stands_around_a_secret_stays() -> None:
    assert mask(f"push with {_KEYS['GitHub token']} now") == "push with (masked GitHub token) now"
    assert mask(f"a\xff{_KEYS['npm token']}") == "a\xff(masked npm token)"
    assert mask_bytes(b"\xff\x00" + _KEYS["npm token"].encode()) == b"\xff\x00(masked npm token)"


def test_a_key_inside_json_leaves_json() -> None:
    line = json.dumps({"text": f"key:\n{_KEYS['private key']}\nend", "more": _KEYS["GitLab token"]})

    masked = json.loads(mask(line))

    assert masked["text"].startswith("key:\n-----BEGIN OPENSSH")
    assert "(masked private key)" in masked["text"]
    assert masked["more"] == "(masked GitLab token)"


@pytest.mark.parametrize(
    "text",
    [
        "3f2a9c1d8e7b6a5f4c3d2e1f0a9b8c7d6e5f4a3b",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "sha512-z7NzXQ5SXWh6SzP2RkFLQZ4m1PUp1eTyvRIHtqTxjzYkQZ2nH0u6gXqLhH4jxXrXkK7pY0sC3v8w==",
        "550e8400-e29b-41d4-a716-446655440000",
        "https://user:password@example.org/x",
        "ghp_" + "x" * 36,
        "AKIAIOSFODNN7EXAMPLE",
        "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
        "task_id = token_of(key)",
        'password = os.environ["PASSWORD"]',
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert find_secrets(text) == []


def test_a_key_that_comes_line_by_line_is_masked() -> None:
    marker, body = "RSA PRIVATE KEY", "MIIEowIBAAKCAQEA0Z3VS5JJcds3xfn+ygWyF8PbnGy0AHB7MhgwMbRvI0MBZhpI"
    lines = [
        "here it is:",
        f"-----BEGIN {marker}-----",
        "Proc-Type: 4,ENCRYPTED",
        "",
        *[f"  {body[number:]}" for number in range(20)],
        "ab==",
        f"-----END {marker}-----",
        "that",
        "was it",
    ]
    masked = [*map(LineMask({}), lines)]
    assert (masked[:2], masked[3], masked[-3:]) == (lines[:2], "", lines[-3:])
    assert set(masked[2:3] + masked[4:-3]) == {"(masked private key)"}
    assert [*map(LineMask({}), [lines[1], "is how", "one", "begins"])][1:] == ["is how", "one", "begins"]
    long = f"{'+' * 1_000_000}{' ' * 1_000_000}!"
    assert [*map(LineMask({}), [lines[1], long])][1] == long


def test_a_key_that_was_typed_to_try_it_is_masked() -> None:
    assert mask("ghp_" + "0123456789abcdefghijklmnopqrstuvwxyz") == "(masked GitHub token)"


def test_values_of_variables_are_masked_wherever_they_stand() -> None:
    values = secret_values({"SHOP_API_KEY": 'wren-"moss"-41-lantern', "HOME": "/home/ada/elsewhere"})

    assert mask('it says wren-"moss"-41-lantern.', values) == "it says (masked value of SHOP_API_KEY)."
    assert (
        mask(json.dumps({"t": 'wren-"moss"-41-lantern'}), values) == '{"t": "(masked value of SHOP_API_KEY)"}'
    )
    assert "/home/ada/elsewhere" not in values


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PASSWORD", "development"),
        ("API_KEY", "short1"),
        ("SSH_AUTH_SOCK", "/run/user/1000/agent.7"),
        ("TOKEN_FILE", "tokens-2026.txt"),
        ("PWD", "projects-and-1-more"),
        ("MAX_TOKENS", "200000000"),
        ("EDITOR", "vim-with-9-plugins"),
        ("SECRET", "$OTHER_SECRET_1"),
    ],
)
def test_values_that_would_garble_ordinary_text_are_none(name: str, value: str) -> None:
    assert secret_values({name: value}) == {}


def test_values_of_env_files_are_known_and_those_of_their_templates_not(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "# db\nexport DB_PASSWORD='moss-41-lantern' # local\nNAME=ada-of-the-shop-9\n"
    )
    (tmp_path / ".env.local").write_text('STRIPE_SECRET="wren-99-harbour"\n')
    (tmp_path / ".env.example").write_text("API_TOKEN=put-your-own-1-here\n")

    assert secret_values({}, [str(tmp_path), str(tmp_path / "gone")]) == {
        "moss-41-lantern": "DB_PASSWORD",
        "wren-99-harbour": "STRIPE_SECRET",
    }


def test_no_false_alarm_over_this_repository_and_the_packages_it_uses() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=_TOP, check=True, capture_output=True).stdout
    own = [_TOP / name for name in listed.decode().split("\0") if name]
    packages = sorted(Path(sysconfig.get_path("purelib")).rglob("*.py"))

    found = []
    for path in [*own, *packages]:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        found += [(path, one.kind, digest_of_secret(text[one.start : one.end])) for one in find_secrets(text)]

    assert found == []
