"""Embedders on any server that speaks OpenAI's protocol: OpenAI, Ollama, llama.cpp, vLLM, LM Studio and others.

The connection is that of :mod:`worldthread.models.openai_server`: one server, no redirects, and no secret in an error.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import ceil
from typing import Any, Final
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from worldthread.errors import InputError, ModelCallError, ModelError
from worldthread.models.base import require_texts, unit
from worldthread.models.chat import Usage
from worldthread.models.config import SERVERS, EmbedderConfig
from worldthread.models.meter import CHARACTERS_PER_TOKEN, EMBEDDER_BUDGET, UsageMeter, UsageTotals
from worldthread.models.openai_server import EMBEDDER, MAX_RETRY_AFTER, OPENAI_URL, OpenAIServer
from worldthread.models.openai_wire import CallFailure, read_embeddings
from worldthread.models.prefixes import prefixes_of
from worldthread.models.prices import load_prices
from worldthread.telemetry import INPUT_TOKENS, in_this_context, operation

VERSION: Final = 1
"""Rises whenever the vector of a text may change that the server did not change."""

SHORTEST_CUT: Final = 200
"""Characters of a text that is not cut any further, whatever the server says of its length."""

_REFUSALS: Final = frozenset({400, 413, 422, 500})
_ABOUT_SIZE: Final = re.compile(r"context|exceed|length|limit|maximum|too (?:large|long|many)", re.IGNORECASE)


class _TooLargeError(ModelCallError):
    """The server refused a request because of its size."""


class OpenAIEmbedder:
    """An embedder behind an HTTP server. Thread-safe; the first call is made when it is first needed.

    Transient failures are retried as for chat models (:class:`~worldthread.models.openai_chat.OpenAIChat`). What a
    server refuses because of its size is sent in halves: first fewer texts, then the first half of a text. So a long
    text is read as far as the server reads texts. Texts that are empty or only white space are not sent.

    Args:
        config: the configuration; its name begins with ``"openai/"`` or the prefix of another server.
        known_dimensions: stores the length of the vectors, by server and model. With a persistent mapping later
            processes need not ask for it; ``None`` stores it in this object only.
        backoff: upper bound of the first wait in seconds; 0 or more.

    Attributes:
        config: the configuration.
        meter: counts calls, tokens and dollars, for the purpose ``"embed"``.

    Raises:
        ModelConfigError: OpenAI is named without a key, the key or the URL is malformed, or there is a budget in
            dollars for a model without a known price.
        InputError: the name has no model, or another setting is out of its range.
    """

    def __init__(
        self,
        config: EmbedderConfig,
        *,
        known_dimensions: MutableMapping[str, str] | None = None,
        backoff: float = 0.5,
    ) -> None:
        prefix, _, model = (config.name or "").partition("/")
        if not model:
            raise InputError(f"the embedder {config.name!r} names a server and no model there; write {prefix}/NAME")
        if config.batch < 1 or (config.dimensions is not None and config.dimensions < 1):
            raise InputError(
                f"an embedder needs batch >= 1 and dimensions >= 1, and got batch={config.batch!r}, "
                f"dimensions={config.dimensions!r}"
            )
        self.config = config
        self._server = OpenAIServer(
            EMBEDDER,
            model,
            base_url=config.base_url,
            api_key=config.api_key,
            timeout=config.timeout,
            retries=config.retries,
            concurrency=config.concurrency,
            backoff=backoff,
        )
        self.meter = UsageMeter(
            model,
            max_tokens=config.budget_tokens,
            max_dollars=config.budget_dollars,
            prices=load_prices().with_own(config.prices),
            local=config.local,
            options=EMBEDDER_BUDGET,
        )
        query_prefix, passage_prefix = prefixes_of(model)
        self._query_prefix = query_prefix if config.query_prefix is None else config.query_prefix
        self._passage_prefix = passage_prefix if config.passage_prefix is None else config.passage_prefix
        self._label = f"{prefix}/{model}{_place(prefix, self._server.base_url)}{_digest(self._passage_prefix)}"
        self._known: MutableMapping[str, str] = {} if known_dimensions is None else known_dimensions
        self._dimensions = config.dimensions
        self._slots = threading.BoundedSemaphore(config.concurrency)

    def __repr__(self) -> str:
        return f"OpenAIEmbedder({self._label!r})"

    @property
    def name(self) -> str:
        """Server, model, length of the vectors, and version, such as ``"openai/text-embedding-3-small-1536/1"``.

        Raises:
            ModelError: the length has to be asked for, and the server cannot be asked.
        """
        return f"{self._label}-{self.dimensions}/{VERSION}"

    @property
    def dimensions(self) -> int:
        """Length of every vector. It is asked for once for each server and model, with one short text.

        Raises:
            ModelError: the server cannot be asked.
        """
        if self._dimensions is None:
            kept = self._known.get(self._key, "")
            self._dimensions = int(kept) if kept.isascii() and kept.isdigit() and int(kept) else None
        if self._dimensions is None:
            self._call(["dimensions"])
        assert self._dimensions is not None
        return self._dimensions

    @property
    def _key(self) -> str:
        """Key of this server and model in the mapping of dimensions."""
        return f"{self._server.shown_url} {self._server.model}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts; see :meth:`worldthread.models.Embedder.embed`.

        Args:
            texts: the texts.

        Returns:
            One row for each text.

        Raises:
            ModelCallError: the server refused, failed, or did not answer, after all retries.
            BudgetError: the budget is spent.
        """
        return self._embed(texts, self._passage_prefix)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed questions, with the prefix for them; see :meth:`embed`."""
        return self._embed(texts, self._query_prefix)

    def _embed(self, texts: Sequence[str], prefix: str) -> NDArray[np.float32]:
        checked = require_texts(texts)
        rows = [row for row, text in enumerate(checked) if text.strip()]
        vectors = np.zeros((len(checked), self.dimensions), dtype=np.float32)
        batches = [rows[start : start + self.config.batch] for start in range(0, len(rows), self.config.batch)]

        def embed_rows(batch: list[int]) -> None:
            vectors[batch] = self._embed_batch([prefix + checked[row] for row in batch])

        if len(batches) == 1:
            embed_rows(batches[0])
        elif batches:
            with ThreadPoolExecutor(min(len(batches), self.config.concurrency), "embed") as pool:
                embed_traced = in_this_context(embed_rows)
                for running in [pool.submit(embed_traced, batch) for batch in batches]:
                    try:
                        running.result()
                    except BaseException:
                        pool.shutdown(wait=False, cancel_futures=True)
                        raise
        return vectors

    def _embed_batch(self, texts: list[str]) -> NDArray[np.float32]:
        """Embed some texts in one request, or in several if the server wants fewer or shorter texts."""
        try:
            return self._call(texts)
        except _TooLargeError as error:
            if len(texts) == 1 and len(texts[0]) <= SHORTEST_CUT:
                raise ModelCallError(str(error), status=error.status, attempts=error.attempts) from None
        if len(texts) == 1:
            return self._embed_batch([texts[0][: len(texts[0]) // 2]])
        middle = len(texts) // 2
        return np.concatenate((self._embed_batch(texts[:middle]), self._embed_batch(texts[middle:])))

    def _call(self, texts: list[str]) -> NDArray[np.float32]:
        """Make one call, with its retries, and count it.

        Args:
            texts: the texts, with their prefixes; none of them is blank.

        Returns:
            One unit vector for each text.

        Raises:
            ModelCallError: the call failed for good, or too often.
        """
        tokens = Usage(ceil(sum(map(len, texts)) / CHARACTERS_PER_TOKEN))
        with self._slots, self.meter.room_for("embed", lambda spent: tokens):
            start = time.perf_counter()
            try:
                with operation("embeddings", self._server.described, kind="client") as traced:
                    vectors, usage = self._attempts(texts)
                    if traced is not None:
                        traced.record(
                            {INPUT_TOKENS: usage.prompt_tokens, "gen_ai.embeddings.dimension.count": len(vectors[0])}
                        )
            except ModelCallError:
                seconds = time.perf_counter() - start
                self.meter.count("embed", UsageTotals(calls=1, failures=1, seconds=seconds))
                raise
            self.meter.count("embed", UsageTotals(calls=1, usage=usage, seconds=time.perf_counter() - start))
        self._check_dimensions(len(vectors[0]))
        return np.stack([unit(vector) for vector in np.asarray(vectors, dtype=np.float32)])

    def _attempts(self, texts: list[str]) -> tuple[list[list[float]], Usage]:
        body: dict[str, Any] = {"model": self._server.model, "input": texts, "encoding_format": "float"}
        if self.config.dimensions is not None:
            body["dimensions"] = self.config.dimensions
        waits = 0
        while True:
            try:
                return self._server.send(
                    lambda client: read_embeddings(
                        client.embeddings.with_raw_response.create(**body).content, len(texts)
                    )
                )
            except CallFailure as failure:
                wait = self._server.wait(failure, waits)
                error = self._server.error(failure, waits + 1)
                if failure.status in _REFUSALS and _ABOUT_SIZE.search(str(failure)):
                    raise _TooLargeError(str(error), status=error.status, attempts=error.attempts) from None
                if not failure.is_transient or waits == self._server.retries or wait > MAX_RETRY_AFTER:
                    raise error from None
            waits += 1
            time.sleep(wait)

    def _check_dimensions(self, found: int) -> None:
        """Compare the length of vectors from the server with the known one; keep the first."""
        if self._dimensions is None:
            self._dimensions = found
            self._known[self._key] = str(found)
        elif found != self._dimensions:
            self._known.pop(self._key, None)  # the next process asks anew
            reason = (
                "the server does not shorten them: leave out `dimensions`"
                if self.config.dimensions is not None
                else "another model answers there under the same name: open the memory again, and embed it anew with it"
            )
            raise ModelError(
                f"{self._server.model} at {self._server.shown_url} sent vectors of {found} numbers, and "
                f"{self._dimensions} were expected; {reason}"
            )


def _place(prefix: str, url: str) -> str:
    """Return where a server is, as part of a name, unless it is where its prefix says."""
    if url == SERVERS.get(prefix, OPENAI_URL).rstrip("/"):
        return ""
    parts = urlsplit(url)
    return f"@{parts.hostname}" + (f":{parts.port}" if parts.port else "")


def _digest(passage_prefix: str) -> str:
    """Return what tells vectors with one prefix from those with another, as part of a name."""
    return f"+{hashlib.blake2b(passage_prefix.encode(), digest_size=3).hexdigest()}" if passage_prefix else ""
