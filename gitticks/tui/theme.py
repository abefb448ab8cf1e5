"""Colour tokens, glyphs and their ASCII twins: the only file that names a colour."""

from __future__ import annotations

import locale

from rich.style import Style
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.theme import Theme

from gitticks.cli.render import STATUS_LOOKS

LABELS = {
    "gt-dark": "dark",
    "gt-light": "light",
    "gt-contrast": "high contrast",
    "gt-plain": "no colour",
}
NAMES = tuple(LABELS)
"""The themes, in the order of the columns below; the last does without colour."""

TOKENS: dict[str, tuple[str, str, str, str]] = {
    "ground": ("#14161b", "#fbfaf7", "#000000", "#000000"),  # behind everything
    "raised": ("#252a33", "#eae8e1", "#333333", "#3a3a3a"),  # cursor line, dialogs, toasts
    "trace": ("#1b1f26", "#f2f0ea", "#1a1a1a", "#1c1c1c"),  # cursor line of a pane without the focus
    "line": ("#343a46", "#d3cfc5", "#8a8a8a", "#6c6c6c"),  # frames, rules, empty meters
    "fg": ("#d3d7de", "#2a2d34", "#ffffff", "#d0d0d0"),
    "strong": ("#f2f4f8", "#0d0f14", "#ffffff", "#ffffff"),
    "muted": ("#8f97a6", "#5c6069", "#d0d0d0", "#a8a8a8"),
    "faint": ("#6b7382", "#7f828a", "#b0b0b0", "#8a8a8a"),  # only what is said elsewhere too
    "focus": ("#6cc0b4", "#0b6b63", "#00ffff", "#ffffff"),  # frame of the focused pane, keys
    "busy": ("#82aaf0", "#2456b8", "#8cc8ff", "#d0d0d0"),  # an agent is at it
    "waits": ("#e5b45f", "#7f5200", "#ffd75f", "#ffffff"),  # it is your turn: the only warm colour
    "good": ("#8bbf8f", "#276a3b", "#87ff87", "#d0d0d0"),
    "bad": ("#e58078", "#b13227", "#ff8787", "#ffffff"),
    "word": ("#b7a0e6", "#7040a8", "#d7afff", "#ffffff"),  # keywords in code
    "added": ("#1c2b25", "#e3f2e4", "#003300", "#1c1c1c"),
    "gone": ("#31211f", "#fae5e2", "#440000", "#1c1c1c"),
}

GLYPHS: dict[str, tuple[str, str]] = {
    **{status: (sign, twin) for status, (sign, twin, _) in STATUS_LOOKS.items()},
    "blocked": ("◌", "."),
    "full": ("━", "#"),
    "empty": ("─", "-"),
    "bar": ("▌", "|"),
    "open": ("▾", "v"),
    "shut": ("▸", ">"),
    "more": ("…", "~"),
    "dot": ("·", "-"),
    "minus": ("−", "-"),
    "in": ("›", ">"),
    "to": ("→", ">"),
}
STATUS_COLOUR = {
    "pending": "fg",
    "blocked": "faint",
    "working": "busy",
    "agent-review": "busy",
    "clarification": "waits",
    "reviewing": "waits",
    "stuck": "bad",
    "done": "good",
    "cancelled": "faint",
}


class _Signs:
    """Which of the two sets of glyphs is used: one choice for the whole process, as there is one terminal."""

    is_ascii = False
    encoding: str | None = None
    """The terminal's, where it cannot write every text."""


def use_ascii(*, wanted: bool) -> None:
    """Draws with ASCII alone from now on, or with all glyphs, and bars of scrolling likewise."""
    _Signs.is_ascii = wanted
    _Signs.encoding = None if can_draw() else locale.getencoding()
    ScrollBar.renderer = _PlainScrollBar if wanted else ScrollBarRender


def uses_ascii() -> bool:
    """True while only ASCII is drawn."""
    return _Signs.is_ascii


def writable(text: str) -> str:
    """Returns a text with signs of its own for what the terminal's encoding lacks, so that its width is known."""
    return text.encode(_Signs.encoding, "replace").decode(_Signs.encoding) if _Signs.encoding else text


class _PlainScrollBar(ScrollBarRender):
    """Without the eighths of a cell at its ends."""

    VERTICAL_BARS = HORIZONTAL_BARS = [" "] * 8


def can_draw() -> bool:
    """True if the terminal's encoding has the glyphs; Python itself writes UTF-8 in the locale C too."""
    try:
        "○◐⊙✓▌━╭".encode(locale.getencoding())
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def glyph(name: str) -> str:
    """Returns the glyph, or its ASCII twin."""
    return GLYPHS[name][_Signs.is_ascii]


def dotted(*parts: str) -> str:
    """Returns the parts with a dot between them, without those that are empty."""
    return f" {glyph('dot')} ".join(filter(None, parts))


def theme_of(theme: str) -> Theme:
    """Returns a theme; its variables are the tokens (`$gt-waits`), so that CSS and code share them."""
    colours = _colours(theme)
    return Theme(
        theme,
        primary=colours["focus"],
        accent=colours["focus"],
        foreground=colours["fg"],
        background=colours["ground"],
        surface=colours["ground"],
        panel=colours["raised"],
        success=colours["good"],
        warning=colours["waits"],
        error=colours["bad"],
        dark=theme != "gt-light",
        variables={
            **{f"gt-{name}": colour for name, colour in colours.items()},
            "scrollbar": colours["line"],
            "scrollbar-background": colours["ground"],
            "scrollbar-hover": colours["faint"],
            "scrollbar-active": colours["focus"],
            "border": colours["focus"],
            "input-cursor-background": colours["focus"],
            "input-selection-background": colours["line"],
        },
    )


def _colours(theme: str) -> dict[str, str]:
    at = NAMES.index(theme)
    return {token: values[at] for token, values in TOKENS.items()}


class Look(dict[str, Style]):
    """The styles of a theme by token, with `*token` for the bold one and `^token` for the ground behind.

    With `@` and an action behind a token, the text does that when it is clicked.
    """

    def __missing__(self, token: str) -> Style:
        colour, _, action = token.partition("@")
        return self[colour] + Style(meta={"@click": action})


def look_of(theme: str) -> Look:
    """Returns the styles of a theme."""
    found = Look()
    for token, colour in _colours(theme).items():
        found[token] = Style(color=colour)
        found[f"*{token}"] = Style(color=colour, bold=True)
        found[f"^{token}"] = Style(bgcolor=colour)
    return found
