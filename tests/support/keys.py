"""SSH keys for tests, made by `ssh-keygen`, and a hardware key in software."""

from __future__ import annotations

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
