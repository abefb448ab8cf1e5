"""How fast secrets are masked, in text such as agents print: the source of this package, without one secret in it."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import gitticks
from gitticks.redaction import mask

_ROUNDS = 5
_CHARACTERS = 8_000_000


def megabytes_a_second() -> float:
    """Returns the median speed by time of the processor, as it does nothing but count."""
    sources = sorted(Path(gitticks.__file__).parent.rglob("*.py"))
    text = "".join(path.read_text(encoding="utf-8") for path in sources)
    text = (text * (_CHARACTERS // len(text) + 1))[:_CHARACTERS]
    return statistics.median(_measure(text) for _ in range(_ROUNDS))


def _measure(text: str) -> float:
    begun = time.process_time()
    mask(text)
    return len(text) / 1e6 / (time.process_time() - begun)
