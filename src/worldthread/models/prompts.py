"""Prompts: versioned text files beside the code that uses them.

The file of a prompt is ``PACKAGE/prompts/NAME-VERSION.md``. Lines before the first heading are notes for readers of the
file. Each heading (``# system``, ``# user`` or ``# assistant``) begins a message, and ``$name`` is a placeholder
(``$$`` is a dollar sign). A prompt that changes gets a new version, so that scores of different texts are not compared.
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
        name: the name of its file, which says what it is for.
        version: 1 or more.
        sections: role and text of every message, in order; a text holds ``$name`` placeholders.

    Raises:
        InputError: there is no section, a section is empty, or a dollar sign does not begin a placeholder.
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
                    f"prompt {self.id}: a '$' in '# {role}' does not begin a placeholder; write '$$' for the sign"
                )

    @property
    def id(self) -> str:
        """Name and version, such as ``"statements/1"``."""
        return f"{self.name}/{self.version}"

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
            InputError: a placeholder has no value, or a value no placeholder.
        """
        if missing := sorted(self.placeholders - values.keys()):
            raise InputError(f"prompt {self.id} needs a value for: {', '.join(missing)}")
        if unknown := sorted(values.keys() - self.placeholders):
            raise InputError(f"prompt {self.id} has no placeholder called: {', '.join(unknown)}")
        return tuple(Message(role, Template(text).substitute(values)) for role, text in self.sections)


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
    return Prompt(name, version, sections)


@cache
def load_prompt(package: str, name: str, version: int) -> Prompt:
    """Load the prompt in the file ``prompts/NAME-VERSION.md`` of a package.

    Args:
        package: dotted name of the package that holds the folder, such as ``"worldthread.extract"``.
        name: first part of the file's name.
        version: second part of the file's name.

    Returns:
        The prompt; each file is read once.

    Raises:
        InputError: there is no such file, or its content is not a valid prompt.
    """
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
