"""A real PostgreSQL server of our own in a folder: started, stopped, killed. For tests and benchmarks.

The programs come from the package ``pgserver`` (PostgreSQL 16) or from Debian's ``postgresql``;
``$WORLDTHREAD_POSTGRES_BIN`` names another folder. PostgreSQL refuses to run as root, so root hands it to ``nobody``.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

_DEBIAN = Path("/usr/lib/postgresql")
_SETTINGS = {
    "fsync": "on",
    "max_connections": "60",
    "shared_buffers": "64MB",
    "logging_collector": "off",
    "restart_after_crash": "off",
}


def programs() -> Path | None:
    """The folder of the programs of PostgreSQL; ``None`` when there is none on this machine."""
    if named := os.environ.get("WORLDTHREAD_POSTGRES_BIN"):
        return Path(named)
    package = importlib.util.find_spec("pgserver")
    if package is not None and package.origin is not None:
        return Path(package.origin).parent / "pginstall" / "bin"
    found = sorted(_DEBIAN.glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    return found[-1].parent if found else None


class PostgresServer:
    """A server with its data in a folder; the superuser is ``owner``, and has a password over TCP.

    Args:
        folder: where the data lies; it must not exist. A short path, since a socket lies in it.
        settings: further settings of the server.
    """

    def __init__(self, folder: Path, **settings: str) -> None:
        found = programs()
        assert found is not None, "no PostgreSQL: install pgserver, or Debian's postgresql"
        self.folder, self._bin, self._settings = folder, found, _SETTINGS | settings
        self.password = secrets.token_hex(8)
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = itertools.count()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.socket = folder / "s"
        self.data = folder / "data"
        folder.mkdir(mode=0o755)
        self.socket.mkdir()
        self.data.mkdir(mode=0o700)
        (folder / "password").write_text(self.password)
        for path in (self.socket, self.data, folder / "password"):
            self._hand_over(path)
        self._run("initdb", "-D", self.data, "-U", "owner", "-E", "UTF8", "--locale=C", "--auth-local=trust",
                  "--auth-host=scram-sha-256", f"--pwfile={folder / 'password'}")  # fmt: skip

    @property
    def version(self) -> str:
        """What the server says of itself."""
        return subprocess.check_output([self._bin / "postgres", "--version"], text=True).strip()

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        options = [f"-c{name}={value}" for name, value in self._settings.items()]
        self._process = subprocess.Popen(
            [*self._identity(), self._bin / "postgres", "-D", self.data, "-k", self.socket, "-p", str(self.port),
             "-h", "127.0.0.1", *options], stdout=(self.folder / "log").open("ab"), stderr=subprocess.STDOUT,
            start_new_session=True, cwd=self.folder,
        )  # fmt: skip
        for _ in range(600):
            if (
                subprocess.run([self._bin / "pg_isready", "-q", "-h", self.socket, "-p", str(self.port)]).returncode
                == 0
            ):
                return
            assert self._process.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.05)
        raise AssertionError("the server does not answer")

    def kill(self) -> None:
        """``kill -9`` of the server with all its processes."""
        assert self._process is not None
        children = self._children()
        for pid in (self._process.pid, *children):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self._process.wait()
        while any(Path(f"/proc/{pid}").exists() for pid in children):
            time.sleep(0.01)
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def _children(self) -> list[int]:
        assert self._process is not None
        listed = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text()
        return [int(pid) for pid in listed.split()]

    def stop(self) -> None:
        """Stop the server at once, without cleaning up: nobody starts it again."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(timeout=60)

    def create_database(self, name: str) -> str:
        """Make an empty database, and return its address, over the socket of the machine, as its owner."""
        self._run("createdb", "-h", self.socket, "-p", str(self.port), "-U", "owner", "-T", "template0", name)
        return self.address(name)

    def has_tls(self, key: Path, certificate: Path) -> bool:
        """Start again with TLS; return whether this server can."""
        self.stop()
        for path, name in ((key, "server.key"), (certificate, "server.crt")):
            copy = self.data / name
            shutil.copy(path, copy)
            copy.chmod(0o600)
            self._hand_over(copy)
        self._settings |= {"ssl": "on"}
        try:
            self.start()
        except AssertionError:
            del self._settings["ssl"]
            self.start()
            return False
        return True

    def new_address(self) -> str:
        """Make an empty database with a name of its own, and return its address as its owner."""
        return self.create_database(f"empty_{next(self._numbers)}")

    def address(self, database: str, user: str = "owner") -> str:
        """The address of a database over the socket of the machine, which asks for no password."""
        return f"postgresql://{user}@/{database}?host={self.socket}&port={self.port}"

    def tcp_address(self, database: str, user: str = "owner", password: str | None = None) -> str:
        """The address of a database over TCP, with a password."""
        return f"postgresql://{user}:{password or self.password}@127.0.0.1:{self.port}/{database}"

    def sql(self, statement: str, database: str = "postgres") -> str:
        """Run SQL as the superuser, and return what psql prints."""
        return self._run("psql", "-h", self.socket, "-p", str(self.port), "-U", "owner", "-d", database, "-At",
                         "-v", "ON_ERROR_STOP=1", "-c", statement)  # fmt: skip

    def _run(self, program: str, *arguments: str | Path) -> str:
        done = subprocess.run(
            [*self._identity(), self._bin / program, *arguments], capture_output=True, text=True, cwd=self.folder
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    @staticmethod
    def _identity() -> list[str]:
        # Not the arguments user= and group= of subprocess: with them it forks, which ends the child of a process whose
        # gRPC threads (of Milvus Lite) are at work; without them it does not.
        return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []

    @staticmethod
    def _hand_over(path: Path) -> None:
        if os.geteuid() == 0:
            shutil.chown(path, "nobody", "nogroup")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


@contextmanager
def temporary_server(**settings: str) -> Iterator[PostgresServer]:
    """A running server in a folder that is removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="wt"))
    folder.chmod(0o755)
    try:
        with PostgresServer(folder / "pg", **settings) as server:
            yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)
