"""Prompts: versioned text files beside the code that uses them.

A prompt lives in ``PACKAGE/prompts/NAME-VERSION.md``. Lines before the first heading are notes for whoever reads the
file. Each heading (``# system``, ``# user`` or ``# assistant``) begins one message, and ``$name`` is a placeholder
(``$$`` is a dollar sign). A prompt that changes gets a new version, since scores are compared
under it.
"""

from __future__ import annotations

import importlib.resources
import re
from dataclasses import dataclass
from functools import cache
from string import Template
from typing import Final, cast

from worldthread.errors import InputError
from worldthread.models.chat import Message, Role

HEADING: Final = re.compile(r"^# (system|user|assistant)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class Prompt:
    """Messages with placeholders.

    Args:
        name: what it is for.
        version: 1 or more.
        sections: role and text of every message, in order; a text holds ``$name`` placeholders.

    Raises:
        InputError: there is no section, a section is empty, or a dollar sign begins no placeholder.
    """

    name: str
    version: int
    sections: tuple[tuple[Role, str], ...]

    def __post_init__(self) -> None:
        if not self.sections:
            raise InputError(f"prompt {self.id} has no section; begin one with a line '# system' or '# user'")
        for role, text in self.sections:
            if not text:
                raise InputError(f"prompt {self.id}: the section '# {role}' is empty")
            if not Template(text).is_valid():
                raise InputError(
                    f"prompt {self.id}: a '$' in '# {role}' begins no placeholder; write '$$' for the sign"
                )

    @property
    def id(self) -> str:
        """Name and version, such as ``"statements/1"``."""
        return f"{self.name}/{self.version}"

    @property
    def placeholders(self) -> frozenset[str]:
        """Names that :meth:`messages` must be given."""
        return frozenset(name for _, text in self.sections for name in Template(text).get_identifiers())

    def messages(self, **values: str) -> tuple[Message, ...]:
        """The messages with every placeholder replaced, in one pass: a ``$name`` within a value stays as it is.

        Raises:
            InputError: a placeholder got no value, or a value has no placeholder.
        """
        if missing := sorted(self.placeholders - values.keys()):
            raise InputError(f"prompt {self.id} needs a value for: {', '.join(missing)}")
        if unknown := sorted(values.keys() - self.placeholders):
            raise InputError(f"prompt {self.id} has no placeholder called: {', '.join(unknown)}")
        return tuple(Message(role, Template(text).substitute(values)) for role, text in self.sections)


def parse_prompt(name: str, version: int, text: str) -> Prompt:
    """The prompt in the text of a prompt file.

    Raises:
        InputError: the text is not what a prompt file should be; see :class:`Prompt`.
    """
    parts = HEADING.split(text)  # notes, role, text, role, text, ...
    sections = tuple(
        (cast("Role", role), section.strip()) for role, section in zip(parts[1::2], parts[2::2], strict=True)
    )
    return Prompt(name, version, sections)


@cache
def load_prompt(package: str, name: str, version: int) -> Prompt:
    """The prompt in the file ``prompts/NAME-VERSION.md`` of a package.

    Args:
        package: dotted name of the package that holds the folder, such as ``"worldthread.extract"``.
        name: first part of the file's name.
        version: second part of the file's name.

    Raises:
        InputError: there is no such file, or it is not what a prompt file should be.
    """
    folder = importlib.resources.files(package) / "prompts"
    file = folder / f"{name}-{version}.md"
    if not file.is_file():
        there = (
            sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".md")) if folder.is_dir() else []
        )
        raise InputError(
            f"{package} has no prompt {name!r} of version {version}; there are: {', '.join(there) or 'none'}"
        )
    return parse_prompt(name, version, file.read_text(encoding="utf-8"))
