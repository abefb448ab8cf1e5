"""What an agent's tool call means for permissions, for the tools of all known clients."""

from __future__ import annotations

import os
import re
import shlex
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from gitticks.workflow.permissions import Access, Operation

Parameters = Mapping[str, Any]

_COMMANDS = frozenset({"bash", "shell", "exec_command", "local_shell", "run_shell_command", "container.exec"})
_WRITING = frozenset(
    {"write", "edit", "multiedit", "notebookedit", "write_file", "replace", "edit_file", "create_file", "patch", "apply_patch"}
)  # fmt: skip
_READING = frozenset(
    {
        "read", "glob", "grep", "ls", "list", "read_file", "read_many_files", "list_directory", "search_file_content",
        "grep_search", "view_image",
    }
)  # fmt: skip
_REACHING = frozenset({"webfetch", "web_fetch", "fetch", "websearch", "web_search", "google_web_search"})
_OWN = frozenset(
    {
        "todowrite", "todoread", "write_todos", "task", "agent", "skill", "exitplanmode", "enterplanmode", "update_plan",
        "taskcreate", "taskget", "tasklist", "taskoutput", "taskstop", "taskupdate", "askuserquestion", "toolsearch",
        "reportfindings", "sendmessage", "save_memory", "complete_task",
    }
)  # fmt: skip
"""What clients do within themselves; sub-agents show the tools that they use."""
_PATHS = (
    "file_path",
    "filePath",
    "notebook_path",
    "path",
    "dir_path",
    "absolute_path",
    "paths",
    "include",
    "target_file",
)
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", re.MULTILINE)
_ADDRESS = re.compile(r"https?:[/\\]*[^\s\"'<>)\]/\\][^\s\"'<>)\]]*", re.IGNORECASE)
_SCHEME = re.compile(r"https?:[/\\]*", re.IGNORECASE)
_AROUND = "".join(map(chr, range(33)))
"""What clients take off both ends of an address."""
_BEFORE_WILDCARDS = re.compile(r"(?:[^*?\[{]*/)?")
_SEARCH, _UNNAMED = "web-search", "(no path)"
_LONGEST = 2000


def accesses(
    tool: str, parameters: Parameters, *, workspace: str, folder: str
) -> tuple[tuple[Access, ...], ...]:
    """Returns what the use of a tool would do, each under all its names; nothing for what a client does within itself.

    A tool that is not known counts as a command of its name.
    """
    name = tool.lower()
    if name in _OWN:
        return ()
    if name in _COMMANDS:
        return ((Access(Operation.SHELL, _command(parameters)),),)
    if name in _WRITING or name in _READING:
        operation = Operation.FILE_WRITE if name in _WRITING else Operation.FILE_READ
        paths = tuple(_paths(parameters))
        if not paths and operation is Operation.FILE_WRITE:
            return ((Access(operation, _UNNAMED),),)
        if name == "glob":
            paths = tuple(str(Path(path, _place_of(parameters))) for path in paths or (folder,))
        paths = paths or (folder,)
        return tuple(
            dict.fromkeys(file_names(operation, path, workspace=workspace, folder=folder) for path in paths)
        )
    if name in _REACHING:
        hosts = dict.fromkeys(_hosts(parameters)) or {_SEARCH: None}
        return tuple((Access(Operation.NETWORK, host),) for host in hosts)
    return ((Access(Operation.SHELL, shown(tool)),),)


def shown(text: str) -> str:
    """Returns a target as it may stand in records and on terminals, cut to a length."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def file_names(operation: Operation, path: str, *, workspace: str, folder: str) -> tuple[Access, ...]:
    """Returns the access to a path under both its names: where symbolic links lead, and how it is called."""
    absolute = os.path.normpath(Path(folder) / os.path.expanduser(path))
    real = os.path.realpath(absolute)
    top, real_top = os.path.normpath(workspace), os.path.realpath(workspace)
    called = _file(operation, absolute, top if _is_below(absolute, top) else real_top)
    led = _file(operation, real, real_top)
    return (led,) if called == led else (led, called)


def _place_of(parameters: Parameters) -> Path:
    """Returns the folder from which the pattern of a search goes, which may lead out of where it begins."""
    found = _BEFORE_WILDCARDS.match(str(parameters.get("pattern", "")))
    return Path(os.path.expanduser("" if found is None else found[0]))


def _command(parameters: Parameters) -> str:
    for key in ("command", "cmd", "script"):
        given = parameters.get(key)
        if isinstance(given, str):
            return given
        if isinstance(given, list):
            return shlex.join(map(str, given))
    return "?"


def _paths(parameters: Parameters) -> Iterable[str]:
    for key in _PATHS:
        given = parameters.get(key)
        if isinstance(given, str) and given:
            yield given
        elif isinstance(given, list):
            yield from (str(one) for one in given)
    for key in ("patch", "input", "command", "patchText"):
        given = parameters.get(key)
        if isinstance(given, list):
            given = "\n".join(map(str, given))
        if isinstance(given, str):
            yield from (path.strip() for path in _PATCHED.findall(given))


def _file(operation: Operation, absolute: str, workspace: str) -> Access:
    if _is_below(absolute, workspace):
        return Access(operation, os.path.relpath(absolute, workspace), is_inside=True)
    return Access(operation, absolute)


def _is_below(path: str, top: str) -> bool:
    return path == top or path.startswith(top.rstrip("/") + "/")


def _hosts(parameters: Parameters) -> Iterable[str]:
    for name, value in parameters.items():
        if not isinstance(value, str):
            continue
        whole = value.strip(_AROUND)
        if name == "url" and _SCHEME.match(whole):
            found = [whole]
        else:  # a word may have any sign before the `@`
            words = (word for word in value.split() if "@" in word and _SCHEME.match(word))
            found = [*_ADDRESS.findall(value), *words]
        yield from (host_of(address) or address for address in found)


def host_of(address: str) -> str:
    """Returns the host of a web address as clients read it; a plain name stands for itself, what is none is empty."""
    scheme = _SCHEME.match(address)
    text = (f"http://{address[scheme.end() :]}" if scheme else address).replace("\\", "/")
    if "://" not in text:
        return _mapped(text.partition("/")[0].partition(":")[0])
    try:
        return _mapped(unquote(urlsplit(text).hostname or ""))
    except ValueError:
        return ""


def _mapped(host: str) -> str:
    """Returns a host in the letters and dots that clients make of those which only look so."""
    return unicodedata.normalize("NFKC", host).replace("。", ".").lower()
