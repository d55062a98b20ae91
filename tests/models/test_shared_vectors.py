"""The cache by address, as the configuration names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldthread import Memory
from worldthread.caches import CacheLimits, open_cache
from worldthread.errors import DamagedFileError, FormatError, ModelConfigError
from worldthread.models.chat_cache import KeptAnswers
from worldthread.models.config import CacheConfig, load_cache_config, load_config
from worldthread.models.fake import FakeEmbedder
from worldthread.models.shared_vectors import VECTORS


def configured(tmp_path: Path, text: str, **environ: str) -> CacheConfig | None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    return load_cache_config(path=file, environ=environ)


def test_the_configuration_names_a_cache(tmp_path: Path) -> None:
    assert configured(tmp_path, "") is None
    assert configured(tmp_path, "[cache]\npath = 'answers'") is None
    found = configured(
        tmp_path, "[cache]\naddress = 'redis://:secret@host/1'\nmax_age_days = 2\nmax_megabytes = 1.5\nvectors = true"
    )
    assert found == CacheConfig("redis://:secret@host/1", CacheLimits(172800, 1_500_000), vectors=True)
    assert "secret" not in repr(found)
    limited = configured(tmp_path, "[cache]\npath = 'answers'\nmax_age_days = 1")
    assert limited is not None
    assert limited.address == f"sqlite:{tmp_path / 'answers'}"
    overridden = configured(tmp_path, "[cache]\nmax_age_days = 1", WORLDTHREAD_CACHE_ADDRESS="sqlite:x")
    assert overridden == CacheConfig("sqlite:x", CacheLimits(86400))
    with pytest.raises(ModelConfigError, match="a path and an address"):
        configured(tmp_path, "[cache]\npath = 'a'\naddress = 'sqlite:b'")
    with pytest.raises(FormatError):
        configured(tmp_path, "[cache]\nmax_age_days = 0")
    assert load_cache_config(environ={"HOME": str(tmp_path)}) is None
    assert load_config("m", environ={"HOME": str(tmp_path), "WORLDTHREAD_CACHE_ADDRESS": "sqlite:x"}).shared_cache == (
        CacheConfig("sqlite:x")
    )


def test_an_entry_that_is_no_answer(tmp_path: Path) -> None:
    with open_cache(f"sqlite:{tmp_path / 'c'}", "answers") as cache:
        cache.put({"k": b"[]"})
        with pytest.raises(DamagedFileError, match="is not an answer"):
            KeptAnswers(cache).get("k")


class CountingEmbedder(FakeEmbedder):
    """Counts the texts that it embeds."""

    texts = 0

    def embed(self, texts):  # type: ignore[no-untyped-def]
        CountingEmbedder.texts += len(texts)
        return super().embed(texts)


def test_memories_share_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "shared"
    file = tmp_path / "config.toml"
    file.write_text(f"[cache]\naddress = 'sqlite:{place}'\nvectors = true")
    monkeypatch.setenv("WORLDTHREAD_CONFIG", str(file))
    embedded = []
    for name in ("a", "b"):
        before = CountingEmbedder.texts
        with Memory(tmp_path / name, model="none", embedder=CountingEmbedder()) as memory:
            memory.remember("Anna lives in Rome.", at=1)
            assert "Rome" in memory.recall("Where does Anna live?").text
            embedded.append(CountingEmbedder.texts - before)
    assert embedded[0] > embedded[1]
    with open_cache(f"sqlite:{place}", VECTORS) as cache:
        assert len(cache) == embedded[0] - embedded[1]
        assert all(len(value) == 512 for value in cache.get([key for (key,) in rows(cache)]).values())


def rows(cache: object) -> list[tuple[str]]:
    connection = cache._connection  # type: ignore[attr-defined]
    return list(connection.execute("SELECT key FROM entry"))


def test_a_file_of_another_program_is_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "diary"
    place.write_bytes(b"a diary of some length, and not a database\n" * 30)
    with pytest.raises(DamagedFileError, match="not a cache, or a damaged one"):
        open_cache(f"sqlite:{place}", "answers")
    assert place.read_bytes().startswith(b"a diary")
    assert [file.name for file in tmp_path.iterdir()] == ["diary"]
