"""Removes secrets from what a server says, in every form in which they may come back.

A server may repeat the key or the URL with which it was called: in an error, in a page of HTML, in an answer. Its words
reach the screen, recordings, caches and memories, so they pass through :class:`Redactor` first.
"""

from __future__ import annotations

import base64
import html
import re
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

REDACTED: Final = "***"
"""What stands in place of a secret."""

_SHORT: Final = 8
"""A form of fewer characters may be part of a word: a secret is replaced only where no letter or digit adjoins it, and
its encoded forms are not looked for."""
_DEPTH: Final = 5
"""How often a text may be encoded, one encoding upon another."""

_SECRET_PARAMETER: Final = re.compile("key|token|secret|passw|auth|sig", re.IGNORECASE)
_ESCAPES: Final = re.compile(
    r"(?P<percent>(?:%[0-9A-Fa-f]{2})+)|(?P<bytes>(?:\\x[0-9A-Fa-f]{2})+)|(?P<units>(?:\\u[0-9A-Fa-f]{4})+)"
    r"|\\(?P<character>.)|(?P<entity>&#?[0-9A-Za-z]{1,32};)",
    re.DOTALL,
)
_CONTROLS: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_LOWER: Final = str.maketrans("ABCDEF", "abcdef")
_BASE64: Final = str.maketrans("-_ ", "+/+")
"""From the alphabet for addresses, and from a plus sign that was read as a space, to the usual alphabet."""


class _Decoded(NamedTuple):
    """A text with its escapes resolved, and where each of its characters, and its end, lies in the original."""

    text: str
    places: Sequence[int]


class _Secret:
    """One secret, and where it stands in a text."""

    def __init__(self, secret: str) -> None:
        data = secret.encode("utf-8", "surrogatepass")
        # a secret that looks like an escape is resolved together with those around it
        plain = dict.fromkeys(form.text for form in _resolved(secret) if form.text)
        self._plain = [*dict.fromkeys([*plain, *(form.replace(" ", "+") for form in plain)])]
        self._is_short = len(secret) < _SHORT
        whole = base64.b64encode(data).decode()
        inside = [form for form in {whole.rstrip("="), *_inside_base64(data)} if len(form) >= _SHORT]
        self._base64 = [whole, *inside] if inside else []
        self._hex = data.hex() if 2 * len(data) >= _SHORT else ""

    def spans(self, decoded: Iterable[_Decoded]) -> Iterator[tuple[int, int]]:
        """Yield where the secret begins and ends in the original of ``decoded``."""
        for text, places in decoded:
            for form in self._plain:
                for start, end in _occurrences(form, text):
                    if not (self._is_short or len(form) < _SHORT) or not (
                        _is_word(text[start - 1 : start]) or _is_word(text[end : end + 1])
                    ):
                        yield places[start], places[end]
            for form in self._base64:
                for start, end in _occurrences(form, text.translate(_BASE64)):
                    yield places[start], places[end]
            for start, end in _occurrences(self._hex, text.translate(_LOWER)) if self._hex else ():
                yield places[start], places[end]


class Redactor:
    """Replaces secrets in texts.

    These forms are found: as it is; percent-encoded; with escapes of JSON, Python or HTML; in hexadecimal digits; in
    Base64, alone or as part of a longer text, as in ``Authorization: Basic``; and any of these encoded again.

    Args:
        secrets: passwords, keys and tokens.
        names: user names, which are replaced in the errors of a server and left in the answers of a model.
    """

    def __init__(self, secrets: Iterable[str], names: Iterable[str] = ()) -> None:
        self._secrets = [_Secret(secret) for secret in {*secrets} if secret]
        self._names = [_Secret(name) for name in {*names} if name]

    def redact(self, text: str) -> str:
        """Return ``text`` with :data:`REDACTED` in place of every secret and every name."""
        decoded = list(_resolved(text))
        return _without(text, [span for secret in (*self._secrets, *self._names) for span in secret.spans(decoded)])

    def redact_answer(self, text: str, asked: Iterable[str]) -> str:
        """Return the answer of a model without secrets.

        Args:
            text: the answer.
            asked: the texts that the model was sent. What stands in them may be quoted: the key ``ollama`` is no secret
                in a text about Ollama.

        Returns:
            The answer with :data:`REDACTED` in place of the secrets that the model was not sent.
        """
        decoded = list(_resolved(text))
        found = [(secret, spans) for secret in self._secrets if (spans := list(secret.spans(decoded)))]
        if not found:
            return text
        sent = [list(_resolved(each)) for each in asked]
        return _without(
            text,
            [span for secret, spans in found if not any(any(secret.spans(each)) for each in sent) for span in spans],
        )


def redactor_of(url: str, key: str | None) -> Redactor:
    """Make the redactor for a server.

    Args:
        url: the address of the server, which may hold a user, a password, and parameters that are secret.
        key: the key of the server; ``None`` for no key.

    Returns:
        A redactor for all of them, and for the credentials of the proxies that the environment names.
    """
    secrets = [key or ""]
    names: list[str] = []
    for address in (url, *urllib.request.getproxies().values()):
        try:
            parts = urlsplit(address)
        except ValueError:
            continue  # no client can use it
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        (names if password else secrets).append(user)  # without a password the user is a token
        secrets += [password, f"{user}:{password}" if password else f"{user}:" if user else ""]
        secrets += [value for name, value in parse_qsl(parts.query) if _SECRET_PARAMETER.search(name)]
    return Redactor(secrets, names)


def _inside_base64(data: bytes) -> Iterator[str]:
    """Yield what the Base64 of a longer text shows of ``data``, for each of the three places where it may begin."""
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + data).decode()
        yield encoded[-(-8 * before // 6) : 8 * (before + len(data)) // 6]


def _resolved(text: str) -> Iterator[_Decoded]:
    """Yield ``text`` as it is, and with its escapes resolved once, twice, and so on as long as there are any."""
    places: Sequence[int] = range(len(text) + 1)
    yield _Decoded(text, places)
    for _ in range(_DEPTH):
        if not ("%" in text or "\\" in text or "&" in text):
            return
        text, places = _resolve(text, places)
        yield _Decoded(text, places)


def _resolve(text: str, places: Sequence[int]) -> _Decoded:
    pieces: list[str] = []
    moved: list[int] = []
    position = 0
    for escape in _ESCAPES.finditer(text):
        pieces.append(text[position : escape.start()])
        moved += places[position : escape.start()]
        position = escape.start()
        for character, length in _characters(escape):
            pieces.append(character)
            moved += [places[position]] * len(character)
            position += length
        position = escape.end()
    pieces.append(text[position:])
    moved += places[position:]
    return _Decoded("".join(pieces), moved)


def _characters(escape: re.Match[str]) -> Iterator[tuple[str, int]]:
    """Yield the characters that an escape stands for, each with the length of its part of the escape."""
    kind, source = escape.lastgroup, escape[0]
    if kind == "character":
        yield _CONTROLS.get(source[1], source[1]), 2
    elif kind == "entity":
        yield html.unescape(source), len(source)
    elif kind == "units":
        for character in bytes.fromhex(source.replace("\\u", "")).decode("utf-16-be", "surrogatepass"):
            yield character, 6 * (1 + (character > "\uffff"))
    else:
        length = 3 if kind == "percent" else 4
        data = bytes.fromhex(source.replace("%", "").replace("\\x", ""))
        try:
            for character in data.decode():
                yield character, length * len(character.encode())
        except UnicodeDecodeError:
            for character in data.decode("latin-1"):
                yield character, length


def _occurrences(form: str, text: str) -> Iterator[tuple[int, int]]:
    start = text.find(form)
    while start >= 0:
        yield start, start + len(form)
        start = text.find(form, start + len(form))


def _is_word(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    """Return ``text`` with :data:`REDACTED` in place of each of ``spans``, which may overlap."""
    pieces: list[str] = []
    position = 0
    for start, end in sorted(spans):
        if start > position or not pieces:
            pieces += [text[position:start], REDACTED]
        position = max(position, end)
    return "".join([*pieces, text[position:]])
