"""Masks secrets in text before it is hashed, committed or kept.

A rule is asked only where its marker occurs, which `in` finds at the speed of memory; so clean text costs next to
nothing. Rules know the shapes of keys that their makers publish. A shape without letters of its own, such as that of a
hash, is none: an alarm over ordinary code would teach people to look away.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from gitticks.safe_read import read_plain_file

_LEAST_DISTINCT = 8
_LONGEST_KEY = 20_000
_LEAST_VALUE = 8
_LARGEST_FILE = 64_000
_SAMPLES = ("EXAMPLE", "XXXXX", "00000", "*****", ".....", "PLACEHOLDER", "CHANGEME")
_ADDRESS = "password in an address"
_ESCAPED = re.compile(r"%[0-9A-Fa-f]{2}")
_SECRET_NAME = re.compile(
    r"(?:^|_)(?:\w*KEY|\w*TOKEN|\w*SECRET|PASS\w*|PWD|CREDENTIALS?|AUTH|DSN|PAT|\w+PASSWORD|\w+PASSWD)(?:_|$)",
    re.IGNORECASE | re.ASCII,
)
_NO_SECRET_NAME = re.compile(
    r"^(?:PWD|OLDPWD)$|(?:_|^)(?:FILE|PATH|DIR|SOCK|SOCKET|ID|PID|PUBLIC)(?:_|$)", re.IGNORECASE
)
_ENV_FILE = re.compile(r"\.env(?:\.[\w.-]+)?|[\w-]+\.env", re.ASCII)
_TEMPLATE_FILE = re.compile(r"example|sample|template|dist$|defaults?$", re.IGNORECASE)
_ASSIGNMENT = re.compile(r"^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=[ \t]*(.*?)[ \t]*$", re.MULTILINE)


class _Rule(NamedTuple):
    """The shape of one kind of key: `markers` of which one occurs in every such key, at most `back` characters into it.

    The pattern's group `key`, if it has one, is what is masked; else all of it.
    """

    kind: str
    markers: tuple[str, ...]
    pattern: str
    back: int = 0


_END = r"(?![\w-])"
_KEY_BEGINS, _KEY_ENDS = r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----", "-----END"
_LINE_OF_KEY = r"[A-Za-z0-9+/=]*|(?:Proc-Type|DEK-Info|Version|Comment): .*"
_BEFORE_LINES, _LONGEST_LINE_OF_KEY = " \t+>|-", 200
"""As a diff and a quotation have it; no program writes longer lines."""
_RULES = (
    _Rule(
        "GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"\bgh[pousr]_[A-Za-z0-9]{36,251}" + _END
    ),
    _Rule("GitHub token", ("github_pat_",), r"\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}" + _END),
    _Rule("GitLab token", ("glpat-", "gldt-", "glrt-", "glptt-"), r"\bgl(?:pat|dt|rt|ptt)-[\w-]{20,}"),
    _Rule(
        "AWS access key", ("AKIA", "ASIA"), r"(?<![A-Za-z0-9/+=])A(?:KIA|SIA)[A-Z2-7]{16}(?![A-Za-z0-9/+=])"
    ),
    _Rule(
        "AWS secret key",
        ("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "SecretAccessKey"),
        r"(?:aws_secret_access_key|AWS_SECRET_ACCESS_KEY|SecretAccessKey)\W{1,8}(?P<key>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
    ),
    _Rule("Anthropic key", ("sk-ant-",), r"\bsk-ant-[a-z0-9]{2,8}-[\w-]{32,}"),
    _Rule("OpenAI key", ("sk-proj-", "sk-svcacct-", "sk-admin-"), r"\bsk-(?:proj|svcacct|admin)-[\w-]{32,}"),
    _Rule("OpenAI key", ("T3BlbkFJ",), r"\bsk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}" + _END, 23),
    _Rule("OpenRouter key", ("sk-or-v1-",), r"\bsk-or-v1-[0-9a-f]{64}" + _END),
    _Rule("Google key", ("AIza",), r"\bAIza[\w-]{35}" + _END),
    _Rule("Google token", ("ya29.",), r"\bya29\.[\w-]{40,}"),
    _Rule("Google secret", ("GOCSPX-",), r"\bGOCSPX-[\w-]{28}" + _END),
    _Rule(
        "Slack token",
        ("xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xapp-"),
        r"\bx(?:ox[abprs]|app)-\d[\w-]{20,}",
    ),
    _Rule(
        "Slack webhook", ("hooks.slack.com/",), r"hooks\.slack\.com/services/T\w{6,}/B\w{6,}/(?P<key>\w{20,})"
    ),
    _Rule(
        "Discord webhook",
        ("discord.com/api/webhooks/", "discordapp.com/api/webhooks/"),
        r"discord(?:app)?\.com/api/webhooks/\d{10,}/(?P<key>[\w-]{60,})",
    ),
    _Rule("Stripe key", ("k_live_", "k_test_"), r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{20,}", 1),
    _Rule("Stripe webhook secret", ("whsec_",), r"\bwhsec_[A-Za-z0-9+/]{32,}"),
    _Rule("npm token", ("npm_",), r"\bnpm_[A-Za-z0-9]{36}" + _END),
    _Rule("PyPI token", ("pypi-AgE",), r"\bpypi-AgE[\w-]{50,}"),
    _Rule("Hugging Face token", ("hf_",), r"\bhf_[A-Za-z]{34}" + _END),
    _Rule("Docker token", ("dckr_pat_",), r"\bdckr_pat_[\w-]{27}"),
    _Rule("DigitalOcean token", ("doo_v1_", "dop_v1_"), r"\bdo[op]_v1_[0-9a-f]{64}" + _END),
    _Rule("SendGrid key", ("SG.",), r"\bSG\.[\w-]{22}\.[\w-]{43}" + _END),
    _Rule("Telegram token", (":AA",), r"\b\d{8,10}:AA[\w-]{33}" + _END, 10),
    _Rule("Databricks token", ("dapi",), r"\bdapi[0-9a-f]{32}" + _END),
    _Rule(
        "Shopify token",
        ("shpat_", "shpca_", "shppa_", "shpss_"),
        r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}" + _END,
    ),
    _Rule("Linear key", ("lin_api_",), r"\blin_api_[A-Za-z0-9]{40}" + _END),
    _Rule("Vault token", ("hvs.", "hvb."), r"\bhv[sb]\.[\w-]{24,}"),
    _Rule("Atlassian token", ("ATATT3",), r"\bATATT3[\w=-]{100,}"),
    _Rule("Azure storage key", ("AccountKey=",), r"\bAccountKey=(?P<key>[A-Za-z0-9+/]{86}==)"),
    _Rule("Groq key", ("gsk_",), r"\bgsk_[A-Za-z0-9]{52}" + _END),
    _Rule("xAI key", ("xai-",), r"\bxai-[A-Za-z0-9]{80}" + _END),
    _Rule("age key", ("AGE-SECRET-KEY-1",), r"\bAGE-SECRET-KEY-1[A-Z0-9]{58}"),
    _Rule("JSON web token", (".eyJ",), r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20,}", 400),
    _Rule(
        "private key",
        ("PRIVATE KEY",),
        _KEY_BEGINS + r"(?P<key>(?:[A-Za-z0-9+/=:,. -]|\\+[nr]|\s){64,}?)"
        r"(?=-----END|\Z)",
        40,
    ),
    _Rule(
        "bearer token",
        ("uthorization: ", 'uthorization": ', "UTHORIZATION: "),
        r"(?i)uthorization\"?: \"?(?:bearer|token|basic) (?P<key>[\w.~+/=-]{24,})",
    ),
    _Rule(
        _ADDRESS,
        ("://",),
        r"://[^\s:/@\"'<>{}$\\]{1,64}:(?P<key>[^\s:/@\"'<>{}$\\]{8,128})@[\w.-]+",
    ),
)


class Found(NamedTuple):
    """A secret in a text: of which kind, and where it stands."""

    kind: str
    start: int
    end: int


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


def find_secrets(text: str, values: Mapping[str, str] | None = None) -> list[Found]:
    """Returns the secrets of a text in order, none of which overlaps another.

    `values` are literal secrets with the names that they are known by.
    """
    if len(text) < _LEAST_VALUE:
        return []
    found = list(_by_rules(text))
    for value, name in (values or {}).items():
        start = text.find(value)
        while start >= 0:
            found.append(Found(f"value of {name}", start, start + len(value)))
            start = text.find(value, start + len(value))
    found.sort(key=lambda one: (one.start, -one.end))
    kept: list[Found] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def _by_rules(text: str) -> Iterator[Found]:
    for rule in _RULES:
        for marker in rule.markers:
            at = text.find(marker)
            while at >= 0:
                match = _match(rule, text, at)
                if match is not None:
                    group = "key" if "key" in match.re.groupindex else 0
                    if not _is_sample(match[group], rule.kind):
                        yield Found(rule.kind, match.start(group), match.end(group))
                at = text.find(marker, max(at + len(marker), match.end() if match else 0))


def _match(rule: _Rule, text: str, at: int) -> re.Match[str] | None:
    """Returns the key around a marker; only a rule whose marker is inside its key is searched for."""
    pattern = _compiled(rule.pattern)
    if not rule.back:
        return pattern.match(text, at)
    match = pattern.search(text, max(0, at - rule.back), at + _LONGEST_KEY)
    return match if match is not None and match.start() <= at else None


def _is_sample(key: str, kind: str) -> bool:
    """True for what documents write in place of a key."""
    upper = key.upper()
    if len(set(key)) < _LEAST_DISTINCT or any(sample in upper for sample in _SAMPLES):
        return True
    plain = _ESCAPED.sub("", key)
    return kind == _ADDRESS and not (any(map(str.isdigit, plain)) and any(map(str.isalpha, plain)))


def mask(text: str, values: Mapping[str, str] | None = None) -> str:
    """Returns the text with each secret replaced by a word on what kind it was.

    The words are safe in Markdown, in a plain YAML scalar and inside a JSON string.
    """
    found = find_secrets(text, values)
    if not found:
        return text
    parts, end = [], 0
    for one in found:
        parts += [text[end : one.start], f"(masked {one.kind})"]
        end = one.end
    return "".join([*parts, text[end:]])


class LineMask:
    """Masks a text that comes line by line, in which a private key may stand over many."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        self._left = 0

    def __call__(self, line: str) -> str:
        """Returns the next line as it may be shown."""
        if self._left > 0 and line.strip() and _may_be_of_key(line):
            self._left -= len(line)
            return "(masked private key)"
        if line.strip():
            begins = list(_compiled(_KEY_BEGINS).finditer(line)) if "PRIVATE KEY" in line else []
            self._left = _LONGEST_KEY if begins and _KEY_ENDS not in line[begins[-1].end() :] else 0
        return mask(line, self._values)


def _may_be_of_key(line: str) -> bool:
    is_short = len(line) <= _LONGEST_LINE_OF_KEY
    return is_short and bool(_compiled(_LINE_OF_KEY).fullmatch(line.strip().lstrip(_BEFORE_LINES)))


def mask_bytes(content: bytes, values: Mapping[str, str] | None = None) -> bytes:
    """Returns what a file holds with its secrets masked; all other bytes stay."""
    text = content.decode("utf-8", "surrogateescape")
    masked = mask(text, values)
    return content if masked == text else masked.encode("utf-8", "surrogateescape")


def digest_of_secret(secret: str) -> str:
    """Returns the name by which a person may allow a secret without saying it."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def secret_values(environment: Mapping[str, str], folders: Iterable[str] = ()) -> dict[str, str]:
    """Returns the secret values of variables and of the `.env` files in some folders, with the names of both.

    What reads like a word, a path or a number is none, whatever its name: masking it would garble ordinary text.
    """
    pairs = list(environment.items())
    for folder in folders:
        for name in _env_files(folder):
            pairs += _assignments(f"{folder}/{name}")
    values: dict[str, str] = {}
    for name, value in pairs:
        if is_secret_name(name) and _may_be_secret(value):
            values.setdefault(value, name)
            escaped = json.dumps(value)[1:-1]  # as agents' clients print it
            values.setdefault(escaped, name)
    return values


def is_secret_name(name: str) -> bool:
    """True if a variable of this name holds a secret, as `DB_PASS` does and `DB_PASS_FILE` does not."""
    return bool(_SECRET_NAME.search(name)) and not _NO_SECRET_NAME.search(name)


def _may_be_secret(value: str) -> bool:
    if len(value) < _LEAST_VALUE or len(set(value)) < _LEAST_VALUE // 2 or "\n" in value.strip():
        return False
    is_word = value.isalpha() and len(value) < 2 * _LEAST_VALUE
    return not (is_word or value.isdigit() or value.startswith(("/", "./", "~", "$")))


def _env_files(folder: str) -> list[str]:
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names are all that is wanted
    except OSError:
        return []
    return sorted(name for name in names if _ENV_FILE.fullmatch(name) and not _TEMPLATE_FILE.search(name))


def _assignments(path: str) -> list[tuple[str, str]]:
    try:
        content = read_plain_file(path)[:_LARGEST_FILE]
    except OSError:
        return []
    found = _ASSIGNMENT.findall(content.decode("utf-8", "replace"))
    return [(name, _unquoted(value)) for name, value in found]


def _unquoted(value: str) -> str:
    for quote in "\"'":
        if value.startswith(quote):
            return value[1:].partition(quote)[0]
    return value.partition(" #")[0].rstrip()
