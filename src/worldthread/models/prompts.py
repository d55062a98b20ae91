"""Prompts: versioned text files beside the code that uses them.

The file of a prompt is ``PACKAGE/prompts/NAME-VERSION.md``. Lines before the first heading are notes for readers of the
file. Each heading (``# system``, ``# user`` or ``# assistant``) begins a message, and ``$name`` is a placeholder
(``$$`` is a dollar sign). A prompt that changes gets a new version, so that scores of different texts are not compared.

Prompts of one's own replace them: :func:`load_prompts` reads a file or a folder, :func:`use_prompts` puts its prompts
in force for a block, and :func:`set_default_prompts` for the whole process.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from string import Template
from typing import Final, cast

from worldthread.errors import ExtensionError, InputError
from worldthread.models.chat import Message, Role
from worldthread.support import extensions

HEADING: Final = re.compile(r"^# (system|user|assistant)[ \t]*$", re.MULTILINE)

AREAS: Final[dict[str, str]] = {
    "extract": "worldthread.extract",
    "answer": "worldthread",
    "models": "worldthread.models",
}
"""The packages of the memory whose prompts can be replaced, by the name of the folder that holds the replacements."""

MAX_PROMPT_BYTES: Final = 200_000
"""The largest file that is read as a prompt."""

_FILE_NAME: Final = re.compile(r"(?P<name>[a-z][a-z0-9_]*)(?:-(?P<version>[1-9][0-9]{0,8}))?")


@dataclass(frozen=True)
class Prompt:
    """Messages with placeholders.

    Args:
        name: the name of its file, which says what it is for.
        version: 1 or more.
        sections: role and text of every message, in order; a text holds ``$name`` placeholders.
        notes: the lines before the first section, for readers of the file.
        digest: for a prompt that replaces one of the package, a digest of its file; else empty.

    Raises:
        InputError: there is no section, a section is empty, or a dollar sign does not begin a placeholder.
    """

    name: str
    version: int
    sections: tuple[tuple[Role, str], ...]
    notes: str = field(default="", compare=False)
    digest: str = ""

    def __post_init__(self) -> None:
        if not self.sections:
            raise InputError(f"prompt {self.id} has no section; begin one with a line '# system' or '# user'")
        for role, text in self.sections:
            if not text:
                raise InputError(f"prompt {self.id}: the section '# {role}' is empty")
            if not Template(text).is_valid():
                raise InputError(
                    f"prompt {self.id}: a '$' in '# {role}' does not begin a placeholder; write '$$' for the sign"
                )

    @property
    def id(self) -> str:
        """Name and version, such as ``"statements/1"``; the digest in place of the version of a replacement."""
        return f"{self.name}/{self.digest or self.version}"

    @property
    def placeholders(self) -> frozenset[str]:
        """Names that :meth:`messages` needs values for."""
        return frozenset(name for _, text in self.sections for name in Template(text).get_identifiers())

    def messages(self, **values: str) -> tuple[Message, ...]:
        """Fill in the placeholders, in one pass: a ``$name`` within a value stays as it is.

        Args:
            values: a value for each placeholder.

        Returns:
            The messages.

        Raises:
            InputError: a placeholder has no value, or a value no placeholder (which only a replacement may leave out).
        """
        if missing := sorted(self.placeholders - values.keys()):
            raise InputError(f"prompt {self.id} needs a value for: {', '.join(missing)}")
        if not self.digest and (unknown := sorted(values.keys() - self.placeholders)):
            raise InputError(f"prompt {self.id} has no placeholder called: {', '.join(unknown)}")
        return tuple(Message(role, Template(text).substitute(values)) for role, text in self.sections)


@cache
def areas() -> dict[str, str]:
    """Return all packages whose prompts can be replaced: those that other packages add, then the memory's own.

    Returns:
        Their dotted names by area; see :mod:`worldthread.support.extensions`.

    Raises:
        ExtensionError: two areas have one name, or a package cannot be imported.
    """
    added = {}
    for area in extensions.extensions(extensions.PROMPTS, AREAS):
        package = extensions.load_extension(extensions.PROMPTS, area)
        if not getattr(package, "__path__", None):
            raise ExtensionError(
                f"the entry point {area!r} of {extensions.PROMPTS} must name a package, not {package!r}"
            )
        added[area] = str(package.__name__)
    return added | AREAS


def parse_prompt(name: str, version: int, text: str) -> Prompt:
    """Parse the text of a prompt file.

    Args:
        name: name of the prompt.
        version: version of the prompt.
        text: content of the file.

    Returns:
        The prompt.

    Raises:
        InputError: the text is not a valid prompt; see :class:`Prompt`.
    """
    parts = HEADING.split(text)  # notes, role, text, role, text, ...
    sections = tuple(
        (cast("Role", role), section.strip()) for role, section in zip(parts[1::2], parts[2::2], strict=True)
    )
    return Prompt(name, version, sections, parts[0].strip())


def load_prompt(package: str, name: str, version: int) -> Prompt:
    """Return the prompt in the file ``prompts/NAME-VERSION.md`` of a package, or the prompt in force that replaces it.

    Args:
        package: dotted name of the package that holds the folder, such as ``"worldthread.extract"``.
        name: first part of the file's name.
        version: second part of the file's name.

    Returns:
        The prompt; each file of a package is read once.

    Raises:
        InputError: there is no such file, or its content is not a valid prompt.
    """
    return prompts_in_force().replacement(package, name) or _shipped(package, name, version)


@cache
def _shipped(package: str, name: str, version: int) -> Prompt:
    folder = importlib.resources.files(package) / "prompts"
    file = folder / f"{name}-{version}.md"
    if not file.is_file():
        existing = (
            sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".md")) if folder.is_dir() else []
        )
        raise InputError(
            f"{package} has no prompt {name!r} of version {version}; there are: {', '.join(existing) or 'none'}"
        )
    return parse_prompt(name, version, file.read_text(encoding="utf-8"))


def shipped_prompts() -> dict[str, Prompt]:
    """Return the prompts that can be replaced.

    Returns:
        The newest version of each prompt, by area and name, such as ``"extract/statements"``.

    Raises:
        ExtensionError: see :func:`areas`.
    """
    found: dict[str, Prompt] = {}
    for area, package in areas().items():
        folder = importlib.resources.files(package) / "prompts"
        for stem in sorted(entry.name.removesuffix(".md") for entry in folder.iterdir() if entry.name.endswith(".md")):
            name, _, version = stem.rpartition("-")
            prompt = _shipped(package, name, int(version))
            known = found.get(f"{area}/{name}")
            if known is None or known.version < prompt.version:
                found[f"{area}/{name}"] = prompt
    return found


def prompt_text(prompt: Prompt) -> str:
    """Return a prompt in the form of its file."""
    sections = [f"# {role}\n{text}\n" for role, text in prompt.sections]
    return "\n".join([f"{prompt.notes}\n", *sections] if prompt.notes else sections)


@dataclass(frozen=True)
class PromptSet:
    """Prompts that replace those of the package.

    Args:
        texts: the texts of their files by area and name, such as ``"extract/statements"``.

    Raises:
        InputError: the package has no such prompt, a text is not a prompt, it uses a variable that the prompt which it
            replaces does not have, or it has several sections in place of one.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    _prompts: Mapping[str, Prompt] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        shipped = shipped_prompts() if self.texts else {}
        prompts = {key: _replacement(key, text, shipped) for key, text in self.texts.items()}
        object.__setattr__(self, "_prompts", prompts)

    @property
    def digests(self) -> dict[str, str]:
        """The digest of each text, by area and name, sorted."""
        return {key: prompt.digest for key, prompt in sorted(self._prompts.items())}

    def replacement(self, package: str, name: str) -> Prompt | None:
        """Return the prompt that replaces one of a package; ``None`` when there is none."""
        if not self._prompts:
            return None
        area = next((area for area, known in areas().items() if known == package), None)
        return self._prompts.get(f"{area}/{name}")

    def as_json(self) -> str:
        """Return the texts as a JSON object with sorted keys, for :func:`decode_prompts`."""
        return json.dumps(dict(self.texts), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def decode_prompts(text: str) -> PromptSet:
    """Return the prompts that :meth:`PromptSet.as_json` wrote.

    Args:
        text: a JSON object of texts.

    Returns:
        The prompts.

    Raises:
        InputError: the text is not of this form, or see :class:`PromptSet`.
    """
    try:
        texts = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the prompts must be a JSON object: {error}") from None
    if not isinstance(texts, dict) or not all(isinstance(value, str) for value in texts.values()):
        raise InputError("the prompts must be a JSON object of texts, by area and name")
    return PromptSet(texts)


def load_prompts(path: str | Path) -> PromptSet:
    """Read prompts that shall replace those of the package.

    Args:
        path: a file ``NAME.md``, or a folder of such files, in which a subfolder named as an area (:func:`areas`) holds
            the prompts of that area. A name that two areas have must be in the folder of its area. ``NAME-VERSION.md``
            replaces that version only: another one is an error, since its variables may differ.

    Returns:
        The prompts.

    Raises:
        InputError: there is nothing to read, a name is unknown or in two areas, or see :class:`PromptSet`.
    """
    root = Path(path)
    try:
        files = [root] if root.is_file() else sorted((*root.glob("*.md"), *root.glob("*/*.md")))
        if not files:
            raise InputError(f"{root} has no prompt: name a file NAME.md, or a folder with such files")
        texts: dict[str, str] = {}
        for file in files:
            if file.stat().st_size > MAX_PROMPT_BYTES:
                raise InputError(f"{file} is too long for a prompt: at most {MAX_PROMPT_BYTES:,} bytes")
            key = _key_of(file, file.parent.name if file.parent != root and root.is_dir() else "")
            if key in texts:
                raise InputError(f"{file}: the prompt {key} is there twice")
            texts[key] = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the prompts in {root}: {error}") from error
    return PromptSet(texts)


def _key_of(file: Path, area: str) -> str:
    """Return area and name of the prompt that a file replaces."""
    shipped = shipped_prompts()
    parts = _FILE_NAME.fullmatch(file.stem)
    name = parts["name"] if parts else file.stem
    keys = [key for key in shipped if key == f"{area}/{name}" or (not area and key.endswith(f"/{name}"))]
    if area and area not in areas():
        raise InputError(f"{file}: no area of prompts is called {area!r}; there are: {', '.join(areas())}")
    if not keys:
        names = sorted(key.partition("/")[2] for key in shipped if not area or key.startswith(f"{area}/"))
        raise InputError(f"{file}: no prompt is called {name!r}; there are: {', '.join(names)}")
    if len(keys) > 1:
        raise InputError(f"{file}: {' and '.join(keys)} have this name; put the file into a folder with the first word")
    version = parts["version"] if parts else None
    if version is not None and int(version) != shipped[keys[0]].version:
        raise InputError(
            f"{file} replaces version {version} of the prompt {keys[0]}, and this release has version "
            f"{shipped[keys[0]].version}: compare the two (worldthread prompts {keys[0]}), and rename the file"
        )
    return keys[0]


def _replacement(key: str, text: str, shipped: Mapping[str, Prompt]) -> Prompt:
    if key not in shipped:
        raise InputError(f"no prompt is called {key!r}; there are: {', '.join(shipped)}")
    original = shipped[key]
    given = parse_prompt(original.name, original.version, text)
    if unknown := sorted(given.placeholders - original.placeholders):
        allowed = ", ".join(f"${name}" for name in sorted(original.placeholders)) or "none"
        raise InputError(
            f"the prompt {key} uses {', '.join(f'${name}' for name in unknown)}; the variables that it may use are: "
            f"{allowed} (write '$$' for a dollar sign)"
        )
    if len(original.sections) == 1 and len(given.sections) != 1:
        raise InputError(f"the prompt {key} is a part of another message: it must have one section, not several")
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return Prompt(original.name, original.version, given.sections, given.notes, digest)


_NONE: Final = PromptSet()
_default: PromptSet = _NONE
_chosen: ContextVar[PromptSet | None] = ContextVar("worldthread_prompts", default=None)


def prompts_in_force() -> PromptSet:
    """Return the prompts that replace those of the package here: of :func:`use_prompts`, else the default."""
    chosen = _chosen.get()
    return _default if chosen is None else chosen


@contextmanager
def use_prompts(prompts: PromptSet) -> Iterator[PromptSet]:
    """Put prompts in force for a block.

    They hold in this thread and in tasks that begin in it, not in threads that begin in it
    (:func:`set_default_prompts` does).

    Args:
        prompts: the prompts; an empty set puts those of the package in force.

    Yields:
        The same prompts.
    """
    token = _chosen.set(prompts)
    try:
        yield prompts
    finally:
        _chosen.reset(token)


def set_default_prompts(prompts: PromptSet | None) -> None:
    """Put prompts in force in all threads of this process, where :func:`use_prompts` names no others.

    Args:
        prompts: the prompts; ``None`` for those of the package.
    """
    global _default
    _default = prompts or _NONE
