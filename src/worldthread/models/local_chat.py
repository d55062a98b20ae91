"""A chat model that runs in this process, from a GGUF file: llama.cpp through the package ``xllamacpp``."""

from __future__ import annotations

import json
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from worldthread.errors import MissingExtraError, ModelCallError, ModelConfigError
from worldthread.models.chat import ChatAnswer, ChatRequest
from worldthread.models.openai_wire import CallFailure, read_completion, request_body
from worldthread.models.request_key import to_json
from worldthread.telemetry import INPUT_TOKENS, OUTPUT_TOKENS, operation

CONTEXT_TOKENS: Final = 8192
"""How many tokens a model reads and writes in one call, unless the configuration says otherwise."""
GGUF: Final = b"GGUF"
"""The first bytes of a model file."""


class LocalChat:
    """A chat model in this process. Thread-safe; the file is loaded by the first call, and calls run one at a time.

    Answers to a request with a schema always fit it: llama.cpp decodes them by a grammar.

    Args:
        path: the GGUF file.
        context_tokens: how many tokens the model reads and writes in one call; the memory that it takes grows with it.

    Raises:
        ModelConfigError: there is no such file, or it is not a GGUF file.
    """

    def __init__(self, path: str | Path, *, context_tokens: int = CONTEXT_TOKENS) -> None:
        self._path = Path(path).expanduser()
        self._context_tokens = context_tokens
        self._lock = threading.Lock()
        self._server: Any = None
        try:
            with self._path.open("rb") as file:
                begin = file.read(len(GGUF))
        except OSError as error:
            raise ModelConfigError(f"the model {self._path} cannot be read: {error.strerror}") from None
        if begin != GGUF:
            raise ModelConfigError(f"{self._path} is not a GGUF file, the format of models for llama.cpp")

    def __repr__(self) -> str:
        return f"LocalChat({str(self._path)!r})"

    @property
    def name(self) -> str:
        """``"local:"`` and the name of the file."""
        return f"local:{self._path.name}"

    @property
    def concurrency(self) -> int:
        """How many calls run at once: one, which uses all cores."""
        return 1

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """Answer a request; see :meth:`worldthread.models.chat.ChatModel.complete`.

        Args:
            request: the request.

        Returns:
            The answer.

        Raises:
            InputError: the schema cannot be written as JSON.
            ModelCallError: the model refused the request, for example because it is longer than its context.
            ModelConfigError: the file cannot be loaded.
            MissingExtraError: the package ``xllamacpp`` is not installed.
        """
        if request.schema is not None:
            to_json(request.schema)
        body = request_body(self.name, request, None if request.schema is None else "json_schema")
        described: dict[str, Any] = {"gen_ai.provider.name": "llama.cpp", "gen_ai.request.model": self.name}
        with self._lock, operation("chat", described) as traced:
            began = time.monotonic()
            sent = self._loaded().handle_chat_completions(body)
            try:
                answer = read_completion(json.dumps(sent).encode())
            except CallFailure as failure:
                raise ModelCallError(
                    f"the model {self.name} gave no answer: {failure}", status=failure.status
                ) from None
            answer = replace(answer, model=self.name, seconds=time.monotonic() - began)
            if traced is not None:
                traced.record(
                    {
                        INPUT_TOKENS: answer.usage.prompt_tokens,
                        OUTPUT_TOKENS: answer.usage.completion_tokens,
                        "gen_ai.response.model": answer.model,
                    }
                )
                traced.record_finish(answer.finish_reason)
        return answer

    def _loaded(self) -> Any:
        """Return llama.cpp with the model, in this process."""
        if self._server is None:
            try:
                import xllamacpp
            except ImportError:
                raise MissingExtraError("a model in this process", extra="local", package="xllamacpp") from None
            params = xllamacpp.CommonParams()
            params.model.path = str(self._path)
            params.n_ctx = self._context_tokens
            params.n_parallel = 1
            params.warmup = False
            params.verbosity = -1
            # llama.cpp always listens somewhere: here on a socket in a private folder, which is gone at once
            with tempfile.TemporaryDirectory() as folder:
                params.hostnames = [f"{folder}/llama.sock"]
                try:
                    self._server = xllamacpp.Server(params)
                except Exception as error:
                    raise ModelConfigError(f"llama.cpp cannot load the model {self._path}: {error}") from None
        return self._server
