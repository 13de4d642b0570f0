"""A throw-away PostgreSQL server from the installed package, and databases on it."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from sqlalchemy import create_engine, text
from sqlalchemy.exc import SQLAlchemyError

_OWNER = "certirag_owner"
_STARTED_WITHIN = 60.0


def server_programs() -> Path | None:
    """Return the folder of the newest installed server's programs, None when there is none."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda p: int(p.parts[4])
    )
    if found:
        return found[-1].parent
    on_path = shutil.which("postgres")
    return Path(on_path).resolve().parent if on_path else None


@dataclass(slots=True)
class Server:
    """A running server; it listens on a loopback port and trusts whoever reaches it."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes]
    numbers: Iterator[int] = field(default_factory=count)

    def url(self, database: str, role: str = _OWNER) -> str:
        """Return the URL of *database* as *role*."""
        return f"postgresql+pg8000://{role}@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """Return the name of a new, empty database that belongs to the owner's role."""
        name = f"log{next(self.numbers)}"
        self.run("postgres", f"CREATE DATABASE {name} OWNER {_OWNER}")
        return name

    def new_role(self) -> str:
        """Return the name of a new role that may log in and nothing else."""
        name = f"role{next(self.numbers)}"
        self.run("postgres", f"CREATE ROLE {name} LOGIN")
        return name

    def run(self, database: str, *statements: str) -> None:
        """Run *statements* as the superuser, each committed by itself."""
        engine = create_engine(self.url(database, "postgres"), isolation_level="AUTOCOMMIT")
        try:
            with engine.connect() as connection:
                for statement in statements:
                    connection.execute(text(statement))
        finally:
            engine.dispose()

    def cut_off(self, database: str) -> None:
        """End every session of *database*, as a server that restarts does."""
        self.run(
            "postgres",
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'",  # noqa: S608  # a name made above
        )


@contextmanager
def running_server(*, durable: bool = False) -> Iterator[Server]:
    """Make a cluster in a temporary folder, run it, and stop it by its own process id.

    Unless it is *durable* it does not wait for the disk: processes may be killed, not the machine.
    """
    programs = server_programs()
    assert programs is not None, "PostgreSQL is not installed: apt-get install postgresql"
    # The server refuses to run as root, and may not enter folders of root's.
    user = "postgres" if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="certirag-postgres-"))
    try:
        if user is not None:
            entry = pwd.getpwnam(user)
            os.chown(folder, entry.pw_uid, entry.pw_gid)
        cluster = folder / "cluster"
        made = [programs / "initdb", "-D", cluster, "-U", "postgres", "-A", "trust"]
        subprocess.run(
            [*made, "-E", "UTF8", "--locale=C", "--no-sync"],
            check=True,
            capture_output=True,
            cwd=folder,
            user=user,
        )
        port = _free_port()
        options = [
            f"-cport={port}",
            "-clisten_addresses=127.0.0.1",
            f"-cunix_socket_directories={folder}",
            f"-cfsync={'on' if durable else 'off'}",
        ]
        with (folder / "server.log").open("wb") as log:
            process = subprocess.Popen(
                [programs / "postgres", "-D", cluster, *options],
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=folder,
                user=user,
            )
        try:
            server = Server(folder, port, process)
            _wait_until_up(server)
            server.run("postgres", f"CREATE ROLE {_OWNER} LOGIN")
            yield server
        finally:
            process.send_signal(signal.SIGINT)  # a fast shutdown: sessions are cut off
            process.wait(timeout=_STARTED_WITHIN)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _wait_until_up(server: Server) -> None:
    deadline = time.monotonic() + _STARTED_WITHIN
    while True:
        try:
            server.run("postgres", "SELECT 1")
        except SQLAlchemyError:
            if server.process.poll() is not None or time.monotonic() > deadline:
                log = (server.folder / "server.log").read_text("utf-8", "replace")
                raise AssertionError(f"PostgreSQL did not start:\n{log}") from None
            time.sleep(0.1)
        else:
            return
