"""The folder ``/memories`` of Claude's memory tool: its six commands on files that are episodes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import unquote

from worldthread.adapters.keyed import KeyedEpisodes, KeyedItem
from worldthread.errors import InputError
from worldthread.memory.memory import Memory
from worldthread.types import TimeLike

ROOT: Final = "/memories"
"""The folder that holds everything."""

_MOST_LINES: Final = 999_999
_MOST_LEVELS: Final = 50
_LONGEST_PATH: Final = 1000
_NUMBER_WIDTH: Final = 6
_LEVELS_SHOWN: Final = 2
_NOT_SHOWN: Final = "node_modules"

_Path = tuple[str, ...]


class MemoryFiles:
    """Carries out the commands of Claude's memory tool on a memory.

    Every version of a file is an episode, so :meth:`read` shows a file as it was at a time, and :meth:`search` finds
    files by what they say. A file that Claude edits, renames or deletes stays in the record; :meth:`forget` removes it.
    There are no links, and nothing outside of ``/memories`` can be named. Thread-safe.

    Args:
        memory: holds the files; it stays open.
        source: the source of the episodes, so one for each folder ``/memories`` in this memory.
        keep_versions: keep what was edited, renamed or deleted; else it is forgotten with the command.
        clock: returns the time in seconds since 1970-01-01 UTC.

    Examples:
        >>> files = MemoryFiles(Memory())
        >>> files.run({"command": "create", "path": "/memories/tea.txt", "file_text": "Anna likes green tea."})
        'File created successfully at: /memories/tea.txt'
    """

    def __init__(
        self,
        memory: Memory,
        *,
        source: str = "claude",
        keep_versions: bool = True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.memory = memory
        self._items = KeyedEpisodes(memory, source, keep_versions=keep_versions, clock=clock)
        self._lock = threading.RLock()
        self._commands = {
            "view": self._view,
            "create": self._create,
            "str_replace": self._str_replace,
            "insert": self._insert,
            "delete": self._delete,
            "rename": self._rename,
        }

    # -- for Claude ---------------------------------------------------------------------------------------------------

    def run(self, command: Mapping[str, Any]) -> str:
        """Carry out a command.

        Args:
            command: the ``input`` of a call of the tool.

        Returns:
            The content of the tool's result.

        Raises:
            InputError: the command cannot be carried out; its message is the content of a result with ``is_error``.
        """
        if not isinstance(command, Mapping):
            raise InputError("Error: the input of the memory tool must be an object")
        name = command.get("command")
        if not isinstance(name, str) or name not in self._commands:
            raise InputError(f"Error: unknown command {name!r}; there are: {', '.join(self._commands)}")
        with self._lock:
            return self._commands[name](command)

    def _view(self, command: Mapping[str, Any]) -> str:
        shown = _text(command, "path")
        path = _parts(shown)
        item = self._items.get(path)
        if _is_folder(path, item):
            return self._list_folder(path, shown)
        if item is None:
            raise InputError(f"The path {shown} does not exist. Please provide a valid path.")
        lines = item.text.split("\n")
        if len(lines) > _MOST_LINES:
            raise InputError(f"File {shown} exceeds maximum line limit of 999,999 lines.")
        first, last = _range(command.get("view_range"), len(lines))
        return f"Here's the content of {shown} with line numbers:\n{_numbered(lines, first, last)}"

    def _list_folder(self, path: _Path, shown: str) -> str:
        items = {item.path: item for item in self._items.list_items(path) if item.path != path}
        folder = shown.rstrip("/") or shown
        lines = [f"{_size(sum(map(_bytes, items.values())))}\t{folder}"]
        for place in sorted(items):
            below = place[len(path) :]
            if len(below) > _LEVELS_SHOWN or any(part.startswith(".") or part == _NOT_SHOWN for part in below):
                continue
            within = [item for other, item in items.items() if other[: len(place)] == place]
            end = "/" if _is_folder(place, items[place]) else ""
            lines.append(f"{_size(sum(map(_bytes, within)))}\t{folder}/{'/'.join(below)}{end}")
        head = f"Here're the files and directories up to 2 levels deep in {shown}, "
        return "\n".join([f"{head}excluding hidden items and node_modules:", *lines])

    def _create(self, command: Mapping[str, Any]) -> str:
        shown, content = _text(command, "path"), _text(command, "file_text")
        path = _parts(shown)
        item = self._items.get(path)
        if item is not None or _is_folder(path, item):
            raise InputError(f"Error: File {shown} already exists")
        self._items.put([*self._missing_folders(path, shown), KeyedItem(path, content)])
        return f"File created successfully at: {shown}"

    def _str_replace(self, command: Mapping[str, Any]) -> str:
        shown, old, new = _text(command, "path"), _text(command, "old_str"), _text(command, "new_str", "")
        item = self._file(shown, "Please provide a valid path.")
        count = item.text.count(old)
        if count == 0:
            raise InputError(f"No replacement was performed, old_str `{old}` did not appear verbatim in {shown}.")
        if count > 1:
            starts = (start for start in range(len(item.text) + 1) if item.text.startswith(old, start))
            lines = ", ".join(str(item.text.count("\n", 0, start) + 1) for start in starts)
            raise InputError(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. "
                "Please ensure it is unique"
            )
        changed = item.text.count("\n", 0, item.text.index(old))
        content = item.text.replace(old, new)
        self._items.put([KeyedItem(item.path, content)])
        snippet = _numbered(content.split("\n"), max(0, changed - 2), changed + 3)
        return (
            f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"
        )

    def _insert(self, command: Mapping[str, Any]) -> str:
        shown, text, line = _text(command, "path"), _text(command, "insert_text"), command.get("insert_line")
        item = self._file(shown)
        lines = item.text.removesuffix("\n").split("\n") if item.text else []
        if isinstance(line, bool) or not isinstance(line, int) or not 0 <= line <= len(lines):
            raise InputError(
                f"Error: Invalid `insert_line` parameter: {line}. "
                f"It should be within the range of lines of the file: [0, {len(lines)}]"
            )
        lines.insert(line, text.rstrip("\n"))
        self._items.put([KeyedItem(item.path, "\n".join(lines).removesuffix("\n") + "\n")])
        return f"The file {shown} has been edited."

    def _delete(self, command: Mapping[str, Any]) -> str:
        shown = _text(command, "path")
        path = _parts(shown)
        if len(path) == 1:
            raise InputError(f"Error: Cannot delete the {ROOT} directory itself")
        found = self._items.list_items(path)
        if not found:
            raise InputError(f"Error: The path {shown} does not exist")
        self._items.put([], ended=[item.path for item in found], reason=f"Deleted {_joined(path)}.")
        return f"Successfully deleted {shown}"

    def _rename(self, command: Mapping[str, Any]) -> str:
        shown, new_shown = _text(command, "old_path"), _text(command, "new_path")
        path, new_path = _parts(shown), _parts(new_shown)
        if len(path) == 1:
            raise InputError(f"Error: Cannot rename the {ROOT} directory itself")
        found = self._items.list_items(path)
        if not found:
            raise InputError(f"Error: The path {shown} does not exist")
        if len(new_path) == 1 or self._items.get(new_path) is not None:
            raise InputError(f"Error: The destination {new_shown} already exists")
        if new_path[: len(path)] == path:
            raise InputError(f"Error: {shown} cannot be moved into itself")
        moved = [
            KeyedItem(_parts(_joined((*new_path, *item.path[len(path) :]))), item.text, item.value, item.searchable)
            for item in found
        ]
        folders = self._missing_folders(new_path, new_shown)
        reason = f"Renamed {_joined(path)} to {_joined(new_path)}."
        self._items.put([*folders, *moved], ended=[item.path for item in found], reason=reason)
        return f"Successfully renamed {shown} to {new_shown}"

    def _file(self, shown: str, hint: str = "") -> KeyedItem:
        path = _parts(shown)
        item = self._items.get(path)
        if item is None or _is_folder(path, item):
            raise InputError(f"Error: The path {shown} does not exist" + (f". {hint}" if hint else ""))
        return item

    def _missing_folders(self, path: _Path, shown: str) -> list[KeyedItem]:
        missing = []
        for end in range(2, len(path)):
            folder = path[:end]
            item = self._items.get(folder)
            if item is None:
                missing.append(KeyedItem(folder, f"The folder {_joined(folder)}.", {"folder": True}, searchable=False))
            elif not _is_folder(folder, item):
                raise InputError(f"Error: {shown} cannot be created, because {_joined(folder)} is a file")
        return missing

    # -- for the program ----------------------------------------------------------------------------------------------

    def paths(self, *, as_of: TimeLike | None = None) -> list[str]:
        """List the files.

        Args:
            as_of: a time; ``None`` for now.

        Returns:
            Their paths, sorted.
        """
        items = self._items.list_items(("memories",), as_of=as_of)
        return sorted(_joined(item.path) for item in items if not _is_folder(item.path, item))

    def read(self, path: str, *, as_of: TimeLike | None = None) -> str:
        """Return the content of a file.

        Args:
            path: the path of the file.
            as_of: a time; ``None`` for now.

        Returns:
            The content.

        Raises:
            InputError: there is, or was, no such file.
        """
        parts = _parts(path)
        item = self._items.get(parts, as_of=as_of)
        if item is None or _is_folder(parts, item):
            raise InputError(f"there is no file {path}{'' if as_of is None else f' at {as_of}'}")
        return item.text

    def search(self, query: str, *, k: int = 5, as_of: TimeLike | None = None) -> list[tuple[str, str]]:
        """Find the files that fit a question best.

        Args:
            query: the question.
            k: how many at most.
            as_of: a time; ``None`` for now.

        Returns:
            Path and content of each, best first.
        """
        found = self._items.search(query, ("memories",), k=k, as_of=as_of)
        return [(_joined(item.path), item.text) for item in found]

    def forget(self, path: str = ROOT) -> bool:
        """Remove a file or a folder with all that ever was in it, as if it had never been written.

        Args:
            path: the path; it may be deleted already. Of a file that was renamed, each path has its own part.

        Returns:
            Whether there was anything.
        """
        return self._items.forget(_parts(path), below=True)


def _text(command: Mapping[str, Any], name: str, default: str | None = None) -> str:
    value = command.get(name, default)
    if not isinstance(value, str):
        raise InputError(f"Error: the command {command['command']} needs the text `{name}`")
    return value


def _parts(path: str) -> _Path:
    """Return the parts of a path below the root, ``"memories"`` first."""
    decoded = path
    for _ in range(3):  # nothing here decodes paths; what a program behind might decode is refused too
        decoded = unquote(decoded, errors="replace")
    for form in {path, decoded}:
        if ".." in form.split("/") or "\\" in form or any(not letter.isprintable() for letter in form):
            raise InputError(
                f"Error: Path {path!r} would escape {ROOT} directory, or has letters that no path may have"
            )
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if not path.startswith("/") or parts[:1] != ("memories",):
        raise InputError(f"Error: Path must start with {ROOT}, got: {path}")
    if len(parts) > _MOST_LEVELS or len(path) > _LONGEST_PATH:
        raise InputError(f"Error: a path can have {_MOST_LEVELS} levels and {_LONGEST_PATH} characters")
    return parts


def _joined(path: _Path) -> str:
    return "/" + "/".join(path)


def _is_folder(path: _Path, item: KeyedItem | None) -> bool:
    return len(path) == 1 or (item is not None and bool(item.value.get("folder")))


def _range(given: Any, count: int) -> tuple[int, int]:
    if given is None:
        return 0, count
    if not isinstance(given, list | tuple) or len(given) != 2 or not all(isinstance(one, int) for one in given):
        raise InputError(f"Error: Invalid `view_range` parameter: {given}. It should be two line numbers")
    first, last = given
    return max(1, first) - 1, count if last == -1 else max(0, last)


def _numbered(lines: list[str], first: int, last: int) -> str:
    return "\n".join(f"{number:{_NUMBER_WIDTH}}\t{line}" for number, line in enumerate(lines[first:last], first + 1))


def _bytes(item: KeyedItem) -> int:
    return 0 if item.value.get("folder") else len(item.text.encode("utf-8", "surrogatepass"))


def _size(count: int) -> str:
    """Return a number of bytes for people to read."""
    size, unit = float(count), "B"
    for larger in "KMG":
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.0f}{unit}" if size == int(size) else f"{size:.1f}{unit}"
