"""Builds the documentation as a site: README and docs as they are in the repository, so that their links are checked.

A link to a file that is no page becomes its text. A broken link, a page that no list names, and anything that a
browser would fetch from another host end the build.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

OUT = Path("site")
_PAGES = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docs/**/*.md",
    "benchmarks/*.md",
    "hooks/README.md",
)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")
_LISTED = re.compile(r"\[([^\]]+)\]\(([\w./-]+\.md)\)")
_SECTIONS = ("Tutorial", "How to", "Reference", "Explanation")
_FETCHED = re.compile(
    r"<(?:script|img|iframe|source|object)\b[^>]*\s(?:src|data)=[\"']?(?:https?:)?//[^>]*>"
    r"|<link\b[^>]*\shref=[\"']?(?:https?:)?//[^>]*>|@import[^;]*//[^;]*|url\([\"']?(?:https?:)?//[^)]*\)"
)


def github_slug(text: str, separator: str) -> str:
    """Returns the anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", separator)


def pages() -> list[Path]:
    """Returns the files that become pages."""
    return sorted({path for pattern in _PAGES for path in Path().glob(pattern)})


def stage(folder: Path) -> list[str]:
    """Copies pages and pictures; returns what is wrong with links to other files."""
    known, problems = set(pages()), []
    shutil.copytree("docs/pictures", folder / "docs/pictures")
    for page in sorted(known):

        def linked(found: re.Match[str], page: Path = page) -> str:
            target = Path(_normal(page.parent / found[3]))
            if target in known or target.parts[:2] == ("docs", "pictures"):
                return found[0]
            if not target.exists():
                problems.append(f"{page}: `{found[3]}` does not exist")
            return found[2]

        copy = folder / page
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(_LINK.sub(linked, page.read_text("utf-8")), "utf-8")
    return problems


def _normal(path: Path) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def navigation() -> list[object]:
    """Returns the sections with their pages, as docs/README.md lists them."""
    text = Path("docs/README.md").read_text("utf-8")
    listed: list[object] = []
    named = {"README.md", "docs/README.md"}
    for section in _SECTIONS:
        block = text.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
        found = [(name, f"docs/{target}") for name, target in _LISTED.findall(block)]
        named |= {target for _, target in found}
        listed.append({section: [{name: target} for name, target in found]})
    rest = [str(path) for path in pages() if str(path) not in named]
    unlisted = [one for one in rest if one.startswith("docs/") and not one.startswith("docs/design/")]
    if unlisted:
        raise SystemExit(f"docs/README.md does not list {', '.join(unlisted)}")
    return [
        {"Home": "README.md"},
        {"Documentation": [{"Overview": "docs/README.md"}, *listed]},
        {"More": rest},
    ]


def foreign_fetches(folder: Path) -> Iterator[str]:
    """Yields what a browser would fetch from another host."""
    for page in sorted(folder.rglob("*.html")):
        yield from (f"{page}: {found[0][:120]}" for found in _FETCHED.finditer(page.read_text("utf-8")))


def main() -> int:
    """Builds the site; returns 1 with what is wrong on stderr."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "source"
        source.mkdir()
        problems = stage(source)
        settings = folder / "mkdocs.yml"
        added = {"docs_dir": str(source), "site_dir": str(OUT.resolve()), "nav": navigation()}
        # JSON is YAML, and each key stands on a line of its own.
        lines = [f"{key}: {json.dumps(value)}" for key, value in added.items()]
        settings.write_text(Path("mkdocs.yml").read_text("utf-8") + "\n".join(lines) + "\n", "utf-8")
        built = subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(settings)],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        )
    if built.returncode:
        problems += [line for line in built.stderr.splitlines() if not line.startswith("INFO")]
    problems += foreign_fetches(OUT)
    if problems:
        print(*problems, sep="\n", file=sys.stderr)
        return 1
    print(f"{OUT}/index.html: {len(pages())} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
