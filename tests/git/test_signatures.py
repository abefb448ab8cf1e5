"""Signatures as `ssh-keygen` makes and verifies them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitticks.errors import GitticksError
from gitticks.git.signatures import read_signature, sign, verify
from tests.support.keys import HardwareKey, make_key, signer_line

ADDRESS, NAMESPACE, PAYLOAD = "ada@example.org", "gitticks-approval@v1", b"what is approved\n"
AT = datetime(2026, 3, 4, tzinfo=UTC)


def problem(signature: str, allowed: str, payload: bytes = PAYLOAD) -> str | None:
    """Returns why a signature is not Ada's of the payload."""
    return verify(payload, signature, allowed.encode(), identity=ADDRESS, namespace=NAMESPACE, at=AT)


def test_what_is_signed_is_verified_and_read(tmp_path: Path) -> None:
    key = make_key(tmp_path, "ada")
    signature = sign(PAYLOAD, str(key), NAMESPACE)
    read = read_signature(signature)

    assert problem(signature, signer_line(ADDRESS, key)) is None
    assert read is not None
    assert (read.key_type, read.namespace, read.is_hardware) == ("ssh-ed25519", NAMESPACE, False)
    assert "for something else" in str(problem(signature, signer_line(ADDRESS, key), b"another\n"))


@pytest.mark.parametrize("touched", [True, False])
def test_a_hardware_key_counts_as_one_once_it_was_touched(touched: bool) -> None:
    key = HardwareKey()
    signature = key.sign(PAYLOAD, NAMESPACE, touched=touched)
    read = read_signature(signature)

    assert problem(signature, key.signer_line(ADDRESS)) is None
    assert read is not None
    assert read.is_hardware is touched
    assert problem(signature, key.signer_line("bob@example.org")) is not None


@pytest.mark.parametrize(
    "text",
    ["", "signed", "-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----", "-" * 100_000],
)
def test_what_is_no_signature_is_said(text: str) -> None:
    assert read_signature(text) is None
    assert problem(text, "ada@example.org ssh-ed25519 AAAA\n") == "that is not an SSH signature"


def test_a_key_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(GitticksError, match="did not sign with") as refused:
        sign(PAYLOAD, str(tmp_path / "gone"), NAMESPACE)
    assert "--key FILE" in str(refused.value.hint)
