"""The routes of the API that read or change one memory."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import IO, Annotated, Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from worldthread.errors import InputError, NotFoundError
from worldthread.memory.corrections import episodes_stating
from worldthread.memory.filters import Filter
from worldthread.memory.memory import Memory
from worldthread.retrieve.text import shown_asked_time
from worldthread.schemas.results import (
    AskResult,
    CorrectResult,
    EntityResult,
    ForgetResult,
    ListResult,
    RememberResult,
    excerpt,
    passage,
    split_hits,
    stated_fact,
    without_duplicate_theses,
)
from worldthread.service import requests as r
from worldthread.service.guard import client_of
from worldthread.service.jobs import Job
from worldthread.service.problems import ProblemError
from worldthread.service.remembering import digest_of, remember
from worldthread.service.state import Service
from worldthread.stores.exchange import LineReader
from worldthread.support.places import episode_place, version_place
from worldthread.support.server_access import Client
from worldthread.types import Episode, Version

_BATCH: Final = 500  # episodes that are imported together
_SHOWN: Final = 20  # episodes listed before they are forgotten
_CHUNK: Final = 64 * 1024
_JSON_LINES: Final = "application/x-ndjson"
_UPLOADS: Final = (_JSON_LINES, "application/octet-stream")


@dataclass(frozen=True)
class Call:
    """A request of a client to one memory that its token opens.

    Args:
        service: the service.
        client: the client.
        namespace: the memory.
    """

    service: Service
    client: Client
    namespace: str

    @contextmanager
    def reading(self) -> Iterator[Memory]:
        """Open the memory to read it."""
        with self.service.memories.using(self.namespace) as memory:
            yield memory

    @contextmanager
    def writing(self) -> Iterator[Memory]:
        """Open the memory to change it.

        Yields:
            The memory.

        Raises:
            ProblemError: the token only reads.
        """
        self.require_writing()
        self.service.memories.require_open()
        with self.service.memories.using(self.namespace) as memory:
            yield memory

    def require_writing(self) -> None:
        """Check that the token may change the memory.

        Raises:
            ProblemError: it may not.
        """
        if not self.client.writes:
            raise ProblemError(403, "this token only reads: ask for one that writes")


async def call_of(
    request: Request, namespace: Annotated[str, Path(min_length=1, description="A memory that the token opens")]
) -> Call:
    """Return the call that a request makes.

    Args:
        request: the request, which the guard has let through.
        namespace: the memory that it names.

    Returns:
        The call.

    Raises:
        ProblemError: the token does not open this memory, whether there is one of that name or not.
    """
    client = client_of(request.scope)
    if namespace not in client.namespaces:
        raise ProblemError(403, "this token does not open this memory; GET /v1/namespaces lists those that it opens")
    service: Service = request.app.state.service
    return Call(service, client, namespace)


Called = Annotated[Call, Depends(call_of)]
IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=200,
        pattern=r"^[!-~]+$",
        description="A name of this request, new for each thing to remember. Sent again with the same key and body, it "
        "is stored once.",
    ),
]
router = APIRouter(prefix="/v1/namespaces/{namespace}", dependencies=[Depends(call_of)])


@router.get("", summary="Count what a memory holds")
def memory_size(call: Called) -> r.MemoryResult:
    """Count episodes, statements and vectors."""
    with call.reading() as memory:
        return r.MemoryResult(
            namespace=call.namespace, model=call.service.memories.model, counts=memory.stats()
        )  # fmt: skip


@router.post(
    "/remember",
    summary="Remember a text, a conversation or facts",
    responses={202: {"model": r.JobResult, "description": "A job does it; Location is its address."}},
)
def remember_(
    call: Called,
    body: r.RememberBody,
    response: Response,
    idempotency_key: IdempotencyKey = None,
    background: Annotated[bool, Query(description="Answer at once, and do it as a job"), r.TRUTH_VALUE] = False,
) -> RememberResult | r.JobResult:
    """Store something. When this is answered, it is durable.

    New statements end the older ones that they replace. The same text with the same time, source and labels is stored
    once; without a time, an Idempotency-Key says that two requests mean the same.
    """
    call.require_writing()
    digest = digest_of(body) if idempotency_key is not None else ""

    def work(job: Job | None) -> tuple[RememberResult, bool]:
        key = idempotency_key
        held = nullcontext() if key is None else call.service.keys.holding(call.namespace, key, digest)
        with held, call.writing() as memory:
            done = remember(memory, body, key, job.advance if job else None)
        call.service.metrics.episodes.inc(done[0].added)
        return done

    if background:
        body.require_readable()
        return _accepted(call, response, Job("remember", call.namespace, lambda job: work(job)[0]))
    result, is_repeated = work(None)
    if is_repeated:
        response.headers["Idempotency-Replayed"] = "true"
    return result


@router.post("/recall", summary="Look up what is remembered about a topic")
def recall(call: Called, body: r.RecallBody) -> r.RecallAnswer:
    """Find facts, statements and passages, best first."""
    with call.reading() as memory:
        found = memory.recall(
            body.question, k=body.k, as_of=body.as_of, kinds=tuple(dict.fromkeys(body.kinds)), method=body.method,
            only_current=body.only_current, max_tokens=body.max_tokens, min_score=body.min_score,
            where=r.filter_of(body.where),
        )  # fmt: skip
        statements, passages = split_hits(memory, found.hits)
        return r.RecallAnswer(
            statements=statements,
            passages=passages,
            text=found.text,
            asked_time=shown_asked_time(found.asked_time),
        )


@router.post("/ask", summary="Answer a question from what is remembered")
def ask(call: Called, body: r.AskBody) -> AskResult:
    """Answer with the sources of the answer, or say that there is not enough information (``null``)."""
    with call.reading() as memory:
        answer = memory.ask(
            body.question, k=body.k, as_of=body.as_of, where=r.filter_of(body.where), allow_inferred=body.allow_inferred
        )
        statements, passages = split_hits(memory, answer.sources)
        nearest_statements, nearest_passages = split_hits(memory, answer.nearest)
        return AskResult(
            answer=answer.text, support=answer.support, statements=statements, passages=passages,
            nearest_statements=nearest_statements, nearest_passages=nearest_passages, model=answer.model,
            asked_time=shown_asked_time(answer.asked_time),
        )  # fmt: skip


@router.post("/about", summary="List what holds about an entity")
def about(call: Called, body: r.AboutBody) -> EntityResult:
    """List what holds about a person, place or thing, now or at a given time."""
    with call.reading() as memory:
        versions = memory.about(body.entity, as_of=body.as_of, where=r.filter_of(body.where))
        found = without_duplicate_theses(versions)
        return _entity(memory, body.entity, found, found[: body.limit])


@router.post("/timeline", summary="List everything that ever held about an entity")
def timeline(call: Called, body: r.TimelineBody) -> EntityResult:
    """List it in order of time, with the reasons why it ended; of more than the limit, the latest."""
    with call.reading() as memory:
        found = without_duplicate_theses(memory.timeline(body.entity, where=r.filter_of(body.where)))
        return _entity(memory, body.entity, found, found[-body.limit :])


@router.post("/statements", summary="List statements page by page")
def statements(call: Called, body: r.StatementsBody) -> ListResult:
    """List statements with their ids, oldest first."""
    with call.reading() as memory:
        page = memory.list_statements(
            r.filter_of(body.where), as_of=body.as_of, only_current=body.only_current, limit=body.limit,
            cursor=_cursor(version_place, body.cursor),
        )  # fmt: skip
        return ListResult(statements=[stated_fact(memory, version) for version in page.items], cursor=page.cursor)


@router.post("/episodes", summary="List episodes page by page")
def episodes(call: Called, body: r.EpisodesBody) -> r.EpisodesResult:
    """List what was remembered, in order of world time."""
    with call.reading() as memory:
        cursor = _cursor(episode_place, body.cursor)
        page = memory.list_episodes(r.filter_of(body.where), limit=body.limit, cursor=cursor)
        return r.EpisodesResult(episodes=[_episode(one) for one in page.items], cursor=page.cursor)


@router.get("/episodes/{episode}", summary="Return one episode")
def episode(call: Called, episode: Annotated[str, Path(description="The id of the episode")]) -> r.EpisodeResult:
    """Return what was remembered, with its labels."""
    with call.reading() as memory:
        return _episode(memory.episode(episode))


@router.get("/entities", summary="List the names that statements are about")
def entities(
    call: Called,
    prefix: Annotated[str, Query(max_length=200, description="Only names that begin with this")] = "",
    limit: Annotated[int, Query(ge=1, le=10_000, description="How many at most"), r.WHOLE_NUMBER] = 1000,
) -> r.ListedEntities:
    """List normalised names, sorted."""
    with call.reading() as memory:
        found = memory.entities(prefix)
    return r.ListedEntities(entities=found[:limit], left_out=max(0, len(found) - limit))


@router.get("/users", summary="List the users whose texts are remembered")
def users(call: Called) -> r.UsersResult:
    """List users with the number of their episodes. POST /forget with ``{"where": {"user": NAME}}`` removes one."""
    with call.reading() as memory, memory.record.read_lock() as graph:
        records = map(graph.numbered_episode, graph.episode_numbers)
        counts = Counter(record.provenance.labels.user for record in records if record is not None)
    del counts[""]
    return r.UsersResult(users=[r.UserResult(user=user, episodes=n) for user, n in sorted(counts.items())])


@router.post("/update", summary="Record that a statement no longer holds")
def update(call: Called, body: r.ChangeBody) -> CorrectResult:
    """Record the end of a statement, and perhaps what holds instead. It goes on to hold for the past."""
    with call.writing() as memory, _conflicts():
        changed = memory.update(
            _statement(body.statement), _triple(body.replacement), body.reason, at=body.at, source=body.source,
            where=None if body.user is None else Filter(user=body.user),
        )  # fmt: skip
    return CorrectResult(episode=changed.id)


@router.post("/correct", summary="Record that a statement was never true")
def correct(call: Called, body: r.ChangeBody) -> CorrectResult:
    """Record that it holds at no time, and perhaps what was true instead. Forget the episode to undo it."""
    with call.writing() as memory, _conflicts():
        changed = memory.correct(
            _statement(body.statement), _triple(body.replacement), body.reason, at=body.at, source=body.source,
            where=None if body.user is None else Filter(user=body.user),
        )  # fmt: skip
    return CorrectResult(episode=changed.id)


@router.post("/merge", summary="Record that two names mean the same")
def merge(call: Called, body: r.MergeBody) -> CorrectResult:
    """Let statements of both names count as statements of one. Forget the episode to undo it."""
    with call.writing() as memory, _conflicts():
        return CorrectResult(episode=memory.merge(body.name, body.into, body.reason, user=body.user).id)


@router.post("/forget", summary="Remove something for good")
def forget(call: Called, body: r.ForgetBody) -> ForgetResult:
    """Remove episodes as if they had never been remembered. ``dry_run`` only lists them."""
    call.require_writing()
    where = None if isinstance(body, r.ForgetEpisode) else body.where
    filters = r.filter_of(where)
    given: dict[str, Any] = {
        "episode": body.episode if isinstance(body, r.ForgetEpisode) else None,
        "entity": body.entity if isinstance(body, r.ForgetEntity) else None,
        "statement": body.statement if isinstance(body, r.ForgetStatement) else None,
    }
    if not body.dry_run:
        with call.writing() as memory:
            return ForgetResult(forgotten=memory.forget(**given, where=filters), would_forget=0, episodes=[])
    with call.reading() as memory:
        if isinstance(body, r.ForgetEpisode):
            ids = [memory.episode(body.episode).id]
        else:
            with memory.record.read_lock() as graph:
                if isinstance(body, r.ForgetStatement):
                    found = episodes_stating(graph, body.statement, None if filters is None else filters.condition)
                elif isinstance(body, r.ForgetEntity):
                    found = memory.record.episodes_about(body.entity, None if filters is None else filters.condition)
                else:
                    found = graph.episodes()
                chosen = None if filters is None else set(graph.selected_episodes(filters.condition))
                ids = [id_ for id_ in found if chosen is None or id_ in chosen]
        if not ids:
            raise NotFoundError("no episode would be forgotten")
        shown = [excerpt(memory.episode(id_)) for id_ in ids[:_SHOWN]]
        return ForgetResult(forgotten=0, would_forget=len(ids), episodes=shown)


@router.post(
    "/export",
    summary="Export episodes",
    response_class=Response,
    responses={
        200: {
            "description": "A header line, then one line of JSON for each episode.",
            "content": {_JSON_LINES: {"schema": {"type": "string"}}},
        }
    },
)
def export(call: Called, body: r.ExportBody) -> Response:
    """Return all episodes, or those that fit, in the format of ``worldthread export``."""
    filters = r.filter_of(body.where)
    # complete before the first byte is sent, so that an error is an error; nobody else can open the file
    stream = tempfile.TemporaryFile()  # noqa: SIM115
    try:
        with call.reading() as memory:
            memory.export(stream, where=filters)
        length = stream.tell()
        stream.seek(0)
    except BaseException:
        stream.close()
        raise
    return StreamingResponse(_chunks(stream), media_type=_JSON_LINES, headers={"content-length": str(length)})


@router.post(
    "/import",
    status_code=202,
    summary="Import an export as a job",
    responses={202: {"description": "A job does it; Location is its address."}},
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "What an export gave, or `worldthread export`.",
            "content": {one: {"schema": {"type": "string", "format": "binary"}} for one in _UPLOADS},
        }
    },
)
async def import_(call: Called, request: Request, response: Response) -> r.JobResult:
    """Record every episode of an export. A damaged line is found before anything is recorded."""
    call.require_writing()
    sent = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if sent not in _UPLOADS:
        raise ProblemError(415, f"send an export with the content type {_JSON_LINES}")
    call.service.jobs.require_room(call.namespace)  # and again when the job is started: others may have come first
    stream = tempfile.TemporaryFile()  # noqa: SIM115 - the job closes it
    try:
        async for part in request.stream():
            await run_in_threadpool(stream.write, part)
        return _accepted(call, response, Job("import", call.namespace, lambda job: _import(call, stream, job)))
    except BaseException:
        stream.close()
        raise


def _import(call: Call, stream: IO[bytes], job: Job) -> r.ImportResult:
    with stream:
        stream.seek(0)
        total = 0
        for _ in LineReader(stream):  # the whole is checked first
            total += 1
            if total % _BATCH == 0:
                job.advance(0, None)
        stream.seek(0)
        added = done = 0
        batch: list[Episode] = []
        with call.writing() as memory:
            for one in LineReader(stream):
                batch.append(one)
                if len(batch) == _BATCH or done + len(batch) == total:
                    call.service.memories.require_open()
                    new = memory.record.add_many(batch)
                    added, done = added + new, done + len(batch)
                    call.service.metrics.episodes.inc(new)
                    batch = []
                    job.advance(done, total)
            if added:
                memory.recall("anything", k=1)  # embeds what is new, so that the next question need not wait for it
    return r.ImportResult(added=added, known=total - added)


@router.get("/jobs", summary="List jobs")
def jobs(call: Called) -> r.JobsResult:
    """List the jobs of a memory since the service began, the latest first."""
    return r.JobsResult(jobs=[job.shown() for job in call.service.jobs.of(call.namespace)])


@router.get("/jobs/{job}", summary="Return the progress of a job")
def job(call: Called, job: Annotated[str, Path(description="The id of the job")]) -> r.JobResult:
    """Return how far a job is, and what it gave."""
    return call.service.jobs.job(call.namespace, job).shown()


@router.post("/jobs/{job}/cancel", summary="Cancel a job")
def cancel(call: Called, job: Annotated[str, Path(description="The id of the job")]) -> r.JobResult:
    """End a job before its next batch. What it has recorded stays."""
    call.require_writing()
    return call.service.jobs.cancel(call.namespace, job).shown()


@contextmanager
def _conflicts() -> Iterator[None]:
    """Answer 409 where the request has the right form and what the memory holds does not allow it."""
    try:
        yield
    except InputError as error:
        raise ProblemError(409, str(error)) from None


def _accepted(call: Call, response: Response, job: Job) -> r.JobResult:
    started = call.service.jobs.start(job)
    response.status_code = 202
    response.headers["Location"] = f"/v1/namespaces/{quote(call.namespace, safe='')}/jobs/{job.id}"
    return started.shown()


def _chunks(stream: IO[bytes]) -> Iterator[bytes]:
    with stream:
        while chunk := stream.read(_CHUNK):
            yield chunk


def _cursor(place: Callable[[str], object], cursor: str | None) -> str | None:
    """Return a cursor that leads somewhere."""
    try:
        if cursor is not None:
            place(cursor)
    except InputError:
        raise ProblemError(404, "no page begins at this cursor: begin with null, and take those of answers") from None
    return cursor


def _entity(memory: Memory, entity: str, found: list[Version], shown: list[Version]) -> EntityResult:
    listed = [stated_fact(memory, version) for version in shown]
    return EntityResult(entity=entity, statements=listed, left_out=len(found) - len(shown), similar=[])


def _episode(one: Episode) -> r.EpisodeResult:
    return r.EpisodeResult(
        **passage(one, len(one.text)).model_dump(), user=one.user, agent=one.agent, session=one.session,
        speaker=one.speaker, metadata=dict(one.metadata), recorded_at=one.recorded_at,
        unread=list(one.extraction.failures),
    )  # fmt: skip


def _statement(given: str | r.TripleBody) -> str | tuple[str, str, str]:
    return given if isinstance(given, str) else (given.subject, given.relation, given.object)


def _triple(given: r.TripleBody | None) -> tuple[str, str, str] | None:
    return None if given is None else (given.subject, given.relation, given.object)
