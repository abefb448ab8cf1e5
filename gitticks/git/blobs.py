"""The id that git gives to bytes, found without storing them."""

from __future__ import annotations

import hashlib


def blob_id(content: bytes) -> str:
    """Returns the object id of a blob with this content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
