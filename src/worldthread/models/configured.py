"""The chat model that the configuration asks for, with everything around it: budget, cache, recording."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, MutableMapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from filelock import FileLock

from worldthread.models.chat import ChatAnswer, ChatModel, ChatRequest
from worldthread.models.config import ChatConfig, load_config
from worldthread.paths import default_cache_dir

NO_MODEL = "none"
"""The name of no model, whatever the environment says."""


class ConfiguredChat:
    """A chat model as configured: its calls are counted and limited, cached, and recorded or replayed.

    Args:
        config: what is asked for; it must name a model, or a recording to replay.

    Raises:
        ModelConfigError: the configuration does not fit together.
        FormatError, StoreError: the recording or the cache cannot be read.
    """

    def __init__(self, config: ChatConfig) -> None:
        from worldthread.models.chat_cache import CachedChat, ChatCache
        from worldthread.models.meter import Meter
        from worldthread.models.openai_chat import OpenAIChat
        from worldthread.models.prices import load_prices
        from worldthread.models.recording import RecordingChat, ReplayChat

        self.config = config
        inner: ChatModel
        if config.replay is not None:
            inner = ReplayChat(config.replay)
        else:
            assert config.model is not None
            inner = OpenAIChat(
                config.model,
                base_url=config.base_url,
                api_key=config.api_key,
                timeout=config.timeout,
                retries=config.retries,
                concurrency=config.concurrency,
                ways=SchemaModeCache(default_cache_dir() / "schema-ways.json"),
            )
        self.meter = Meter(
            inner,
            max_tokens=config.budget_tokens,
            max_dollars=config.budget_dollars,
            prices=load_prices().with_own(config.prices),
            local=config.local or config.replay is not None,
        )
        """What the calls have used, by purpose."""
        self._chat: ChatModel = self.meter
        self._uncached: ChatModel = self.meter
        with ExitStack() as files:
            if config.cache and config.replay is None:
                cache = files.enter_context(ChatCache(config.cache_path or _cache_file(config)))
                self._chat = CachedChat(self._chat, cache)
            if config.record is not None:
                self._chat = self._uncached = files.enter_context(
                    RecordingChat(self._chat, config.record, resume=config.record.exists())
                )
            self._files = files.pop_all()

    def without_cache(self) -> ChatModel:
        """The same model, which makes every call anew: for what an answer in the cache was of no use."""
        return self._uncached

    @property
    def name(self) -> str:
        """The model's name."""
        return self._chat.name

    @property
    def concurrency(self) -> int:
        """How many calls run at once."""
        return self._chat.concurrency

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """See :meth:`worldthread.models.chat.ChatModel.complete`."""
        return self._chat.complete(request)

    def close(self) -> None:
        """Release the recording and the cache of answers, which calls need. May be called again."""
        self._files.close()


def chat_model(name: str | None = None, **options: Any) -> ConfiguredChat | None:
    """The chat model that arguments, environment and configuration file ask for; ``None`` when they name none.

    Args:
        name: the model's name, perhaps with the prefix of a server ("ollama/qwen2.5:7b"); ``"none"`` for no model.
        options: see :func:`worldthread.models.config.load_config`.

    Raises:
        ModelConfigError: no such model can be reached as configured.
        InputError: an option cannot be used.
    """
    if name == NO_MODEL:
        return None
    config = load_config(name, **options)
    return None if config.model is None and config.replay is None else ConfiguredChat(config)


def _cache_file(config: ChatConfig) -> Path:
    """One cache for each server: two servers may call different models by one name."""
    server = hashlib.blake2b((config.base_url or "").encode(), digest_size=6).hexdigest()
    return default_cache_dir() / "answers" / f"{server}.sqlite"


class SchemaModeCache(MutableMapping[str, str]):
    """In which way each server takes a schema, kept in a small JSON file that processes share.

    A file that cannot be read or written is no harm: the way is found out again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._ways: dict[str, str] = self._read()

    def _read(self) -> dict[str, str]:
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return {str(key): str(way) for key, way in found.items()} if isinstance(found, dict) else {}

    def _change(self, key: str, way: str | None) -> None:
        if way is None:
            self._ways.pop(key, None)
        else:
            self._ways[key] = way
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{self._path}.lock", timeout=5):
                kept = self._read()
                kept.pop(key, None)
                if way is not None:
                    kept[key] = way
                draft = self._path.with_suffix(f".{os.getpid()}.draft")
                draft.write_text(json.dumps(kept, indent=1, sort_keys=True), encoding="utf-8")
                draft.replace(self._path)
        except OSError:
            return

    def __getitem__(self, key: str) -> str:
        return self._ways[key]

    def __setitem__(self, key: str, value: str) -> None:
        if self._ways.get(key) != value:
            self._change(key, value)

    def __delitem__(self, key: str) -> None:
        del self._ways[key]
        self._change(key, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._ways)

    def __len__(self) -> int:
        return len(self._ways)
