"""The guides of `gt help`: pages of the documentation, each opened by its name or by a word that it is about."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

_PAGES = ("tutorial/*.md", "how-to/*.md", "explanation/workflow.md")
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_ELSEWHERE = dict.fromkeys(("awaiting", "phase", "state", "transition", "verdict"), "workflow")
"""Words that people look up and no page has in its name or a heading, and the page that explains them."""


class Guide(NamedTuple):
    """A page of the documentation: its name (that of its file), its title, and its Markdown."""

    name: str
    title: str
    text: str

    def has_heading(self, word: str) -> bool:
        """True if a heading has the word."""
        headings = " ".join(line for line in self.text.splitlines() if line.startswith("#"))
        return _singular(word) in {_singular(each.strip("`'().,:")) for each in headings.split()}


@cache
def guides() -> dict[str, Guide]:
    """Returns every page by name; none in an installation that lacks them, which loses nothing but this."""
    package = Path(__file__).resolve().parents[2]
    docs = next((one for one in (package / "_docs", package.parent / "docs") if one.is_dir()), None)
    files = [] if docs is None else [path for one in _PAGES for path in sorted(docs.glob(one))]
    read = [(path.stem, _COMMENT.sub("", path.read_text("utf-8"))) for path in files]
    return {name: Guide(name, text.partition("\n")[0].lstrip("# "), text) for name, text in read}


def guides_about(word: str) -> list[Guide]:
    """Returns the pages that a word names: those with it in their name, else in a heading."""
    word = _ELSEWHERE.get(_singular(word), word)
    every = guides().values()
    named = [
        guide
        for guide in every
        if guide.name == word or _singular(word) in map(_singular, guide.name.split("-"))
    ]
    return named or [guide for guide in every if guide.has_heading(word)]


def guide_words() -> list[str]:
    """Returns the words of which the names of the pages consist."""
    return sorted({word for name in guides() for word in name.split("-")})


def _singular(word: str) -> str:
    return word.casefold().rstrip("s")
