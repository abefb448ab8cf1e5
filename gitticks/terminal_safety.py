"""Which characters could control a terminal, so that no text from a file, task or agent is shown with them.

A leaf module, because the query index holds text that is printed as it is there.
"""

from __future__ import annotations

_HARMFUL = {"Cc", "Cf", "Zl", "Zp", "Cs", "Co"}
_FIRST_HIDING, _LAST_HIDING = "\U000e0000", "\U000e0fff"
"""Tags and the further variation selectors: never seen, and room for any message to whoever reads the bytes."""
JOINERS = frozenset({"\u200d", "\ufe0f", "\u200c"})
"""Format characters that emoji and some scripts cannot be written without."""


def are_harmless(text: str) -> bool:
    """True for a text of which a glance shows that it holds no harmful character, as for most."""
    return text.isprintable() and (text.isascii() or max(text) < _FIRST_HIDING)


def is_harmful(char: str) -> bool:
    """True for a character that could steer a terminal, or hide in it, or that no file can hold."""
    if are_harmless(char):
        return False
    from unicodedata import category  # what is harmless, nearly all, needs no table of Unicode

    return (category(char) in _HARMFUL and char not in JOINERS) or _FIRST_HIDING <= char <= _LAST_HIDING


def escaped(char: str) -> str:
    r"""Returns a character as an escape such as `\u202e`; a byte of a file's name that is not UTF-8 is `\xe9`, say."""
    is_byte = "\udc80" <= char <= "\udcff"  # as `os.fsdecode` gives one
    shown = chr(ord(char) - 0xDC00) if is_byte else char
    return shown.encode("unicode_escape").decode("ascii")


def safe_json(text: str) -> str:
    """Returns JSON text on one line in which harmful characters are escapes."""
    if are_harmless(text):
        return text
    import json

    return "".join(json.dumps(char)[1:-1] if is_harmful(char) else char for char in text)
