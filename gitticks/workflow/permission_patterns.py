"""Patterns of permission rules: path globs, command prefixes, host names; `!` negates.

Commands are split as a shell would, as far as that can be told from their text. That makes the rules guard rails: what
a program does once it runs is the sandbox's affair.
"""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from fnmatch import translate
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from gitticks.model.settings import PermissionRule

_SEPARATORS = ";&|\n()`"
_TAKES_TEXT = frozenset({"eval", "su", "trap", "watch"})
_WRAPPERS = {
    **dict.fromkeys(
        (
            "!", "builtin", "command", "coproc", "do", "doas", "elif", "else", "env", "exec", "if", "ionice", "nice", "nohup",
            "setsid", "stdbuf", "sudo", "then", "time", "unshare", "until", "while", "xargs", "{", *_TAKES_TEXT,
        ),
        0,
    ),
    **dict.fromkeys(("chroot", "flock", "function", "taskset", "timeout"), 1),
}  # fmt: skip
"""Words that another command follows, and how many arguments stand between, besides options."""
_SHELLS = re.compile(r"(?:\S*/)?(?:ba|da|z|k)?sh\b")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=|\d*[<>]")
"""What may stand before a command: variables and redirections."""
_VALUED_BY_GIT = frozenset(
    {"-C", "-c", "--attr-source", "--config-env", "--git-dir", "--namespace", "--work-tree"}
)
_REDIRECTION = re.compile(r"(?:\d|&)?>{1,2}[&|]?\s*(\S*)")
_WITH_REDIRECTION = re.compile(r"(?<=(?<!\\)>)&|&(?=>\s*\S+\s*(?:[;&|\n)]|$))")
"""Where `&` ends no command. What stands behind the file is a command of its own where a shell knows no `&>`."""
_HARMLESS_REDIRECTIONS = frozenset({"1", "2", "/dev/null"})
_QUOTED = re.compile(r"\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
_QUOTED_TEXT = re.compile(r"\$\(cat <<(['\"])(\w+)\1\n(?:(?!\2).*\n)*\2\n\s*\)")
"""The way in which clients write messages of several lines; nothing in it is carried out."""
_BEFORE_TEXT = re.compile(
    r"\s(?:-[aqsv]*m|-[Fb]|--(?:message|body|title|notes|description|done|reason))[ =]?\"\Z"
)
"""An option whose value is text: elsewhere such text may be a command, or name one."""
_WRAPPED = re.compile(r"\s*\S+\s+-[a-z]*c\s+(?:'[^']*'|\"(?:[^\"\\$`]|\\\")*\"|[\w./:=@%+,-])+\s*", re.DOTALL)
"""A command for `sh -c` that the outer shell leaves as it is."""
_UNESCAPED = re.compile(r"\\([$`])")
"""What is within double quotes is carried out by a shell that gets it as text."""
_COMMENT = re.compile(r"(?<![^\s;&|()<>`])#")
_UNSURE = {
    "": re.compile(r"\$['\[]|\$\{(?!\w[^{}'\"\\@]*\})|(?<!<)<<(?!<)|(?<=[$<])\\\n"),
    "#": re.compile(r"['\"\\]|(?<!<)<<(?!<)"),
    '"': re.compile(r"`|\$\(|\$\{(?!\w[^{}'\"\\@]*\})|(?<=\$)\\\n"),
    "'": re.compile(r"(?!)"),
}
"""Where it is no longer sure what is quoted, by what it stands in: nothing, what may be a comment, or quotes."""
_PART_OF_GLOB = re.compile(r"\*\*/|\*\*|[*?]|[^*?]+")
_WILDCARDS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
_DEEPEST = 4
_MOST_BEGINNINGS = 20
_LOOKING = ("cat", "cd", "echo", "grep", "head", "ls", "pwd", "rg", "tail", "true", "wc", "which")
"""Commands that only look, whatever follows them but these."""
_NOT_LOOKING = (
    *(f"!git {word} *--output[ =]*" for word in ("diff", "log", "show")),
    *("!rg *--pre[ =]*", "!rg *--hostname-bin[ =]*"),
)
_EXPANDED = re.compile(r"(?<=\s)(?:[*?\[{]|-[^\s'\"]*[*?\[])")
"""What a shell may put an option in the place of, if a file has its name."""


class Commands(NamedTuple):
    """The commands of one line; `is_plain` is false where more may run, or be written to, than can be told."""

    parts: tuple[str, ...]
    is_plain: bool


def matches_path(patterns: Iterable[str], path: str) -> bool:
    """True if one of the globs is about a path and none with `!` is: `*` in a folder, `**` over all.

    A glob without a slash is about files of that name anywhere, with `./` before it about the one at the top; one that
    names a folder is about all in it. Where all begin with `!`, they are about everything else.
    """
    return _chosen(_compiled(tuple(patterns), _path_glob), (path,))


def matches_host(patterns: Iterable[str], host: str) -> bool:
    """True if one of the patterns is about a host and none with `!` is; `*.example.org` is about what is below."""
    name = host.lower().rstrip(".")
    return _chosen(_compiled(tuple(patterns), _host_glob), (name,))


@lru_cache(maxsize=200)
def _first_words(line: str) -> frozenset[str]:
    """Returns the first words of all that the rules compare of a line."""
    forms = (form for some in (*_carried_out(line), *_only_carried_out(line)) for form in some)
    return frozenset(form.split(" ", 1)[0] for form in (line.strip(), *forms))


def denies_command(patterns: Iterable[str], line: str) -> bool:
    """True if one of the patterns is about some command of a line, also within `sh -c` or after `sudo`."""
    compiled = _compiled(tuple(patterns), _command_glob)
    return any(_chosen(compiled, forms) for forms in _carried_out(line))


def allows_command(patterns: Iterable[str], line: str) -> bool:
    """True if the patterns are about every command of a line, and nothing else is carried out or written by it.

    A pattern that is the very line is about all that it does.
    """
    every = tuple(patterns)
    if not any(one.startswith("!") for one in every) and ("*" in every or line.strip() in every):
        return True
    compiled = _compiled(every, _command_glob)
    commands = _only_carried_out(line)
    if not commands or not all(_chosen(compiled, forms) for forms in commands):
        return False
    taken_back = compiled.taken_back
    return taken_back is None or not any(map(taken_back.fullmatch, chain.from_iterable(_carried_out(line))))


def is_harmless(line: str, needed: tuple[str, ...]) -> bool:
    """True if all that a line does is needed in any case, or only looks."""
    return allows_command((*_LOOKING, *needed, *_NOT_LOOKING), line) and not _hides_option(line)


def _hides_option(line: str) -> bool:
    """True if a program that has options to do more than look may get one that is not spelled out."""
    for one in _told_apart(_unwrapped(line)).parts:
        words = _words(one)
        is_spelled_out = not any(word.startswith("-") and re.search(r"[${]", word) for word in words)
        if words and words[0] in {"git", "rg"} and (_EXPANDED.search(one) or not is_spelled_out):
            return True
    return False


def learned_pattern(line: str) -> str:
    """Returns the pattern that "always allow" remembers for a command: its program and what it is to do.

    `go test ./... -run X` becomes `go test`; a line of several commands is remembered whole.
    """
    commands = _told_apart(_unwrapped(line))
    if not commands.is_plain or len(commands.parts) != 1:
        return line.strip()
    words = commands.parts[0].split()
    is_verb = len(words) > 1 and re.fullmatch(r"[a-z][\w:-]*", words[1]) is not None
    learned = " ".join(words[: 2 if is_verb else 1]) if is_verb or len(words) == 1 else commands.parts[0]
    return re.sub(r"[*?\[]", r"[\g<0>]", learned)  # what the shell expanded here is no pattern of ours


class _Patterns(NamedTuple):
    """The patterns of one rule as two expressions; None where there are none of a kind."""

    wanted: re.Pattern[str] | None
    taken_back: re.Pattern[str] | None


@lru_cache(maxsize=500)
def _compiled(patterns: tuple[str, ...], glob: Callable[[str], str]) -> _Patterns:
    wanted = [glob(one) for one in patterns if not one.startswith("!")]
    taken_back = [glob(one[1:]) for one in patterns if one.startswith("!")]
    both = (re.compile("|".join(some)) if some else None for some in (wanted, taken_back))
    return _Patterns(*both)


def _chosen(patterns: _Patterns, forms: tuple[str, ...]) -> bool:
    """True if what can be written in several forms is wanted in one of them, and taken back in none."""
    wanted, taken_back = patterns
    is_wanted = wanted is None or any(map(wanted.fullmatch, forms))
    return is_wanted and (taken_back is None or not any(map(taken_back.fullmatch, forms)))


@lru_cache(maxsize=200)
def _carried_out(line: str) -> tuple[tuple[str, ...], ...]:
    """Returns every command that a line may carry out, each in the forms that it can be written in.

    That includes what stands after `sudo` or `if`, and within `sh -c`; rather too much than too little.
    """
    found: dict[str, tuple[str, ...]] = {}
    texts = [line]
    for _ in range(_DEEPEST):
        commands = [one for text in texts for one in (text, *_told_apart(text).parts) if one not in found]
        found.update((one, _forms(one)) for one in commands)
        inner: list[str] = []
        for words in filter(None, map(_words, commands)):
            for rest in _beginnings(words):
                name = rest[0].rsplit("/", 1)[-1]
                for named in dict.fromkeys((rest, (name, *rest[1:]))):
                    written = shlex.join(named)
                    bare = (" ".join(_without_git_options(named)),) if name == "git" else ()
                    found[written] = (*_forms(written), *bare)
                if _SHELLS.fullmatch(name) or name in _TAKES_TEXT:
                    texts_of = [word for word in rest[1:] if not word.startswith("-")]
                    inner += [*texts_of, *(_UNESCAPED.sub(r"\1", word) for word in texts_of)]
        texts = list(dict.fromkeys(inner))
    return tuple(dict.fromkeys(found.values()))


def _beginnings(words: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    """Yields all that may be a command of its own: the whole, and what follows a wrapper."""
    starts = [0]
    for start in starts:  # grows meanwhile
        yield words[start:]
        after = [one for one in _commands_after(words, start) if one not in starts]
        starts += after[: _MOST_BEGINNINGS - len(starts)]


def _commands_after(words: tuple[str, ...], start: int) -> Iterable[int]:
    """Yields where the command of a wrapper may begin: whether its options take values is not known."""
    name = words[start].rsplit("/", 1)[-1]
    if name == "find":
        yield from (at + 1 for at in range(len(words) - 1) if words[at].startswith(("-exec", "-ok")))
    own = _WRAPPERS.get(name, 0 if _ASSIGNMENT.match(words[start]) else -1)
    for at in range(start + 1, len(words)) if own >= 0 else ():
        if words[at].startswith("-") or _ASSIGNMENT.match(words[at]):
            continue
        yield at
        if not words[at - 1].startswith("-") and not words[at - 1].endswith((">", "<")):
            own -= 1
        if own < 0:
            return


def _without_git_options(words: tuple[str, ...]) -> tuple[str, ...]:
    """Returns a command of git without what stands before its subcommand, such as `-C FOLDER`."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _VALUED_BY_GIT else 1
    return (words[0], *words[at:])


@lru_cache(maxsize=200)
def _only_carried_out(line: str) -> tuple[tuple[str, ...], ...]:
    """Returns all that a line carries out; nothing where more may be, or be written, than can be told."""
    commands = _told_apart(_unwrapped(line))
    return tuple(map(_forms, commands.parts)) if commands.is_plain else ()


def _forms(command: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((command.strip(), " ".join(_words(command)))))


def _unwrapped(line: str) -> str:
    """Returns what `sh -c '…'` carries out, for clients that wrap every command so; other lines as they are."""
    words = _words(line)
    if len(words) == 3 and _SHELLS.fullmatch(words[0]) and re.fullmatch(r"-[a-z]*c", words[1]):  # noqa: PLR2004
        return words[2] if _WRAPPED.fullmatch(line) else line
    return line


@lru_cache(maxsize=200)
def _told_apart(line: str) -> Commands:
    """Returns the commands of a line; what follows a place that is not told for sure ends with each separator."""
    parts, part, quote, is_plain, position = [], [], "", True, 0
    while position < len(line):
        letter, two = line[position], line[position : position + 2]
        is_text = (
            quote == '"' and letter == "$" and _BEFORE_TEXT.search(line, max(0, position - 40), position)
        )
        message = _QUOTED_TEXT.match(line, position) if is_text else None
        if not message and _UNSURE[quote].match(line, position):
            break
        if message or (letter == "\\" and quote != "'"):
            part.append("TEXT" if message else "" if two == "\\\n" else two)  # the line goes on
            position = message.end() if message else position + 2
            continue
        if quote != "'" and (letter == "`" or two in ("$(", "<(", ">(")):
            is_plain = False
        if not quote and _COMMENT.match(line, position):
            quote = "#"
        elif letter in "'\"" and quote in ("", letter):
            quote = "" if quote else letter
        is_end = letter in _SEPARATORS and quote in ("", "#")
        if quote == "#" and letter == "\n":
            quote = ""
        if is_end and not _WITH_REDIRECTION.match(line, position):
            parts.append("".join(part))
            part = []
        else:
            part.append(letter)
        position += 1
    rest = "".join(part) + line[position:]
    is_sure = position >= len(line) and quote in ("", "#")
    for way in (rest,) if is_sure else dict.fromkeys((rest, rest.replace("\\\n", ""))):
        parts += [way] if is_sure else re.split(f"[{_SEPARATORS}]", way)
    spoken = [one.strip().lstrip("{!").strip() for one in parts]
    written = {target for one in spoken for target in _REDIRECTION.findall(_QUOTED.sub("''", one))}
    is_plain = is_plain and is_sure and written <= _HARMLESS_REDIRECTIONS
    return Commands(tuple(filter(None, spoken)), is_plain)


@lru_cache(maxsize=200)
def _words(command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return tuple(re.sub(r"['\"\\]", "", command).split())


def _command_glob(pattern: str) -> str:
    """Returns what a pattern of commands means: the whole command, or its beginning up to a space."""
    whole = pattern.strip()
    beginning = whole[:-2] if whole.endswith(" *") else f"{whole} *"  # `go *` is about a bare `go` too
    return f"{translate(whole)}|{translate(beginning)}"


def _host_glob(pattern: str) -> str:
    return translate(pattern.lower())


def _path_glob(pattern: str) -> str:
    text = pattern.removeprefix("./").rstrip("/") or "/"
    is_name = "/" not in text and not pattern.startswith("./")
    anywhere = _WILDCARDS["**/"] if is_name and text != "**" else ""
    parts = (_WILDCARDS.get(part) or re.escape(part) for part in _PART_OF_GLOB.findall(text))
    return f"(?s:{anywhere}{''.join(parts)}(?:/.*)?)"


class RuleIndex:
    """The rules of one place about one operation, each with its patterns.

    Those about commands are found by a pattern's first word, others by one expression for the patterns of all. A rule
    that neither can rule out, such as one with nothing but `!`, is always asked.
    """

    def __init__(self, rules: Sequence[PermissionRule], *, is_shell: bool, is_network: bool) -> None:
        self.rules = tuple(rules)
        self._by_word: defaultdict[str, set[int]] = defaultdict(set)
        self._always: set[int] = set()
        self._others: set[int] = set()
        self._any: re.Pattern[str] | None = None
        self._is_shell = is_shell
        every: list[str] = []
        for number, rule in enumerate(rules):
            wanted = [one for one in rule.patterns if not one.startswith("!")]
            if not wanted:
                self._always.add(number)
            elif is_shell:
                for word in (one.strip().split(" ", 1)[0] for one in wanted):
                    has_others = not word or any(sign in word for sign in "*?[")
                    (self._always if has_others else self._by_word[word]).add(number)
            else:
                self._others.add(number)
                every += wanted
        if every:
            glob = _host_glob if is_network else _path_glob
            self._any = re.compile("|".join(map(glob, every)), re.IGNORECASE if is_network else 0)

    def about(self, target: str) -> tuple[PermissionRule, ...]:
        """Returns the rules that may be about a command, path or host, in their order."""
        found = self._always
        if self._is_shell:
            found = found.union(*(self._by_word.get(word, ()) for word in _first_words(target)))
        elif self._any is not None and self._any.fullmatch(target):
            found = found | self._others
        return tuple(self.rules[number] for number in sorted(found))
