"""The chat model and the embedder that the configuration names, with budget, cache and recording."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from filelock import FileLock

from worldthread.errors import InputError
from worldthread.files.paths import FILE_MODE, default_cache_dir, make_private_folder, write_private_file
from worldthread.models.base import Embedder
from worldthread.models.chat import ChatAnswer, ChatModel, ChatRequest
from worldthread.models.config import ChatConfig, EmbedderConfig, load_config

if TYPE_CHECKING:
    from worldthread.models.chat_cache import KeptAnswers

NO_MODEL = "none"
"""As the name of a model: use no model, whatever the environment says."""


class ConfiguredChat:
    """A chat model as configured: its calls are counted, limited, cached, and recorded or replayed. Thread-safe.

    Call :meth:`close` at the end.

    Args:
        config: the configuration; it must name a model, or a recording to replay.

    Attributes:
        config: the configuration.
        meter: counts what the calls use, by purpose.

    Raises:
        ModelConfigError: the configuration is inconsistent, for example a budget of dollars for a model without a known
            price.
        FormatError: the recording is damaged.
        StoreError: the recording or the cache cannot be opened.
    """

    def __init__(self, config: ChatConfig) -> None:
        from worldthread.models.chat_cache import CachedChat
        from worldthread.models.local_chat import CONTEXT_TOKENS, LocalChat
        from worldthread.models.meter import Meter
        from worldthread.models.openai_chat import OpenAIChat
        from worldthread.models.prices import load_prices
        from worldthread.models.recording import RecordingChat, ReplayChat

        self.config = config
        inner: ChatModel
        if config.replay is not None:
            inner = ReplayChat(config.replay)
        elif config.local_path is not None:
            inner = LocalChat(config.local_path, context_tokens=config.context_tokens or CONTEXT_TOKENS)
        else:
            assert config.model is not None
            inner = OpenAIChat(
                config.model,
                base_url=config.base_url,
                api_key=config.api_key,
                timeout=config.timeout,
                retries=config.retries,
                concurrency=config.concurrency,
                schema_modes=ServerFacts(default_cache_dir() / "schema-ways.json"),
            )
        self.meter = Meter(
            inner,
            max_tokens=config.budget_tokens,
            max_dollars=config.budget_dollars,
            prices=load_prices().with_own(config.prices),
            local=config.local or config.replay is not None,
        )
        self._chat: ChatModel = self.meter
        self._uncached: ChatModel = self.meter
        with ExitStack() as files:
            if config.cache and config.replay is None:
                self._chat = CachedChat(self._chat, files.enter_context(_kept_answers(config)))
            if config.record is not None:
                self._chat = self._uncached = files.enter_context(
                    RecordingChat(self._chat, config.record, resume=config.record.exists())
                )
            self._files = files.pop_all()

    def __reduce__(self) -> tuple[Callable[[ChatConfig], ConfiguredChat], tuple[ChatConfig]]:
        """Pickle the configuration without its key, which is that of the environment of the other process."""
        config = self.config
        if config.record is not None or config.replay is not None:
            raise InputError("a recording is of one process: record or replay without other processes")
        if config.budget_tokens is not None or config.budget_dollars is not None:
            raise InputError("a budget is counted in one process: remove it, or read without other processes")
        return _configured_again, (replace(config, api_key=None),)

    def without_cache(self) -> ChatModel:
        """Return the same model without its cache, to repeat a request whose cached answer was of no use."""
        return self._uncached

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._chat.name

    @property
    def concurrency(self) -> int:
        """How many calls run at once."""
        return self._chat.concurrency

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """Answer a request; see :meth:`worldthread.models.chat.ChatModel.complete`."""
        return self._chat.complete(request)

    def close(self) -> None:
        """Close the recording and the cache; no call can be made afterwards. May be called again."""
        self._files.close()


def _configured_again(config: ChatConfig) -> ConfiguredChat:
    """Make a pickled model again, with the key that this process has for its server."""
    if config.model is None:
        return ConfiguredChat(config)
    found = load_config(config.model, base_url=config.base_url)
    return ConfiguredChat(replace(config, api_key=found.api_key))


def chat_model(name: str | None = None, **options: Any) -> ConfiguredChat | None:
    """Make the chat model that the arguments, the environment and the configuration file name.

    Args:
        name: the model's name, optionally with the prefix of a server ("ollama/qwen2.5:7b"); ``"none"`` for no model.
            ``None`` leaves the choice to the environment and the file.
        options: see :func:`worldthread.models.config.load_config`.

    Returns:
        The model; ``None`` if no model is named.

    Raises:
        ModelConfigError: no such model can be reached as configured.
        InputError: an option cannot be used.
    """
    if name == NO_MODEL:
        return None
    config = load_config(name, **options)
    return None if config.model is None and config.replay is None else ConfiguredChat(config)


def server_embedder(config: EmbedderConfig) -> Embedder:
    """Make the embedder on a server; the length of its vectors is kept for later processes."""
    from worldthread.models.openai_embedder import OpenAIEmbedder

    return OpenAIEmbedder(config, known_dimensions=ServerFacts(default_cache_dir() / "embedding-dimensions.json"))


def sentence_transformer(config: EmbedderConfig) -> Embedder:
    """Make the embedder of the library ``sentence-transformers``."""
    from worldthread.models.sentence_transformers import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder((config.name or "").partition("/")[2], batch=config.batch)


def _kept_answers(config: ChatConfig) -> KeptAnswers:
    """Open the cache; each server has its own kind of entries: two may use one name for different models."""
    from worldthread.caches import open_cache
    from worldthread.models.chat_cache import KeptAnswers

    limits, address = None, f"sqlite:{config.cache_path or default_cache_dir() / 'cache.sqlite'}"
    if config.shared_cache is not None:
        limits, address = config.shared_cache.limits, config.shared_cache.address
    return KeptAnswers(open_cache(address, f"answers-{_server_digest(config)}", limits))


def _server_digest(config: ChatConfig) -> str:
    path = config.local_path
    url = config.base_url or ("" if path is None else f"{path.resolve()} {path.stat().st_size}")
    address = urlsplit(url)
    if "@" in address.netloc:  # a digest of a password could be tried out against words
        url = urlunsplit(address._replace(netloc=address.netloc.rpartition("@")[2], query=""))
    return hashlib.blake2b(url.encode(), digest_size=6).hexdigest()


class ServerFacts(MutableMapping[str, str]):
    """What was found out about each server and model, in a small JSON file that processes share.

    If the file cannot be read or written, it is found out again.

    Args:
        path: the file; it is made, with its folder, with the first entry.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._facts: dict[str, str] = self._read()

    def _read(self) -> dict[str, str]:
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return {str(key): str(fact) for key, fact in found.items()} if isinstance(found, dict) else {}

    def _change(self, key: str, fact: str | None) -> None:
        if fact is None:
            self._facts.pop(key, None)
        else:
            self._facts[key] = fact
        try:
            make_private_folder(self._path.parent)
            with FileLock(f"{self._path}.lock", timeout=5, mode=FILE_MODE):
                kept = self._read()
                kept.pop(key, None)
                if fact is not None:
                    kept[key] = fact
                write_private_file(self._path, json.dumps(kept, indent=1, sort_keys=True))
        except OSError:
            return

    def __getitem__(self, key: str) -> str:
        return self._facts[key]

    def __setitem__(self, key: str, value: str) -> None:
        if self._facts.get(key) != value:
            self._change(key, value)

    def __delitem__(self, key: str) -> None:
        del self._facts[key]
        self._change(key, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)
