"""The JSON routes of the memory page; they only read."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from worldthread.errors import InputError, NotFoundError
from worldthread.extract.when import shown_name, world_time
from worldthread.graph import TemporalGraph
from worldthread.names import normalise_name, number_variants
from worldthread.retrieve.text import shown_asked_time, shown_days, shown_reason, shown_statement
from worldthread.types import Episode, Fact, Hit, Recall, Statement, Version
from worldthread.web.answers import json_response, number_parameter, read_json, shown_path, text_parameter
from worldthread.web.app_state import FILE_KEY, AppState
from worldthread.web.cluster_drawing import weighed_name, written_name
from worldthread.web.graph_drawing import (
    MAX_WHOLE,
    intervals,
    is_small,
    neighbourhood,
    restated_fact,
    whole,
    written_names,
)
from worldthread.web.memories import OpenMemory
from worldthread.web.name_kinds import name_kind
from worldthread.web.names import NameIndex
from worldthread.web.overview import CountedTime

if TYPE_CHECKING:
    from worldthread.answering.answer import Answer

_NAMES: Final = 20
_NEIGHBOURS: Final = 40
_PATIENCE: Final = 0.8  # seconds that the first drawing waits for clusters
_MAX_LEVEL: Final = 30  # clusters in clusters
_MAX_NEIGHBOURS: Final = 500
_STATEMENTS: Final = 100
_MAX_STATEMENTS: Final = 1000
_HITS: Final = 8
_MAX_HITS: Final = 50
_SOURCES: Final = 8  # episodes named for one version: a common statement has thousands
_TEXT: Final = 20_000  # characters of an episode
_QUESTION: Final = 2000  # characters
_MAX_EVIDENCE: Final = 8
_MAX_TEXTS: Final = 50


class AskRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A request to answer a question with the model of the server, which may cost money."""

    question: Annotated[str, msgspec.Meta(min_length=1, max_length=_QUESTION)]
    at: Annotated[str, msgspec.Meta(max_length=64)] | None = None


class CancelRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A request to cancel the long work on a memory."""


def memory_route(app_state: AppState, path: str, query: Any) -> Route:
    """Return a route that reads one memory.

    Args:
        app_state: knows the memories.
        path: what follows the key of the memory.
        query: returns the fields of the answer from the open memory and the request.

    Returns:
        The route below ``/api/memories/{key}``.
    """

    async def endpoint(request: Request) -> Response:
        def work() -> Any:
            key = request.path_params["key"]
            if key == FILE_KEY and app_state.is_to_be_made and query in _EMPTY:
                named = {"file": shown_path(app_state.location.path)} if query is _summary else {}
                return {**_EMPTY[query], **named, **_NOT_MADE}
            with app_state.memory(key) as opened, app_state.work(key).doing("indexing"):
                state = opened.state()  # first: what is read after it is of that state, or of a later one
                told = {**query(opened, request), **state}
            if query is _summary:  # the last that the first page asks for
                app_state.note_shown()
            return told

        return json_response(await run_in_threadpool(work))

    return Route(f"/api/memories/{{key}}{path}", endpoint)


def memory_routes(app_state: AppState) -> list[Route]:
    """Return the routes below ``/api/memories``."""

    def route(path: str, query: Any) -> Route:
        return memory_route(app_state, path, query)

    async def listed(_: Request) -> Response:
        return json_response({"memories": await run_in_threadpool(app_state.memory_list)})

    async def ask_model(request: Request) -> Response:
        wanted = await read_json(request, AskRequest)

        def work() -> Any:
            key = request.path_params["key"]
            with app_state.asking_memory(key) as opened, app_state.work(key).doing("indexing"):
                return _answered(opened, wanted.question, wanted.at)

        return json_response(await run_in_threadpool(work))

    async def work_on(request: Request) -> Response:
        work = await run_in_threadpool(app_state.work, request.path_params["key"])
        if request.method == "POST":
            await read_json(request, CancelRequest)
            work.cancel()
        return json_response({"work": work.as_json()})

    return [
        Route("/api/memories", listed),
        route("", _summary),
        route("/change", _change),
        route("/graph", _graph),
        route("/clusters", _clusters),
        route("/neighbours", _neighbours),
        route("/names", _names),
        route("/recall", _recall),
        route("/ask", _ask),
        route("/entity", _entity),
        route("/statement", _statement),
        route("/episode", _episode),
        route("/texts", _texts),
        Route("/api/memories/{key}/ask", ask_model, methods=["POST"]),
        Route("/api/memories/{key}/work", work_on, methods=["GET", "POST"]),
    ]


def _summary(opened: OpenMemory, request: Request) -> dict[str, Any]:
    """Return the size of a memory at a time, and the names to begin with."""
    time = _counted_time(request)
    with reading(opened, request) as (graph, names):
        overview = opened.overview(graph, time)
        strongest = opened.strongest(graph, names, time)
        return {
            "file": shown_path(opened.path),
            "namespace": opened.memory.namespace,
            "counts": {**opened.counts(graph, names, time), "texts": overview.texts},
            "strongest": [weighed_name(graph, names, name, weight) for name, weight in strongest],
            "small": is_small(graph, names),
            "first": overview.first,
            "last": overview.last,
            "recorded": overview.recorded,
            "latest": [_latest_fields(graph, number) for number in overview.latest],
            "most_drawn": MAX_WHOLE,
        }


def _change(_: OpenMemory, __: Request) -> dict[str, Any]:
    """Return which state the memory is in alone, as every answer does."""
    return {}


def _graph(opened: OpenMemory, request: Request) -> dict[str, Any]:
    """Return the first drawing: all of a small graph, or the clusters of a large one.

    If the clusters take a while to find, it is the neighbourhood of the strongest name, with ``grouping``: then
    :func:`_clusters` returns them.
    """
    wants_episodes = _with_episodes(request)
    with reading(opened, request) as (graph, names):
        if is_small(graph, names):
            with_episodes = wants_episodes and is_small(graph, names, with_episodes=True)
            drawing = whole(graph, names, with_episodes=with_episodes)
            return {**drawing.as_json(), "whole": True, "episodes": with_episodes, "centre": None, "total": None}
    try:
        return _cluster_picture(opened, request, _PATIENCE)
    except TimeoutError:
        pass
    with reading(opened, request) as (graph, names):
        centre = next(iter(names.strongest), None)
        if centre is None:
            return _NO_DRAWING
        drawing, total = neighbourhood(
            graph, names, centre, offset=0, limit=_NEIGHBOURS, with_episodes=wants_episodes
        )  # fmt: skip
        told = {"whole": False, "episodes": wants_episodes, "centre": centre, "total": total, "grouping": True}
        return {**drawing.as_json(), **told}


def _clusters(opened: OpenMemory, request: Request) -> dict[str, Any]:
    """Return the clusters in a cluster, or of the whole memory; or the names of a cluster that has no parts."""
    return _cluster_picture(opened, request, None)


def _cluster_picture(opened: OpenMemory, request: Request, patience: float | None) -> dict[str, Any]:
    """Draw clusters.

    Args:
        opened: the memory.
        request: a request with perhaps ``cluster`` (a name in it) and ``level``, ``skip``, and what of the time counts:
            ``at``, or ``from`` and ``to``, and ``ended``.
        patience: how many seconds to wait until they are found; ``None`` as long as it takes.

    Returns:
        The drawing; see :meth:`~worldthread.web.cluster_drawing.ClusterPictures.picture`.

    Raises:
        TimeoutError: they are not found yet.
    """
    level = number_parameter(request, "level", 0, _MAX_LEVEL)
    skip = number_parameter(request, "skip", 0, 10**9)
    counted = _counted_time(request)
    while True:
        with reading(opened, request) as (graph, names):
            found = opened.clusters(graph)
            if found.done():
                pictures = found.result()
                cluster = pictures.clusters.whole
                if level:
                    name = graph.name_number(_known_name(graph, text_parameter(request, "cluster")))
                    path = pictures.clusters.path_to(-1 if name is None else name, level)
                    cluster = path[-1] if path else cluster
                drawn = pictures.picture(graph, names, cluster, skip=skip, time=counted)
                return {**drawn, "whole": False, "episodes": False, "centre": None, "total": None}
        found.exception(patience)  # the graph is not locked meanwhile; if it changed, it is looked for again


def _counted_time(request: Request) -> CountedTime:
    """Return what of the time a request asks for."""
    given = {name: request.query_params.get(name) for name in ("at", "from", "to")}
    times = {name: None if value is None else page_time(value) for name, value in given.items()}
    first, last = times["from"], times["to"]
    span = None if first is None or last is None else (first, last)
    return CountedTime(times["at"], span, request.query_params.get("ended") == "1")


def page_time(given: str) -> float:
    """Return a time that the page sends: a number is one, also where it could be a year."""
    return world_time(given, 0.0, counts_turns=True)


def _neighbours(opened: OpenMemory, request: Request) -> dict[str, Any]:
    """Return a part of the neighbourhood of a name."""
    limit = number_parameter(request, "limit", _NEIGHBOURS, _MAX_NEIGHBOURS)
    offset = number_parameter(request, "offset", 0, 10**9)
    with reading(opened, request) as (graph, names):
        centre = _known_name(graph, text_parameter(request, "name"))
        drawing, total = neighbourhood(
            graph, names, centre, offset=offset, limit=limit, with_episodes=_with_episodes(request)
        )
        return {**drawing.as_json(), "centre": centre, "offset": offset, "limit": limit, "total": total}


def _names(opened: OpenMemory, request: Request) -> dict[str, Any]:
    """Return names that contain a text."""
    limit = number_parameter(request, "limit", _NAMES, _MAX_STATEMENTS)
    with reading(opened, request) as (graph, names):
        found = [name for name in names.matching(text_parameter(request, "q"), limit) if graph.numbers_about(name, 1)]
        return {"names": [weighed_name(graph, names, name) for name in found]}


def _recall(opened: OpenMemory, request: Request) -> dict[str, Any]:
    """Return the hits for a question, now or at a given time."""
    question = _question(request)
    k = max(number_parameter(request, "k", _HITS, _MAX_HITS), 1)
    given = request.query_params.get("at")
    at = page_time(given) if given else None
    found = _found(opened, question, k, at)
    return {"question": question, "asked_time": shown_asked_time(found.asked_time), **_recalled(opened, found)}


def _found(opened: OpenMemory, question: str, k: int, at: float | None) -> Recall:
    """Recall what held at the time asked about; without one, include the past, which is marked."""
    found = opened.memory.recall(question, k=k, as_of=at, only_current=at is not None)
    asked = found.asked_time
    return found if at is not None or asked is None or asked.is_tense else opened.memory.recall(question, k=k)


def _ask(opened: OpenMemory, request: Request) -> dict[str, Any]:
    """Answer a question by rule, and show what was recalled.

    Args:
        opened: the memory.
        request: a request with ``q`` and perhaps ``at``.

    Returns:
        The answer with its evidence and sources, the time that it is ``as_of``, and the hits of a recall.
    """
    return _answered(opened, _question(request), request.query_params.get("at"))


def _answered(opened: OpenMemory, question: str, given: str | None) -> dict[str, Any]:
    """Answer a question with the model of a memory, or by rule without one; see :func:`_ask`."""
    at = page_time(given) if given else None
    answer = opened.memory.ask(question, as_of=at)
    asked = answer.asked_time
    found = _found(opened, question, _HITS, at)
    with opened.read_lock() as (graph, _):
        return {
            "question": question,
            "answer": answer.text,
            "support": answer.support,
            "confidence": answer.confidence,
            "model": answer.model,
            "reasoning": answer.reasoning,
            "as_of": at,
            "asked_time": shown_asked_time(asked),
            "evidence": [_statement_with_versions(graph, number) for number in _evidence(graph, answer, at)],
            "sources": [_hit(graph, hit) for hit in answer.sources],
            "nearest": [_hit(graph, hit) for hit in answer.nearest],
            "method": found.method,
            "hits": [_hit(graph, hit) for hit in found.hits],
        }


def _evidence(graph: TemporalGraph, answer: Answer, at: float | None) -> list[int]:
    """Return the numbers of the statements behind an answer.

    These are its sources, and what its texts state of the answer: if possible about what the question names.
    """
    sources = [_number(graph, hit) for hit in answer.sources]
    texts = [hit.item.id for hit in answer.sources if isinstance(hit.item, Episode)]
    stated = [graph.number_of(statement, id_) for id_ in texts for statement in graph.extracted(id_)]
    key, asked = normalise_name(answer.text or ""), f" {normalise_name(answer.question)} "

    def says_answer(number: int) -> bool:
        return key in graph.names_of(number) and (at is None or graph.lasts(number, at))

    def is_asked_for(number: int) -> bool:
        return any(f" {name}" in asked for name in graph.names_of(number) if name != key)

    telling = [number for number in stated if number is not None and says_answer(number)]
    chosen = [number for number in telling if is_asked_for(number)] or telling
    found = [number for number in sources if number is not None and graph.lasting_versions(number)]
    found += [number for number in chosen if graph.lasting_versions(number)]
    unique = dict.fromkeys(found)
    return [number for number in unique if restated_fact(graph, number) not in unique][:_MAX_EVIDENCE]


def _question(request: Request) -> str:
    question = text_parameter(request, "q")
    if not question.strip() or len(question) > _QUESTION:
        raise InputError(f"a question has 1 to {_QUESTION} characters")
    return question


def _recalled(opened: OpenMemory, found: Recall) -> dict[str, Any]:
    with opened.read_lock() as (graph, _):
        return {"method": found.method, "hits": [_hit(graph, hit) for hit in found.hits]}


def _hit(graph: TemporalGraph, hit: Hit) -> dict[str, Any]:
    item = hit.item
    path = [written_name(graph, normalise_name(name)) for name in hit.path]
    common: dict[str, Any] = {"kind": hit.kind, "score": round(hit.score, 4), "path": path}
    if isinstance(item, Episode):
        return {**common, "text": item.text[:_TEXT], "names": [], "labels": [], "episode": item.id, "at": item.at}
    number = _number(graph, hit)
    return {
        **common,
        **_statement_fields(item),
        "number": number,
        "held": [] if number is None else intervals(graph.lasting_versions(number)),
        "version": _version_fields(hit.version) if hit.version else None,
    }


def _number(graph: TemporalGraph, hit: Hit) -> int | None:
    """Return the number of the statement of a hit."""
    if isinstance(hit.item, Episode):
        return None
    source = hit.version.sources[0] if hit.version else None
    return graph.number_of(hit.item, source if source in graph else None)


def _entity(opened: OpenMemory, request: Request) -> dict[str, Any]:
    """Return what ever held about a name: first what holds now, then what was recorded last."""
    limit = number_parameter(request, "limit", _STATEMENTS, _MAX_STATEMENTS)
    with reading(opened, request) as (graph, _):
        name = _known_name(graph, text_parameter(request, "name"))
        numbers = graph.numbers_about(name)
        holding = set(filter(graph.lasts, numbers))
        shown = heapq.nsmallest(limit, numbers, key=lambda number: (number not in holding, -number))
        return {
            "name": name,
            "label": written_name(graph, name, shown),
            "type": name_kind(graph, name),
            "current": len(holding),
            "total": len(numbers),
            "statements": [_statement_with_versions(graph, number) for number in shown],
        }


def _statement(opened: OpenMemory, request: Request) -> dict[str, Any]:
    """Return a statement with all its versions."""
    id_ = request.query_params.get("id")
    given = number_parameter(request, "number", 0, 10**12) if id_ is None else None
    with reading(opened, request) as (graph, _):
        number = given if id_ is None else graph.number_of(id_)
        if number is None or number not in graph.statement_numbers or not graph.lasting_versions(number):
            raise NotFoundError("this statement is not in the memory, or was forgotten")
        return _statement_with_versions(graph, number)


def _episode(opened: OpenMemory, request: Request) -> dict[str, Any]:
    """Return an episode: its text, its statements, and what it ended."""
    with opened.read_lock() as (graph, _):
        episode = opened.memory.episode(text_parameter(request, "id"))
        return {
            "id": episode.id,
            "text": episode.text[:_TEXT],
            "left_out": max(len(episode.text) - _TEXT, 0),
            "at": episode.at,
            "source": episode.source,
            "recorded_at": episode.recorded_at,
            "reader": episode.extraction.extractor,
            "failures": list(episode.extraction.failures),
            "statements": [_statement_fields(statement) for statement in dict.fromkeys(episode.extraction.statements)],
            "ended": [
                {**_statement_fields(statement), "reason": shown_reason(reason)}
                for statement, reason in graph.ended_by(episode.id)
            ],
        }


def _texts(opened: OpenMemory, request: Request) -> dict[str, Any]:
    """Return some texts in the order of their world time, sentence by sentence, with what was taken from each.

    The record does not keep from which sentence a statement was taken: it is shown with the first sentence that has
    the most words of it.
    """
    offset = number_parameter(request, "offset", 0, 10**9)
    limit = number_parameter(request, "limit", 1, _MAX_TEXTS)
    with opened.read_lock() as (graph, _):
        ordered = graph.episodes()
        ids = ordered[offset : offset + limit]
        return {
            "offset": offset,
            "total": len(ordered),
            "texts": [_read_text(graph, opened.memory.episode(id_)) for id_ in ids],
        }


def _read_text(graph: TemporalGraph, episode: Episode) -> dict[str, Any]:
    # imported late: the first page needs none of it
    from worldthread.extract.prose.sentences import split_sentences
    from worldthread.retrieve.words import words_of

    text = episode.text[:_TEXT]
    parts = [one.text for one in split_sentences(text)] or [text]
    words = [set(words_of(part)) for part in parts]
    taken: list[list[dict[str, Any]]] = [[] for _ in parts]
    elsewhere: list[dict[str, Any]] = []
    for statement in dict.fromkeys(episode.extraction.statements):
        said = f"{statement.subject} {statement.object}" if isinstance(statement, Fact) else statement.text
        wanted = set(words_of(said))
        place = max(range(len(parts)), key=lambda number: (len(wanted & words[number]), -number))
        fields = {**_statement_fields(statement), "number": graph.number_of(statement, episode.id)}
        (taken[place] if wanted & words[place] else elsewhere).append(fields)
    return {
        "id": episode.id,
        "at": episode.at,
        "source": episode.source,
        "speaker": episode.speaker,
        "reader": episode.extraction.extractor,
        "sentences": [{"text": part, "statements": of} for part, of in zip(parts, taken, strict=True)],
        "elsewhere": elsewhere,
        "ended": [
            {**_statement_fields(statement), "reason": shown_reason(reason)}
            for statement, reason in graph.ended_by(episode.id)
        ],
    }


def _ended_by(graph: TemporalGraph, episode: str) -> list[dict[str, Any]]:
    ended = graph.ended_by(episode)
    return [{**_statement_fields(statement), "reason": shown_reason(reason)} for statement, reason in ended]


def _statement_with_versions(graph: TemporalGraph, number: int) -> dict[str, Any]:
    versions = graph.lasting_versions(number)
    return {
        **_statement_fields(versions[0].statement),
        "number": number,
        "restates": restated_fact(graph, number),
        "held": intervals(versions),
        "versions": [_version_fields(version) for version in versions],
    }


def _statement_fields(statement: Statement) -> dict[str, Any]:
    if isinstance(statement, Fact):
        subject, _, object_ = statement.key
        parts = {
            "subject": shown_name(statement.subject),
            "relation": statement.relation,
            "object": shown_name(statement.object),
        }
        text = shown_statement(statement)
        told = {"kind": "fact", "id": statement.id, "text": text, "names": [subject, object_], **parts}
    else:
        told = {"kind": "thesis", "id": statement.id, "text": statement.text, "names": list(statement.key[1])}
    written = written_names(statement)
    return {**told, "labels": [shown_name(written.get(name, name)) for name in told["names"]]}


def _time_fields(version: Version) -> dict[str, Any]:
    interval = version.interval
    return {
        "since": interval.valid_from,
        "until": None if interval.is_open else interval.valid_to,
        "is_dated": version.statement.valid_from is not None,
        "days": shown_days(version),
    }


def _version_fields(version: Version) -> dict[str, Any]:
    return {
        **_time_fields(version),
        "sources": list(version.sources[:_SOURCES]),
        "more_sources": max(len(version.sources) - _SOURCES, 0),
        "ended_by": version.ended_by,
        "reason": None if version.reason is None else shown_reason(version.reason),
    }


def _known_name(graph: TemporalGraph, name: str) -> str:
    """Return the normalised name about which something is known.

    Args:
        graph: the graph.
        name: the name as asked for, in the singular or plural.

    Returns:
        The name, the one that it was merged into, or its form in the other grammatical number.

    Raises:
        InputError: it is empty.
        NotFoundError: nothing is known about it.
    """
    key = normalise_name(graph.canonical_name(name))
    if not key:
        raise InputError("the name is empty")
    for candidate in (key, *sorted(number_variants(key))):
        if graph.numbers_about(candidate, 1):
            return candidate
    raise NotFoundError(f"nothing is known about {name!r}")


def _with_episodes(request: Request) -> bool:
    return request.query_params.get("episodes") == "1"


@contextmanager
def reading(opened: OpenMemory, request: Request) -> Iterator[tuple[TemporalGraph, NameIndex]]:
    """Lock the graph; with the parameter ``recorded``, yield the graph of what was recorded up to that time."""
    given = request.query_params.get("recorded")
    if given is None:
        with opened.read_lock() as both:
            yield both
    else:
        yield opened.graph_recorded(page_time(given))


def _latest_fields(graph: TemporalGraph, number: int) -> dict[str, Any]:
    last = graph.lasting_versions(number)[-1]
    return {**_statement_fields(last.statement), **_time_fields(last)}


_NO_DRAWING: Final = {
    "vertices": [], "edges": [], "whole": True, "episodes": False, "centre": None, "total": None
}  # fmt: skip
_EMPTY: Final[dict[Any, dict[str, Any]]] = {
    _graph: _NO_DRAWING,
    _names: {"names": []},
    _change: {},
    _summary: {
        "file": "", "namespace": "", "counts": {"names": 0, "statements": 0, "current": 0, "ended": 0, "texts": 0},
        "strongest": [], "small": True, "first": None, "last": None, "recorded": [], "latest": [],
        "most_drawn": MAX_WHOLE,
    },
}  # fmt: skip
_NOT_MADE: Final = {"change": "none-0", "now": None}
"""What is told of a memory whose file a person is about to make."""
