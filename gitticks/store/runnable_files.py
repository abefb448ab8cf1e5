"""What the files of the state branch would run: settings, templates, and the scripts of tasks."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from gitticks.document.runnables import Runnable, RunnableKind, changed_settings, runnables_of_layer
from gitticks.document.settings import Layer, read_layer
from gitticks.document.taskfile import TaskFile
from gitticks.errors import DocumentError
from gitticks.git.repository import Repository
from gitticks.model.notes import Section
from gitticks.store.layout import CONFIG_PATH, PROMPTS_FOLDER, may_run, state_tip, task_of_path
from gitticks.store.transaction import Transaction, read_file
from gitticks.store.trust import agreed_settings, trust, untrusted

_NOTHING = Layer()


def trust_own(repository: Repository, changed: Mapping[str, tuple[bytes | None, bytes | None]]) -> None:
    """Trusts what a change that was made in this clone brought; what stood there before is as trusted as it was.

    So is what replaces a part of it, what was moved, and what stood in a file that nobody could read.
    """
    waiting: dict[str, set[str]] = {}
    foreign = []
    agreed = agreed_settings(repository)
    for path, (old, _) in changed.items():
        if old is not None:
            stood = {*runnables_of_file(path, old)} & {*runnables_of_file(path, old, agreed)}
            waiting[path] = {one.name for one in untrusted(repository, stood)}
            if waiting[path] or not stood:
                foreign.append(_words(old.decode("utf-8", "replace")))
    new = []
    for path, (old, content) in changed.items():
        brought = _settings_brought(old, content) if path == CONFIG_PATH else runnables_of_file(path, content)
        found = [one for one in brought if one.name not in waiting.get(path, ())]
        if found and (old is None or why_unread(path, old) is None):
            new += [
                one
                for one in found
                if one.kind is RunnableKind.SETTING or not any(_words(one.text) in text for text in foreign)
            ]
    trust(repository, new)


def _settings_brought(old: bytes | None, new: bytes | None) -> tuple[Runnable, ...]:
    with contextlib.suppress(DocumentError):
        return changed_settings(_layer_of(old), _layer_of(new))
    return ()


def _layer_of(content: bytes | None) -> Layer:
    return read_layer((content or b"").decode("utf-8", "replace"))[0]


def _words(text: str) -> str:
    """Returns a text as it is compared with what it may have been moved from, indented or not."""
    return " ".join(text.split())


def why_unread(path: str, content: bytes) -> DocumentError | None:
    """Returns why nobody can tell everything that a file of the state branch would run; None if they can."""
    task_id = task_of_path(path)
    try:
        if path == CONFIG_PATH:
            return next(iter(read_layer(content.decode("utf-8", "replace"))[1].values()), None)
        if task_id is not None:
            TaskFile.parse(content, path).scripts  # noqa: B018 - which raises
    except DocumentError as error:
        return error
    return None


def runnables_of_file(path: str, content: bytes | None, agreed: Layer = _NOTHING) -> tuple[Runnable, ...]:
    """Returns what one file of the state branch would run, and which of its settings are looser than those agreed to."""
    if path == CONFIG_PATH:
        with contextlib.suppress(DocumentError):
            return runnables_of_layer(_layer_of(content), agreed)
        return ()
    if content is None or not may_run(path, content):
        return ()
    task_id = task_of_path(path)
    if task_id is None:
        return (Runnable(RunnableKind.TEMPLATE, path, content.decode("utf-8", "replace")),)
    try:
        file = TaskFile.parse(content, task_id)
        scripts = file.scripts
    except DocumentError:
        return ()
    if not scripts.worker and not scripts.reviewer:
        return ()
    return (Runnable(RunnableKind.SCRIPT, task_id, (file.section(Section.SCRIPT) or "").strip()),)


def team_runnables(branch: Transaction, agreed: Layer = _NOTHING) -> tuple[Runnable, ...]:
    """Returns what of the settings has to be trusted, and the templates."""
    paths = [CONFIG_PATH]
    for folder in (PROMPTS_FOLDER, f"{PROMPTS_FOLDER}/parts"):
        paths += [f"{folder}/{name}" for name in branch.list(folder)]
    return tuple(one for path in paths for one in runnables_of_file(path, branch.read(path), agreed))


def team_runnables_of(repository: Repository, name: str) -> tuple[Runnable, ...]:
    """Returns a setting of the team's as what has to be trusted where it came with a fetch; nothing if it need not be."""
    objects = repository.objects
    content = read_file(objects, objects.tree_of(state_tip(repository)), CONFIG_PATH)
    found = runnables_of_file(CONFIG_PATH, content, agreed_settings(repository))
    return tuple(one for one in found if one.name == name)
