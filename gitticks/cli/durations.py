"""Reads how long something is to take, as options give it: 90s, 30m, 2h, 14d or seconds."""

from __future__ import annotations

from gitticks.errors import DocumentError, UsageError


def seconds_of(option: str, text: str) -> float:
    """Returns the seconds that an option's value means.

    Raises:
        UsageError: it is no duration.
    """
    from gitticks.document.settings import find_setting, parse_value

    try:
        return float(str(parse_value(*find_setting("limits.idle"), text, option)))
    except DocumentError as error:
        raise UsageError(f"`{option}` is not a duration: '{text}'", hint=error.hint) from None
