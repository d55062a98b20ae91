"""Groups of episodes that a model reads with one call: messages of one conversation, with what was said before them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias, runtime_checkable

from worldthread.types import Episode, Extraction

GROUP_EPISODES: Final = 12
"""The most messages of a group."""

GROUP_CHARACTERS: Final = 2400
"""The most characters of a group of several messages; a longer message is a group of its own."""

MESSAGES_BEFORE: Final = 4
"""How many of the messages before a group are shown with it."""

CHARACTERS_BEFORE: Final = 300
"""How many characters of each of them are shown."""

SaidBefore: TypeAlias = Callable[[Episode], Sequence[Episode]]
"""Returns the latest episodes of the conversation of an episode that were recorded and said before it, oldest first."""


@dataclass(frozen=True)
class EpisodeGroup:
    """Episodes that are read together.

    Args:
        episodes: one episode, or several messages of one conversation, in order.
        before: the messages before them, oldest first, each cut to a few hundred characters; empty for other texts.
        user: the speaker of episodes that name neither a speaker nor a user; empty when nobody is known.
    """

    episodes: tuple[Episode, ...]
    before: tuple[str, ...] = ()
    user: str = ""


@runtime_checkable
class GroupExtractor(Protocol):
    """An :class:`~worldthread.extract.base.Extractor` that can read several messages at once."""

    def extract_group(self, group: EpisodeGroup) -> list[Extraction]:
        """Return what each episode of a group states.

        Args:
            group: the episodes, with what was said before them.

        Returns:
            An extraction for each episode, in their order; see
            :meth:`~worldthread.extract.base.Extractor.extract`.

        Raises:
            ModelError: a model is needed and cannot be called, or its budget is spent.
        """


def groups_of(episodes: Sequence[Episode], user: str = "", said_before: SaidBefore | None = None) -> list[EpisodeGroup]:
    """Divide episodes into groups; every episode that is no message is a group of its own.

    Args:
        episodes: the episodes; a group consists of neighbours.
        user: see :class:`EpisodeGroup`.
        said_before: finds what was said before the first message of a conversation; ``None`` for nothing.

    Returns:
        The groups, in order.
    """
    groups: list[EpisodeGroup] = []
    earlier: dict[tuple[str, ...], tuple[Episode, ...]] = {}
    for group in _neighbours(episodes):
        first = group[0]
        if not first.speaker:
            groups.append(EpisodeGroup(group, (), user))
            continue
        conversation = conversation_of(first)
        if conversation not in earlier:
            earlier[conversation] = () if said_before is None else tuple(said_before(first))
        before = tuple(episode.text[:CHARACTERS_BEFORE] for episode in earlier[conversation][-MESSAGES_BEFORE:])
        groups.append(EpisodeGroup(group, before, user))
        earlier[conversation] = (*earlier[conversation], *group)[-MESSAGES_BEFORE:]
    return groups


def conversation_of(episode: Episode) -> tuple[str, ...]:
    """Return what the messages of one conversation have in common: source, session, user and agent."""
    return episode.source, episode.session, episode.user, episode.agent


def _neighbours(episodes: Sequence[Episode]) -> Iterator[tuple[Episode, ...]]:
    group: list[Episode] = []
    characters = 0
    for episode in episodes:
        fits = len(group) < GROUP_EPISODES and characters + len(episode.text) <= GROUP_CHARACTERS
        same = bool(group and group[0].speaker and episode.speaker) and (
            conversation_of(group[0]) == conversation_of(episode) and group[-1].at <= episode.at
        )
        if group and not (fits and same):
            yield tuple(group)
            group, characters = [], 0
        group.append(episode)
        characters += len(episode.text)
    if group:
        yield tuple(group)
