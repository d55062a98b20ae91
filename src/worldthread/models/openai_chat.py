"""Any server that speaks OpenAI's chat protocol: OpenAI, Ollama, vLLM, llama.cpp, LM Studio, OpenRouter and others.

The client library ``openai`` (extra ``model``) is imported by the first call. Its own retries are switched off: they
spread waits by only a quarter, repeat calls that cannot succeed (no credit left), and would repeat a refused schema,
which some servers answer with status 500, before another schema mode is tried.

What is sent goes to the configured server and nowhere else:

- Redirects are refused, also those within one server.
- A proxy that the environment names (``HTTP_PROXY``, ``HTTPS_PROXY``, ``ALL_PROXY``) is used, but never for a server on
  this machine. ``.netrc`` is not read.
- What ``OPENAI_ORG_ID``, ``OPENAI_PROJECT_ID`` and ``OPENAI_CUSTOM_HEADERS`` name is sent only to OpenAI and to the
  server of ``OPENAI_BASE_URL``.
- User and password of the URL become a header, so that no log of URLs shows them.

What the server says passes through :mod:`worldthread.models.redaction` before anybody sees it.
"""

from __future__ import annotations

import os
import random
import re
import threading
import time
from collections.abc import MutableMapping
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import unquote, urlsplit, urlunsplit

from worldthread.errors import InputError, MissingExtraError, ModelCallError, ModelConfigError
from worldthread.models.chat import ChatAnswer, ChatRequest, Usage
from worldthread.models.openai_wire import (
    SCHEMA_MODES,
    CallFailure,
    SchemaMode,
    read_completion,
    request_body,
    status_failure,
)
from worldthread.models.redaction import redactor_of
from worldthread.models.request_key import to_json
from worldthread.server_access import is_every_address, is_loopback
from worldthread.text import count_of

OPENAI_URL: Final = "https://api.openai.com/v1"
MAX_WAIT: Final = 8.0
"""Seconds of the longest wait between attempts, unless the server asks for another one."""
MAX_RETRY_AFTER: Final = 120.0
"""Seconds of the longest wait that a server may ask for."""
REASON_LIMIT: Final = 500
"""The most characters of a server's message that an error quotes."""
REFUSALS: Final = frozenset({400, 415, 422, 500, 501})
"""Statuses with which servers refuse a schema mode."""
ABOUT_THE_SCHEMA: Final = re.compile("response_format|schema|json|grammar", re.IGNORECASE)


@dataclass
class _Progress:
    """What one call has used so far."""

    attempts: int = 0
    waits: int = 0
    usage: Usage = field(default_factory=Usage)


class OpenAIChat:
    """A chat model behind an HTTP server. Thread-safe; no call is made before :meth:`complete`.

    Transient failures (a time-out, a lost connection, the statuses 408, 409, 429 and 500 or more, a garbled answer) are
    retried after a random wait between 0 and ``backoff * 2 ** n`` seconds, at most 8, or after the seconds that the
    server asks for in ``Retry-After``, at most 120.

    Servers differ in how they take a schema. The modes in :data:`~worldthread.models.openai_wire.SCHEMA_MODES` are
    tried in order until one yields an object, and that one is kept. After a status 500 the same mode is tried a second
    time before the next one. A mode is given up only if another one works.

    Args:
        model: name that the server knows, such as ``"gpt-4o-mini"`` or ``"qwen2.5:7b"``.
        base_url: URL of the server, such as ``"http://localhost:11434/v1"``; ``None`` is OpenAI.
        api_key: key of the server; ``None`` takes ``$OPENAI_API_KEY`` for OpenAI, and no key for other servers.
        timeout: seconds that one attempt may wait for the server; more than 0.
        retries: further attempts in one call; 0 or more.
        concurrency: how many calls run at once, 1 or more; others wait.
        backoff: upper bound of the first wait in seconds; 0 or more.
        schema_modes: stores the mode that works, by :attr:`schema_mode_key`. With a persistent mapping later processes
            need not find it out again; ``None`` stores it in this object only.

    Raises:
        ModelConfigError: OpenAI is named without a key, or the key or the URL is malformed.
        InputError: another argument is out of its range.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 60.0,
        retries: int = 4,
        concurrency: int = 4,
        backoff: float = 0.5,
        schema_modes: MutableMapping[str, str] | None = None,
    ) -> None:
        if not model:
            raise InputError("the name of a chat model must not be empty")
        if timeout <= 0 or retries < 0 or concurrency < 1 or backoff < 0:
            raise InputError(
                f"a chat model needs timeout > 0, retries >= 0, concurrency >= 1 and backoff >= 0, and got "
                f"timeout={timeout!r}, retries={retries!r}, concurrency={concurrency!r}, backoff={backoff!r}"
            )
        self._model = model
        self._concurrency = concurrency
        self._base_url = (base_url or OPENAI_URL).rstrip("/")
        self._shown_url = _without_credentials(self._base_url)
        self._api_key = _usable_key(api_key, self._base_url, self._shown_url)
        self._redactor = redactor_of(self._base_url, self._api_key)
        self._timeout = timeout
        self._retries = retries
        self._backoff = backoff
        self._schema_modes: MutableMapping[str, str] = {} if schema_modes is None else schema_modes
        self._proven_mode: SchemaMode | None = None  # worked in this process; a stored one may be out of date
        self._unsupported: frozenset[str] = frozenset()
        self._slots = threading.BoundedSemaphore(concurrency)
        self._lock = threading.Lock()
        self._client: Any = None  # openai.OpenAI

    def __repr__(self) -> str:
        return f"OpenAIChat({self._model!r}, base_url={self._shown_url!r})"

    @property
    def name(self) -> str:
        """The name of the model, as the server knows it."""
        return self._model

    @property
    def concurrency(self) -> int:
        """How many calls run at once."""
        return self._concurrency

    @property
    def schema_mode_key(self) -> str:
        """Key of this server and model in the mapping of schema modes."""
        return f"{self._shown_url} {self._model}"

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """Answer a request; see :meth:`worldthread.models.chat.ChatModel.complete`.

        Lone surrogates, which UTF-8 cannot encode, become U+FFFD both in the request and in the answer.

        Args:
            request: the request.

        Returns:
            The answer, with the usage of all attempts.

        Raises:
            InputError: the schema cannot be written as JSON.
            ModelCallError: the server refused, failed, or did not answer, after all retries.
            MissingExtraError: the package ``openai`` is not installed.
        """
        if request.schema is not None:
            to_json(request.schema)  # the client library would raise a TypeError
        with self._slots:
            began = time.monotonic()
            progress = _Progress()
            answer = (
                self._call(request, None, progress)
                if request.schema is None
                else self._complete_object(request, progress)
            )
            seconds = time.monotonic() - began
        return replace(answer, usage=progress.usage, attempts=progress.attempts, seconds=seconds)

    def _complete_object(self, request: ChatRequest, progress: _Progress) -> ChatAnswer:
        """Ask for an object, first in the known schema mode, then in the others."""
        known = self._proven_mode or self._schema_modes.get(self.schema_mode_key)
        refusal: ModelCallError | None = None
        prose: ChatAnswer | None = None
        for mode in sorted(SCHEMA_MODES, key=lambda mode: mode != known):
            try:
                answer = self._call(request, mode, progress)
            except ModelCallError as error:
                if error.status not in REFUSALS or (mode == self._proven_mode and not _may_concern_schema(error)):
                    raise
                refusal = refusal or error
                continue
            if mode == self._proven_mode or answer.finish_reason != "stop":
                return answer  # it shows nothing about the mode
            if "{" in answer.text:
                self._proven_mode = mode
                self._schema_modes[self.schema_mode_key] = mode
                return answer
            prose = prose or answer  # some servers ignore parameters that they do not know
        if prose is not None:
            return prose
        assert refusal is not None
        refusal.attempts = progress.attempts
        raise refusal

    def _call(self, request: ChatRequest, mode: SchemaMode | None, progress: _Progress) -> ChatAnswer:
        """Make one call in one schema mode, with its retries.

        Args:
            request: the request.
            mode: how to pass the schema; ``None`` if there is none.
            progress: what the call has used so far; it is updated.

        Returns:
            The answer of the last attempt.

        Raises:
            ModelCallError: it failed for good, or too often.
        """
        errors = 0
        while True:
            body = request_body(self._model, request, mode, self._unsupported)
            progress.attempts += 1
            try:
                answer = self._send(body)
            except CallFailure as failure:
                if failure.unsupported in body and failure.unsupported in {"max_tokens", "temperature", "seed"}:
                    self._unsupported |= {failure.unsupported}
                    continue
                errors += failure.status == 500
                likely_refusal = errors == 2 and mode not in (None, self._proven_mode)
                wait = self._wait(failure, progress.waits)
                if (
                    not failure.is_transient
                    or progress.waits == self._retries
                    or likely_refusal
                    or wait > MAX_RETRY_AFTER
                ):
                    raise self._error(failure, progress.attempts) from None
                progress.waits += 1
                time.sleep(wait)
            else:
                progress.usage += answer.usage
                return answer

    def _send(self, body: dict[str, Any]) -> ChatAnswer:
        """Make one attempt.

        Args:
            body: the body of the request.

        Returns:
            The answer.

        Raises:
            CallFailure: the attempt failed; nothing in it, nor in the errors before it, holds a secret.
        """
        client = self._connected()
        import openai

        try:
            response = client.chat.completions.with_raw_response.create(**body)
            answer = read_completion(response.content)
        except openai.APIStatusError as error:
            failure = status_failure(error.status_code, error.body, error.response.headers)
        except openai.APITimeoutError:
            failure = CallFailure(
                f"no answer within {self._timeout:g} seconds; a slow model needs a longer timeout", is_transient=True
            )
        except openai.APIConnectionError as error:
            reason = error.__cause__ or error
            failure = CallFailure(f"no connection; is the server running? ({reason})", is_transient=True)
        except openai.OpenAIError as error:
            failure = CallFailure(str(error))
        except CallFailure as error:
            failure = error
        else:
            return replace(
                answer,
                text=self._redactor.redact_answer(answer.text, (message["content"] for message in body["messages"])),
                model=self._redactor.redact(answer.model),
                finish_reason=self._redactor.redact(answer.finish_reason),
            )
        # raised here, where no other error is being handled: those of the client library hold the request
        raise failure.with_message(self._redactor.redact(str(failure)))

    def _connected(self) -> Any:
        with self._lock:
            if self._client is None:
                try:
                    import openai
                except ImportError as error:
                    raise MissingExtraError("a chat model", extra="model", package="openai") from error
                try:
                    self._client = self._new_client(openai)
                except Exception as error:  # the kinds differ between releases of the client library
                    problem = self._redactor.redact(str(error))
                else:
                    return self._client
                raise ModelConfigError(
                    f"{self._shown_url} cannot be called; is a proxy of the environment malformed? ({problem})"
                )
            return self._client

    def _new_client(self, openai: Any) -> Any:
        parts = urlsplit(self._base_url)
        host = parts.hostname or ""
        proxies = {f"all://[{host}]" if ":" in host else f"all://{host}": None} if _is_this_machine(host) else None
        credentials = (unquote(parts.username or ""), unquote(parts.password or ""))
        key = self._api_key or "none"  # the client demands a key; servers without keys accept any
        foreign = {name: openai.Omit() for name in _foreign_headers(host)}
        return openai.OpenAI(
            api_key=key,
            base_url=urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])),
            timeout=self._timeout,
            max_retries=0,
            default_headers={**foreign, "Authorization": f"Bearer {key}"} if foreign else None,
            http_client=openai.DefaultHttpxClient(
                follow_redirects=False, auth=credentials if any(credentials) else None, mounts=proxies
            ),
        )

    def _wait(self, failure: CallFailure, waits: int) -> float:
        """Return the seconds until the next attempt; random, so that calls that failed together are spread."""
        if failure.retry_after is not None:
            return failure.retry_after + random.uniform(0, min(self._backoff, 0.1 * failure.retry_after))
        return random.uniform(0, min(MAX_WAIT, self._backoff * 2.0**waits))

    def _error(self, failure: CallFailure, attempts: int) -> ModelCallError:
        times = count_of(attempts, "attempt")
        status = f"HTTP status {failure.status}, " if failure.status else ""
        asked = failure.retry_after or 0
        later = f" The server asks to wait {asked:.0f} seconds." if asked > MAX_RETRY_AFTER else ""
        message = f"{self._model} at {self._shown_url}: {str(failure)[:REASON_LIMIT]} [{status}{times}]{later}"
        return ModelCallError(message, status=failure.status, attempts=attempts)


def _may_concern_schema(error: ModelCallError) -> bool:
    return error.status in (400, 415, 422) and ABOUT_THE_SCHEMA.search(str(error)) is not None


def _is_this_machine(host: str) -> bool:
    return is_loopback(host) or is_every_address(host) or host.endswith(".localhost")


def _foreign_headers(host: str) -> list[str]:
    """Return the headers that the client library takes from the environment and that another server must not get."""
    own = (OPENAI_URL, os.environ.get("OPENAI_BASE_URL", ""))
    if host in {urlsplit(url).hostname for url in own}:
        return []
    names = (line.partition(":")[0].strip() for line in os.environ.get("OPENAI_CUSTOM_HEADERS", "").splitlines())
    return [
        "OpenAI-Organization",
        "OpenAI-Project",
        *(name for name in names if name and name.lower() != "authorization"),
    ]


def _usable_key(api_key: str | None, base_url: str, shown_url: str) -> str | None:
    """Choose and check the key.

    Args:
        api_key: the key as given.
        base_url: URL of the server.
        shown_url: the URL as shown in errors.

    Returns:
        The key to send; ``None`` for no key.

    Raises:
        ModelConfigError: OpenAI needs a key and there is none, or an HTTP header cannot hold it.
    """
    is_openai = urlsplit(base_url).hostname == urlsplit(OPENAI_URL).hostname
    key = (api_key or (os.environ.get("OPENAI_API_KEY", "") if is_openai else "")).strip()
    if is_openai and not key:
        raise ModelConfigError(
            f"{shown_url} needs a key: set WORLDTHREAD_API_KEY or OPENAI_API_KEY. For a server of your own set "
            "WORLDTHREAD_BASE_URL, such as http://localhost:11434/v1 for Ollama, or name the model ollama/NAME."
        )
    if not all("!" <= character <= "~" for character in key):
        raise ModelConfigError(
            "the key of the chat model holds a space or another character that keys do not have; copy it again"
        )
    return key or None


def _without_credentials(url: str) -> str:
    """Remove user and password from a URL.

    Args:
        url: the URL.

    Returns:
        The URL as it may be shown.

    Raises:
        ModelConfigError: it is not an HTTP URL.
    """
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        raise ModelConfigError("the base URL of the chat model is malformed") from None
    if "@" in url.partition("//")[2].partition("/")[2]:
        raise ModelConfigError(
            "the base URL of the chat model has an '@' behind its host; in a user or a password write '/' as %2F"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ModelConfigError(
            f"the base URL of a chat model must begin with http:// or https://, such as http://localhost:11434/v1, not "
            f"{url.rpartition('@')[2].partition('?')[0]!r}"
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return urlunsplit((parts.scheme, host + port, parts.path, "", ""))
