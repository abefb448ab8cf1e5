"""SSH signatures by `ssh-keygen`, as git makes them: signed, parsed and verified."""

from __future__ import annotations

import base64
import binascii
import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from gitticks.errors import GitticksError, RefusedError
from gitticks.git.process import printable

_SIGN_SECONDS = 300.0
"""So long a person may take for a passphrase, or to touch a key."""
_VERIFY_SECONDS = 30.0
_MAGIC = b"SSHSIG"
_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_LARGEST = 16_000
_TOUCHED = 1
"""The flag by which a token says that its user was there."""


class Signature(NamedTuple):
    """What an armored signature says of itself, which only `verify` proves."""

    key_type: str
    key: str
    namespace: str
    flags: int = 0

    @property
    def is_hardware(self) -> bool:
        """True if its key is in a hardware token, and somebody touched that; a key may be made to need no touch."""
        return self.key_type.startswith(("sk-ssh-", "sk-ecdsa-")) and bool(self.flags & _TOUCHED)


def read_signature(armored: str) -> Signature | None:
    """Returns what an armored signature says; None if it is none."""
    body = armored.strip()
    if not (body.startswith(_BEGIN) and body.endswith(_END)) or len(body) > _LARGEST:
        return None
    try:
        blob = base64.b64decode("".join(body[len(_BEGIN) : -len(_END)].split()), validate=True)
        if blob[:6] != _MAGIC:
            return None
        key, rest = _string(blob[10:])
        namespace, rest = _string(rest)
        _reserved, rest = _string(rest)
        _hash, rest = _string(rest)
        _kind, inner = _string(_string(rest)[0])
        flags = _string(inner)[1][:1]
        key_type, _ = _string(key)
        return Signature(
            key_type.decode("ascii"),
            base64.b64encode(key).decode(),
            namespace.decode(),
            int.from_bytes(flags, "big"),
        )
    except (binascii.Error, ValueError):
        return None


def principals_of(allowed: bytes, key: str) -> frozenset[str]:
    """Returns whose key it is by a file of allowed signers: addresses, or patterns of them."""
    lines = (line.split() for line in allowed.decode("utf-8", "replace").splitlines())
    return frozenset(one for words in lines if key in words for one in words[0].split(","))


def _string(blob: bytes) -> tuple[bytes, bytes]:
    size = int.from_bytes(blob[:4], "big")
    if len(blob) < 4 + size:
        raise ValueError
    return blob[4 : 4 + size], blob[4 + size :]


def sign(payload: bytes, key: str, namespace: str) -> str:
    """Returns the armored signature of a payload; `ssh-keygen` asks for a passphrase or a touch itself.

    `key` is the file of a private key, or of a public one that the agent of ssh holds, or such a key itself.
    """
    with tempfile.TemporaryDirectory(prefix="gitticks-sign-") as folder:
        file = key
        if key.removeprefix("key::").startswith(("ssh-", "ecdsa-", "sk-")):
            file = f"{folder}/key.pub"
            Path(file).write_text(f"{key.removeprefix('key::')}\n", encoding="utf-8")
        code, out, err = _run(
            ["-Y", "sign", "-f", os.path.expanduser(file), "-n", namespace], payload, _SIGN_SECONDS
        )
    if code != 0:
        raise GitticksError(
            f"`ssh-keygen` did not sign with `{printable(key, 80)}`: {printable(err) or 'no reason given'}",
            hint="`ssh-add -l` lists the keys that the agent holds; `--key FILE` names another",
        )
    return out.strip() + "\n"


def verify(
    payload: bytes, armored: str, allowed: bytes, *, identity: str, namespace: str, at: datetime
) -> str | None:
    """Returns why a signature does not prove that `identity` signed the payload, in words; None if it does.

    `allowed` is a file of allowed signers, as ssh-keygen(1) describes it, `identity` the principal in it; the key has to
    be valid `at` that time.
    """
    read = read_signature(armored)
    if read is None:
        return "that is not an SSH signature"
    if read.namespace != namespace:
        return f"the signature was made for `{printable(read.namespace, 60)}`, not for `{namespace}`"
    if read.key.encode() not in allowed:
        return f"its key ({read.key_type}) is not among the allowed signers"
    with tempfile.TemporaryDirectory(prefix="gitticks-verify-") as folder:
        signers, signature = Path(folder, "allowed"), Path(folder, "signature")
        signers.write_bytes(allowed)
        signature.write_text(armored, encoding="utf-8")
        moment = f"verify-time={at.astimezone(UTC):%Y%m%d%H%M%S}Z"
        asked = [
            "-Y",
            "verify",
            "-f",
            str(signers),
            "-I",
            identity,
            "-n",
            namespace,
            "-s",
            str(signature),
            "-O",
            moment,
        ]
        code, out, err = _run(asked, payload, _VERIFY_SECONDS)
    return None if code == 0 else _why(f"{out}\n{err}", identity)


def _why(said: str, identity: str) -> str:
    text = said.lower()
    if "expired" in text or "not yet valid" in text:
        return f"the key of `{identity}` was not valid at that time, according to the allowed signers"
    if "incorrect signature" in text:
        return "the signature is for something else: another task, head, base, set of checks or policy"
    if "is not permitted" in text:
        return "the allowed signers limit its key to other purposes (`namespaces=`)"
    if "could not verify" in text:
        return f"its key is not one of `{identity}` in the allowed signers"
    return printable(said) or "`ssh-keygen` refuses the signature"


def _run(arguments: list[str], given: bytes, seconds: float) -> tuple[int, str, str]:
    import subprocess

    try:
        done = subprocess.run(
            ["ssh-keygen", *arguments],
            input=given,
            capture_output=True,
            timeout=seconds,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
    except FileNotFoundError as error:
        raise RefusedError(
            "`ssh-keygen` is not installed", hint="it comes with OpenSSH 8.2 or newer"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise GitticksError(f"`ssh-keygen` did not finish within {seconds:g} s") from error
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
