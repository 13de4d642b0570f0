"""The signing key is made once and kept private."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from certirag.errors import AuditError, InputError
from certirag.proof.envelope import key_id
from certirag.proof.keys import read_public_key, signing_key, trusted_keys


def test_the_key_is_made_once_and_private(tmp_path: Path) -> None:
    """The second call gives the same key; the file is 0600; its public half is trusted."""
    key = signing_key(tmp_path)
    again = signing_key(tmp_path)
    path = tmp_path / "keys" / "signing.key"
    assert key.private_bytes_raw() == again.private_bytes_raw()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert set(trusted_keys(tmp_path)) == {key_id(key.public_key())}


def test_processes_that_start_together_share_one_key(tmp_path: Path) -> None:
    """The first to finish wins, and the others use its key."""
    program = (
        "import sys; from pathlib import Path; from certirag.proof.keys import signing_key; "
        "print(signing_key(Path(sys.argv[1])).public_key().public_bytes_raw().hex())"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(6)]
    assert len({process.communicate()[0] for process in started}) == 1


def test_an_exposed_or_damaged_key_is_refused(tmp_path: Path) -> None:
    """A key that others can read, or that is not a key, signs nothing."""
    signing_key(tmp_path)
    path = tmp_path / "keys" / "signing.key"
    path.chmod(0o644)
    with pytest.raises(AuditError, match="chmod 600"):
        signing_key(tmp_path)
    path.chmod(0o600)
    path.write_bytes(b"short")
    with pytest.raises(AuditError):
        signing_key(tmp_path)


@pytest.mark.parametrize("content", [b"", b"zz", b"00" * 31, b"01" + b"00" * 31, b"\xff"])
def test_what_is_no_public_key_is_bad_input(tmp_path: Path, content: bytes) -> None:
    """Wrong length, not hex, small order: one line that names the file."""
    path = tmp_path / "key.pub"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"key\.pub"):
        read_public_key(path)
