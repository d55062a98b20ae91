"""The environment that plays NetHack in words."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Final, get_args

from worldthread.errors import EpisodeOverError, InputError
from worldthread_lab.envs.base import Environment, Info, Truth, require_action, require_running
from worldthread_lab.envs.nethack.commands import perform
from worldthread_lab.envs.nethack.describe import inventory, observation
from worldthread_lab.envs.nethack.engine import NetHackEngine
from worldthread_lab.envs.nethack.game import Game
from worldthread_lab.envs.nethack.offers import valid_actions
from worldthread_lab.envs.nethack.truth import TrueLevel, read_level
from worldthread_lab.envs.nethack.view import Mode, View
from worldthread_lab.envs.spec import GameSpec

GOAL: Final = (
    "Explore the dungeon: find the ways down, go as deep as you can, and stay alive. Depth, experience and gold make "
    "the score. The game is won by bringing the Amulet of Yendor up from the bottom of the dungeon and offering it."
)


class NetHackEnvironment(Environment):
    """NetHack with sentences as observations and words as actions.

    An action is one move, even if it takes many turns of the game ("explore") or none ("look"). The score is the one
    that the game shows; it can fall. Ascension wins the game, any other end loses it.

    Several environments may be used at a time, but not from several threads.

    Args:
        id: the id of the environment.
        seed: the seed of :meth:`reset` when it gets none. It decides the dungeon, the parts of the character that are
            drawn at random, and all random events.
        goal: the task in words, instead of :data:`GOAL`.
        max_moves: the episode is truncated after this many moves; ``None``: no limit.
        character: see :class:`worldthread_lab.envs.nethack.engine.NetHackEngine`.
        observation: the part of the level that observations describe, see
            :class:`worldthread_lab.envs.nethack.view.View`.
        stochastic: whether random events differ after each :meth:`reset`, in the same dungeon; else the seed decides
            them.

    Raises:
        InputError: ``character`` or ``observation`` cannot be used.
        MissingExtraError: nle is not installed.
    """

    def __init__(
        self,
        *,
        id: str = "nethack-v0",
        seed: int = 0,
        goal: str | None = None,
        max_moves: int | None = None,
        character: str = "valkyrie",
        observation: Mode = "room",
        stochastic: bool = False,
    ) -> None:
        if observation not in get_args(Mode):
            raise InputError(f"observation must be 'room' or 'level', not {observation!r}")
        self.id = id
        self.is_stochastic = stochastic
        self._resets = 0
        self._seed = seed
        self._goal = GOAL if goal is None else goal
        self._max_moves = max_moves
        self._character = character
        self._mode = observation
        self._engine: NetHackEngine | None = NetHackEngine(character)
        self._game: Game | None = None
        self._info = Info()
        self._running = False

    def reset(self, seed: int | None = None) -> tuple[str, Info]:
        if self._engine is None:
            self._engine = NetHackEngine(self._character)
        chosen = self._seed if seed is None else seed
        chance = None
        if self.is_stochastic and self._resets:
            chance = random.Random(f"{chosen} {self._resets}").randrange(2**31)
        self._resets += 1
        greeting = self._engine.start(chosen, chance)
        self._game = Game(self._engine)
        self._game.console.messages[:0] = greeting
        text, info = self._observe(self._game, moves=0, score=self._game.stats.score)
        self._info = info
        self._running = True
        return f"{text}\n\n{self._goal}" if self._goal else text, info

    def step(self, action: str) -> tuple[str, float, bool, bool, Info]:
        require_running(self._running, self._game is not None)
        require_action(action)
        game, before = self._playing(), self._info
        game.begin_action()
        perform(game, action)
        game.look_down()
        text, self._info = self._observe(game, moves=before.moves + 1, score=game.stats.score)
        terminated = game.is_over
        truncated = not terminated and self._max_moves is not None and self._info.moves >= self._max_moves
        self._running = not (terminated or truncated)
        return text, float(self._info.score - before.score), terminated, truncated, self._info

    def truth(self) -> Truth:
        """Return an empty truth, since NLE shows only what the player sees.

        Returns:
            A truth without propositions, walkthrough or optimal moves.

        Raises:
            EpisodeOverError: before ``reset``.
        """
        self._playing()
        return Truth(frozenset())

    def true_level(self) -> TrueLevel | None:
        """Return what the map shows of the player's level, which is for audits and tests and never for an agent.

        Returns:
            The level; ``None`` when the map shows nothing: the game is over, or a creature has swallowed the player.

        Raises:
            EpisodeOverError: before ``reset``.
        """
        game = self._playing()
        return None if game.is_over else read_level(game, View(game, self._mode))

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
        self._engine = self._game = None
        self._running = False

    def _playing(self) -> Game:
        if self._game is None:
            raise EpisodeOverError("there is no game yet: call reset() first")
        return self._game

    def _observe(self, game: Game, *, moves: int, score: int) -> tuple[str, Info]:
        messages, game.console.messages = game.console.messages, []
        info = Info(score=score, goal=self._goal, moves=moves)
        if game.is_over:
            won = game.engine.ascended
            text = "\n".join([*messages, *game.console.epitaph, "The game is over."])
            return text, replace(info, inventory=self._info.inventory, valid_actions=(), won=won, lost=not won)
        view = View(game, self._mode)
        text = observation(game, view, messages)
        return text, replace(info, inventory=inventory(game), valid_actions=valid_actions(game, view))


def make_nethack(
    spec: GameSpec,
    *,
    seed: int,
    goal: str | None,
    max_moves: int | None,
    cache_dir: Path | None,
    character: str = "valkyrie",
    observation: Mode = "room",
    stochastic: bool = False,
) -> NetHackEnvironment:
    """Make the registered game ``nethack``; ``cache_dir`` is ignored.

    Args:
        spec: the registered game.
        seed: seed of the dungeon.
        goal: the task in words.
        max_moves: the limit of moves.
        cache_dir: ignored.
        character: the role of the player, such as "valkyrie" or "wizard".
        observation: what the text describes: the present "room" or the whole "level".
        stochastic: whether random events differ after each reset.

    Returns:
        The environment.
    """
    return NetHackEnvironment(
        id=spec.id,
        seed=seed,
        goal=goal,
        max_moves=max_moves,
        character=character,
        observation=observation,
        stochastic=stochastic,
    )
