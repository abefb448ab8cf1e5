"""SSH keys for tests, made by `ssh-keygen`, and a hardware key in software."""

from __future__ import annotations

import base64
import hashlib
import subprocess
from pathlib import Path


def make_key(folder: Path, name: str) -> Path:
    """Makes a key without a passphrase and returns its file; the public half lies beside it."""
    file = folder / name
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(file)],
        check=True,
        capture_output=True,
    )
    return file


def signer_line(address: str, key: Path, options: str = "") -> str:
    """Returns the line of allowed signers that lets a key speak for an address."""
    public = key.with_name(f"{key.name}.pub").read_text()
    return f"{address} {options}{' ' if options else ''}{public}"


def sign_by(key: Path, payload: bytes, namespace: str) -> str:
    """Signs as anybody can who has the key."""
    asked = ["ssh-keygen", "-Y", "sign", "-f", str(key), "-n", namespace]
    return subprocess.run(asked, input=payload, check=True, capture_output=True).stdout.decode()


_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_Point = tuple[int, int]


def _recovered(y: int) -> int:
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P)
    x = pow(square, (_P + 3) // 8, _P)
    x = x if (x * x - square) % _P == 0 else x * pow(2, (_P - 1) // 4, _P) % _P
    return x if x % 2 == 0 else _P - x


_BASE = (_recovered(4 * pow(5, _P - 2, _P) % _P), 4 * pow(5, _P - 2, _P) % _P)


def _add(one: _Point, other: _Point) -> _Point:
    (x1, y1), (x2, y2) = one, other
    product = _D * x1 * x2 * y1 * y2
    x = (x1 * y2 + x2 * y1) * pow(1 + product, _P - 2, _P)
    y = (y1 * y2 + x1 * x2) * pow(1 - product, _P - 2, _P)
    return x % _P, y % _P


def _times(factor: int, point: _Point = _BASE) -> bytes:
    """Returns a multiple of a point of the curve of Ed25519, as it is written (RFC 8032)."""
    total = (0, 1)
    while factor:
        total = _add(total, point) if factor & 1 else total
        point, factor = _add(point, point), factor >> 1
    return (total[1] | (total[0] & 1) << 255).to_bytes(32, "little")


def _string(content: bytes) -> bytes:
    return len(content).to_bytes(4, "big") + content


class HardwareKey:
    """A token in software: what it signs is what `ssh-keygen` takes for a hardware key's."""

    _TYPE, _APPLICATION = b"sk-ssh-ed25519@openssh.com", b"ssh:"

    def __init__(self, seed: bytes = b"a token in software") -> None:
        digest = hashlib.sha512(seed).digest()
        number = int.from_bytes(digest[:32], "little")
        self._secret = (number & ~7 & ~(1 << 255)) | (1 << 254)
        self._prefix, self._public = digest[32:], _times(self._secret)
        self._blob = _string(self._TYPE) + _string(self._public) + _string(self._APPLICATION)

    def signer_line(self, address: str) -> str:
        """Returns the line of allowed signers that lets the key speak for an address."""
        return f"{address} {self._TYPE.decode()} {base64.b64encode(self._blob).decode()}\n"

    def sign(self, payload: bytes, namespace: str, *, touched: bool = True) -> str:
        """Returns the armored signature of a payload."""
        digest = _string(hashlib.sha512(payload).digest())
        head = _string(namespace.encode()) + _string(b"") + _string(b"sha512")
        flags = bytes([touched]) + (7).to_bytes(4, "big")
        message = hashlib.sha256(b"SSHSIG" + head + digest).digest()
        signed = self._sign(hashlib.sha256(self._APPLICATION).digest() + flags + message)
        signature = _string(self._TYPE) + _string(signed) + flags
        blob = b"SSHSIG" + (1).to_bytes(4, "big") + _string(self._blob) + head + _string(signature)
        text = base64.b64encode(blob).decode()
        lines = "\n".join(text[at : at + 70] for at in range(0, len(text), 70))
        return f"-----BEGIN SSH SIGNATURE-----\n{lines}\n-----END SSH SIGNATURE-----\n"

    def _sign(self, message: bytes) -> bytes:
        nonce = int.from_bytes(hashlib.sha512(self._prefix + message).digest(), "little") % _L
        point = _times(nonce)
        challenge = hashlib.sha512(point + self._public + message).digest()
        answer = (nonce + int.from_bytes(challenge, "little") * self._secret) % _L
        return point + answer.to_bytes(32, "little")
