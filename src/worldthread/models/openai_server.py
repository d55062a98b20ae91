"""The connection to a server that speaks OpenAI's protocol: its address, its key, its failures and when to try again.

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
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

from worldthread.errors import InputError, MissingExtraError, ModelCallError, ModelConfigError
from worldthread.models.openai_wire import CallFailure, status_failure
from worldthread.models.redaction import Redactor, redactor_of
from worldthread.support.server_access import is_every_address, is_loopback
from worldthread.support.text import count_of
from worldthread.telemetry import MODEL, PROVIDER, Attribute

T = TypeVar("T")

OPENAI_URL: Final = "https://api.openai.com/v1"
MAX_WAIT: Final = 8.0
"""Seconds of the longest wait between attempts, unless the server asks for another one."""
MAX_RETRY_AFTER: Final = 120.0
"""Seconds of the longest wait that a server may ask for."""
REASON_LIMIT: Final = 500
"""The most characters of a server's message that an error quotes."""


@dataclass(frozen=True)
class ClientKind:
    """What uses the server, in the words of errors.

    Args:
        noun: such as ``"chat model"``.
        key_variable: environment variable of its key.
        url_variable: environment variable of its URL.
    """

    noun: str
    key_variable: str
    url_variable: str


CHAT_MODEL: Final = ClientKind("chat model", "WORLDTHREAD_API_KEY", "WORLDTHREAD_BASE_URL")
EMBEDDER: Final = ClientKind("embedder", "WORLDTHREAD_EMBEDDER_API_KEY", "WORLDTHREAD_EMBEDDER_BASE_URL")


class OpenAIServer:
    """One model on an HTTP server. Thread-safe; no call is made before :meth:`send`.

    Args:
        kind: what uses the server.
        model: name that the server knows.
        base_url: URL of the server; ``None`` is OpenAI.
        api_key: key of the server; ``None`` takes ``$OPENAI_API_KEY`` for OpenAI, and no key for other servers.
        timeout: seconds that one attempt may wait for the server; more than 0.
        retries: further attempts in one call; 0 or more.
        concurrency: how many calls run at once, 1 or more.
        backoff: upper bound of the first wait in seconds; 0 or more.

    Attributes:
        model: name that the server knows.
        base_url: URL of the server, perhaps with a user and a password.
        shown_url: the same without them.
        redactor: replaces the secrets of this server in texts.
        retries: further attempts in one call.
        concurrency: how many calls run at once.

    Raises:
        ModelConfigError: OpenAI is named without a key, or the key or the URL is malformed.
        InputError: another argument is out of its range.
    """

    def __init__(
        self,
        kind: ClientKind,
        model: str,
        *,
        base_url: str | None,
        api_key: str | None,
        timeout: float,
        retries: int,
        concurrency: int,
        backoff: float,
    ) -> None:
        article = "an" if kind.noun[0] in "aeiou" else "a"
        if not model:
            raise InputError(f"the name of {article} {kind.noun} must not be empty")
        if timeout <= 0 or retries < 0 or concurrency < 1 or backoff < 0:
            raise InputError(
                f"{article} {kind.noun} needs timeout > 0, retries >= 0, concurrency >= 1 and backoff >= 0, and got "
                f"timeout={timeout!r}, retries={retries!r}, concurrency={concurrency!r}, backoff={backoff!r}"
            )
        self._kind = kind
        self._article = article
        self.model = model
        self.concurrency = concurrency
        self.retries = retries
        self.base_url = (base_url or OPENAI_URL).rstrip("/")
        self.shown_url = _without_credentials(self.base_url, kind)
        self._api_key = _usable_key(api_key, self.base_url, self.shown_url, kind)
        self.redactor: Redactor = redactor_of(self.base_url, self._api_key)
        self._timeout = timeout
        self._backoff = backoff
        self._lock = threading.Lock()
        self._client: Any = None  # openai.OpenAI

    @cached_property
    def described(self) -> dict[str, Attribute]:
        """What a span says of the server and the model: the protocol that is spoken, and where."""
        url = urlsplit(self.shown_url)
        port = url.port or (443 if url.scheme == "https" else 80)
        return {PROVIDER: "openai", MODEL: self.model, "server.address": url.hostname or "", "server.port": port}

    def send(self, call: Callable[[Any], T]) -> T:
        """Make one attempt.

        Args:
            call: gets the client of the library, sends the request and reads the response.

        Returns:
            What ``call`` returned; the secrets in it are still there.

        Raises:
            CallFailure: the attempt failed; nothing in it, nor in the errors before it, holds a secret.
        """
        client = self._connected()
        import openai

        try:
            return call(client)
        except openai.APIStatusError as error:
            failure = status_failure(
                error.status_code, error.body, error.response.headers, key_variable=self._kind.key_variable
            )
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
        # raised here, where no other error is being handled: those of the client library hold the request
        raise failure.with_message(self.redactor.redact(str(failure)))

    def _connected(self) -> Any:
        with self._lock:
            if self._client is None:
                try:
                    import openai
                except ImportError as error:
                    raise MissingExtraError(
                        f"{self._article} {self._kind.noun} on a server", extra="model", package="openai"
                    ) from error
                try:
                    self._client = self._new_client(openai)
                except Exception as error:  # the kinds differ between releases of the client library
                    problem = self.redactor.redact(str(error))
                else:
                    return self._client
                raise ModelConfigError(
                    f"{self.shown_url} cannot be called; is a proxy of the environment malformed? ({problem})"
                )
            return self._client

    def _new_client(self, openai: Any) -> Any:
        parts = urlsplit(self.base_url)
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

    def wait(self, failure: CallFailure, waits: int) -> float:
        """Return the seconds until the next attempt; random, so that calls that failed together are spread."""
        if failure.retry_after is not None:
            return failure.retry_after + random.uniform(0, min(self._backoff, 0.1 * failure.retry_after))
        return random.uniform(0, min(MAX_WAIT, self._backoff * 2.0**waits))

    def error(self, failure: CallFailure, attempts: int) -> ModelCallError:
        times = count_of(attempts, "attempt")
        status = f"HTTP status {failure.status}, " if failure.status else ""
        asked = failure.retry_after or 0
        later = f" The server asks to wait {asked:.0f} seconds." if asked > MAX_RETRY_AFTER else ""
        message = f"{self.model} at {self.shown_url}: {str(failure)[:REASON_LIMIT]} [{status}{times}]{later}"
        return ModelCallError(message, status=failure.status, attempts=attempts)


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


def _usable_key(api_key: str | None, base_url: str, shown_url: str, kind: ClientKind) -> str | None:
    """Choose and check the key.

    Args:
        api_key: the key as given.
        base_url: URL of the server.
        shown_url: the URL as shown in errors.
        kind: what uses the server.

    Returns:
        The key to send; ``None`` for no key.

    Raises:
        ModelConfigError: OpenAI needs a key and there is none, or an HTTP header cannot hold it.
    """
    is_openai = urlsplit(base_url).hostname == urlsplit(OPENAI_URL).hostname
    key = (api_key or (os.environ.get("OPENAI_API_KEY", "") if is_openai else "")).strip()
    if is_openai and not key:
        raise ModelConfigError(
            f"{shown_url} needs a key: set {kind.key_variable} or OPENAI_API_KEY. For a server of your own set "
            f"{kind.url_variable}, such as http://localhost:11434/v1 for Ollama, or name the model ollama/NAME."
        )
    if not all("!" <= character <= "~" for character in key):
        raise ModelConfigError(
            f"the key of the {kind.noun} holds a space or another character that keys do not have; copy it again"
        )
    return key or None


def _without_credentials(url: str, kind: ClientKind) -> str:
    """Remove user and password from a URL.

    Args:
        url: the URL.
        kind: what uses the server.

    Returns:
        The URL as it may be shown.

    Raises:
        ModelConfigError: it is not an HTTP URL.
    """
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        raise ModelConfigError(f"the base URL of the {kind.noun} is malformed") from None
    if "@" in url.partition("//")[2].partition("/")[2]:
        raise ModelConfigError(
            f"the base URL of the {kind.noun} has an '@' behind its host; in a user or a password write '/' as %2F"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ModelConfigError(
            f"the base URL of the {kind.noun} must begin with http:// or https://, such as http://localhost:11434/v1, "
            f"not {url.rpartition('@')[2].partition('?')[0]!r}"
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return urlunsplit((parts.scheme, host + port, parts.path, "", ""))
