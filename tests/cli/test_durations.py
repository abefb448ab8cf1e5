from __future__ import annotations

import pytest

from gitticks.cli.durations import seconds_of
from gitticks.errors import UsageError


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("30m", 1800), ("2h", 7200), ("14", 14)])
def test_a_duration_is_read(text: str, seconds: float) -> None:
    assert seconds_of("--every", text) == seconds


@pytest.mark.parametrize("text", ["soon", "0", "-5m", ""])
def test_what_is_none_is_told_with_the_option(text: str) -> None:
    with pytest.raises(UsageError, match="`--every` is not a duration") as wrong:
        seconds_of("--every", text)
    assert (wrong.value.hint or "").startswith("write 90s, 30m")
