"""Merges three versions of a text as git does, for all files that nothing better is known of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Merge = Callable[[str, bytes, bytes, bytes], bytes | None]
"""Merges the file at a path from base, ours and theirs; None if they conflict."""

_UNION_SUFFIX = ".jsonl"


def merge_text(path: str, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Returns the merged text; None if the same lines were changed on both sides, or if it is no text.

    Append-only logs (`*.jsonl`) take the lines of both sides, as the branch's attributes say.
    """
    import tempfile

    from gitticks.git.process import run_git

    with tempfile.TemporaryDirectory(prefix="gitticks-") as folder:
        files = [Path(folder, name) for name in ("ours", "base", "theirs")]
        for file, content in zip(files, (ours, base, theirs), strict=True):
            file.write_bytes(content)
        union = ["--union"] if path.endswith(_UNION_SUFFIX) else []
        arguments = ["merge-file", "--stdout", "--quiet", *union, *map(str, files)]
        merged = run_git(arguments, directory=Path(folder), check=False)
    return merged.stdout if merged.code == 0 else None
