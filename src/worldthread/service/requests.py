"""The bodies of requests to the API, and the answers that only it gives."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetJsonSchemaHandler,
    StrictBool,
    StrictFloat,
    StrictInt,
    Tag,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from worldthread.extract.records import documents_of
from worldthread.extract.when import EARLIEST, TOO_LATE, world_time
from worldthread.memory.filters import Filter
from worldthread.memory.ingestion import Content
from worldthread.provenance import LONGEST_KEY, LONGEST_LABEL, LONGEST_VALUE, client_metadata
from worldthread.retrieve import methods
from worldthread.schemas.arguments import MAX_ITEMS, MAX_NAME, MAX_TEXT
from worldthread.schemas.arguments import Time as AnyTime
from worldthread.schemas.results import PassageResult, RecallResult, RememberResult
from worldthread.support.arguments import whole_characters
from worldthread.types import KINDS, Kind

LONGEST_QUESTION: Final = 20_000
MOST_METADATA: Final = 60
"""The most keys of metadata; the memory allows a few more, which the service uses for idempotency keys."""
MOST_LISTED: Final = 500
_NOT_BLANK: Final = r"[^\s\x00-\x1f\x7f-\x9f]"
_ABOUT: Final = ("default", "description", "examples", "title")
_YEAR: Final = re.compile(r"[0-9]{4}(?:-|$)")
_CLEAN: Final = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$"


def _checked_time(value: float | str | None) -> float | str | None:
    """Return a time that can be used; turns come as numbers only, so a string is a date."""
    if isinstance(value, str) and not _YEAR.match(value):
        raise ValueError(
            "a time is a number (a turn), a date such as 2024-05-01, 2024-05 or 2024, or a date and time (ISO 8601)"
        )
    if world_time(value, 0.0) < EARLIEST:
        raise ValueError("a date lies in the year 1000 or later")
    return value


Time: TypeAlias = Annotated[
    AnyTime,
    AfterValidator(_checked_time),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": EARLIEST, "exclusiveMaximum": TOO_LATE},
                {"type": "string", "format": "date", "pattern": "^[1-9]"},
                {"type": "string", "format": "date-time", "pattern": "^[1-9]"},
                {"type": "null"},
            ]
        }
    ),
]
Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=MAX_NAME, pattern=_CLEAN)]
Label: TypeAlias = Annotated[str, Field(min_length=1, max_length=LONGEST_LABEL, pattern=_NOT_BLANK)]
Labels: TypeAlias = Label | Annotated[list[Label], Field(min_length=1, max_length=MAX_ITEMS)] | None
Whose: TypeAlias = Annotated[
    Label | None, Field(description="The user whose talk is meant, where several users speak of it")
]
Words: TypeAlias = Annotated[str, Field(max_length=10_000)]
Identifier: TypeAlias = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[0-9A-Za-z_.:-]+$")]
Whole: TypeAlias = Annotated[StrictInt, Field(ge=-(2**63), lt=2**63)]
Value: TypeAlias = Annotated[str, Field(max_length=LONGEST_VALUE)] | StrictBool | Whole | StrictFloat
MetadataKey: TypeAlias = Annotated[str, Field(min_length=1, max_length=LONGEST_KEY)]


def _whole(value: object) -> object:
    """Return 5 for 5.0, which is the same number in JSON."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_WHOLE: Final = BeforeValidator(_whole)


def _as_truth_value(given: object) -> object:
    """Return the truth value that an address holds; ``1`` and ``yes`` are none in JSON."""
    if isinstance(given, str) and given not in ("true", "false"):
        raise ValueError("write true or false")
    return given


def _as_whole_number(given: object) -> object:
    """Return the whole number that an address holds, in digits alone."""
    if isinstance(given, str) and not re.fullmatch(r"-?[0-9]+", given):
        raise ValueError("write a whole number in digits")
    return given


TRUTH_VALUE: Final = BeforeValidator(_as_truth_value)
"""Takes a truth value from an address."""
WHOLE_NUMBER: Final = BeforeValidator(_as_whole_number)
"""Takes a whole number from an address."""
AsOf: TypeAlias = Annotated[
    Time,
    Field(
        description="The time to look at: a date, a date and time, or the number of a turn. null is the present.",
        examples=["2024-05-01"],
    ),
]
Limit: TypeAlias = Annotated[int, Field(ge=1, le=MOST_LISTED, description="How many at most"), _WHOLE]
Cursor: TypeAlias = Annotated[
    str | None, Field(max_length=MAX_NAME, description="The cursor of the page before; null for the first page")
]


class Body(BaseModel):
    """A body, of which no field is ignored. ``null`` for a field that may be left out means that it is left out."""

    model_config = ConfigDict(extra="forbid", strict=True)  # `"dry_run": 0` must not forget

    @model_validator(mode="before")
    @classmethod
    def _as_given(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        left_out = cls._left_out()
        try:
            return {key: whole_values(value) for key, value in data.items() if value is not None or key not in left_out}
        except RecursionError:
            raise ValueError("it is nested too deeply") from None

    @classmethod
    def _left_out(cls) -> set[str]:
        """Return the fields that may be left out, and for which null is no value of its own."""
        return {
            name
            for name, field in cls.model_fields.items()
            if not field.is_required() and field.default is not None and type(None) not in get_args(field.annotation)
        }

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Say in the schema that null is taken."""
        found = handler.resolve_ref_schema(handler(schema))
        for name in cls._left_out() & set(found.get("properties", ())):
            described = found["properties"][name]
            about = {key: described.pop(key) for key in _ABOUT if key in described}
            found["properties"][name] = {"anyOf": [described, {"type": "null"}], **about}
        return found


def whole_values(value: Any) -> Any:
    """Return a JSON value with U+FFFD for each half of a character in its texts."""
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, list):
        return [whole_values(one) for one in value]
    if isinstance(value, dict):
        return {whole_values(key): whole_values(one) for key, one in value.items()}
    return value


class Where(Body):
    """A part of a memory: everything that is given must fit; of a list, one value must."""

    user: Labels = Field(default=None, description="Whose text it is", examples=["anna"])
    agent: Labels = Field(default=None, description="The agent that remembers it")
    session: Labels = Field(default=None, description="The session in which it came up")
    source: Labels = Field(default=None, description="Where it comes from")
    speaker: Labels = Field(default=None, description="Who says it")
    kind: Kind | Annotated[list[Kind], Field(min_length=1)] | None = Field(default=None, description="What is found")
    relation: Name | Annotated[list[Name], Field(min_length=1, max_length=MAX_ITEMS)] | None = Field(
        default=None, description="Facts with this relation", examples=["lives in"]
    )
    metadata: (
        Annotated[
            dict[MetadataKey, Value | Annotated[list[Value], Field(min_length=1, max_length=MAX_ITEMS)]],
            Field(max_length=MOST_METADATA),
        ]
        | None
    ) = Field(default=None, description="Values by key, or lists of values", examples=[{"topic": "travel"}])
    since: Time = Field(default=None, description="The first time of which it may speak")
    until: Time = Field(default=None, description="The first time after it")
    recorded_since: Time = Field(default=None, description="The first time at which it may have been stored")
    recorded_until: Time = Field(default=None, description="The first time after it")


def filter_of(where: Where | None) -> Filter | None:
    """Return the filter of a body; ``None`` for everything."""
    return None if where is None else Filter(**where.model_dump())


class MessageBody(Body):
    """One turn of a conversation, as agents keep it: what is said is remembered, further fields stay with it."""

    # other fields that name the speaker and hold the text are understood too; what has none of them is refused
    model_config = ConfigDict(
        extra="allow",
        strict=True,
        json_schema_extra={
            "anyOf": [
                {"properties": {name: {"not": {"type": "null"}}}, "required": [name]} for name in ("role", "content")
            ]
        },
    )

    role: Name | None = Field(default=None, description="Who speaks: user, assistant, or a name", examples=["Anna"])
    content: Annotated[str, Field(max_length=MAX_TEXT)] | list[str | dict[str, Any]] | dict[str, Any] | None = Field(
        default=None,
        description="What was said, as text or as parts; a turn without text, such as a call of a tool, is skipped",
        examples=["I moved to Paris."],
    )
    at: Time = Field(default=None, description="When it was said")


class TripleBody(Body):
    """A fact as subject, relation and object."""

    subject: Name = Field(examples=["Anna"])
    relation: Name = Field(examples=["works for"])
    object: Name = Field(examples=["Acme"])


class _Remember(Body):
    at: Time = Field(
        default=None,
        description="When it was true: a date, a date and time, or the number of a turn; null is the present. "
        "Never mix turns and dates in one memory.",
        examples=["2024-05-01"],
    )
    source: str = Field(default="", max_length=MAX_NAME, description="Where it comes from")
    user: Label | Literal[""] = Field(default="", description="The user whose text it is")
    agent: Label | Literal[""] = Field(default="", description="The agent that remembers it")
    session: Label | Literal[""] = Field(default="", description="The session in which it came up")
    metadata: Annotated[dict[MetadataKey, Value], Field(max_length=MOST_METADATA)] | None = Field(
        default=None, description="Strings, numbers and truth values to find it by"
    )

    def require_readable(self) -> None:
        """Check what the schema cannot say, for a job that reads it later.

        Raises:
            InputError: a message has no form that is known, or metadata would pass for the key of a request.
        """
        client_metadata(self.metadata)


class RememberText(_Remember):
    """A text to remember, from one sentence to dozens of pages."""

    text: str = Field(
        min_length=1,
        max_length=MAX_TEXT,
        pattern=_NOT_BLANK,
        description="Plain text or Markdown",
        examples=["Anna moved to Paris. Her lease ends in June."],
    )
    messages: None = Field(default=None, description="Not with a text")
    triples: None = Field(default=None, description="Not with a text")

    def content(self) -> Content:
        """Return what the memory takes."""
        return self.text


class RememberMessages(_Remember):
    """A conversation to remember."""

    messages: list[MessageBody] = Field(min_length=1, max_length=MAX_ITEMS, description="Its turns, in order")
    text: None = Field(default=None, description="Not with messages")
    triples: None = Field(default=None, description="Not with messages")

    def content(self) -> list[dict[str, Any]]:
        """Return what the memory takes."""
        return [message.model_dump(exclude_none=True) for message in self.messages]

    def require_readable(self) -> None:
        super().require_readable()
        for message in self.content():
            for _ in documents_of(message, "", keep_fields=True):
                pass


class RememberTriples(_Remember):
    """Facts to remember as they are given."""

    triples: list[TripleBody] = Field(min_length=1, max_length=MAX_ITEMS)
    text: None = Field(default=None, description="Not with triples")
    messages: None = Field(default=None, description="Not with triples")

    def content(self) -> Content:
        """Return what the memory takes."""
        return [(triple.subject, triple.relation, triple.object) for triple in self.triples]


def _kind_of_content(body: Any) -> str:
    given = {key for key, value in body.items() if value is not None} if isinstance(body, dict) else set()
    return next((kind for kind in ("messages", "triples") if kind in given), "text")


RememberBody: TypeAlias = Annotated[
    Annotated[RememberText, Tag("text")]
    | Annotated[RememberMessages, Tag("messages")]
    | Annotated[RememberTriples, Tag("triples")],
    Discriminator(_kind_of_content),
]
"""One of a text, messages and triples."""

Question: TypeAlias = Annotated[
    str,
    Field(
        min_length=1,
        max_length=LONGEST_QUESTION,
        pattern=_NOT_BLANK,
        description="A question or a topic in plain words",
        examples=["Where does Anna live?"],
    ),
]


class RecallBody(Body):
    """What to look up."""

    question: Question
    k: Annotated[int, Field(ge=1, le=100), _WHOLE] | None = Field(
        default=5, description="The most hits of each kind; null: as many as stand out, 3 to 20"
    )
    as_of: AsOf = None
    kinds: list[Kind] = Field(default=list(KINDS), min_length=1, max_length=len(KINDS))
    only_current: bool = Field(default=True, description="false: include what no longer holds")
    max_tokens: Annotated[int, Field(ge=50, le=20_000), _WHOLE] = Field(
        default=1000, description="The approximate length of the text"
    )
    min_score: float = Field(
        default=0.0, ge=0, le=1, description="Leave out what is less likely than this to be evidence"
    )
    method: Annotated[str, WithJsonSchema({"type": "string", "enum": sorted(methods())})] | None = Field(
        default=None, description="The method of retrieval; null for the default"
    )
    where: Where | None = None


class AskBody(Body):
    """What to answer."""

    question: Question
    k: Annotated[int, Field(ge=1, le=100), _WHOLE] = Field(
        default=20, description="The most hits of each kind to base the answer on"
    )
    as_of: AsOf = None
    where: Where | None = None
    allow_inferred: bool = Field(
        default=True, description="Whether the chat model may infer a step that no source states; the answer says so"
    )


class AboutBody(Body):
    """An entity, and when to look at it."""

    entity: Name = Field(description="The name of a person, place or thing", examples=["Anna"])
    as_of: AsOf = None
    limit: Limit = 100
    where: Where | None = None


class TimelineBody(Body):
    """An entity."""

    entity: Name = Field(description="The name of a person, place or thing", examples=["Anna"])
    limit: Limit = 100
    where: Where | None = None


class StatementsBody(Body):
    """Which statements to list."""

    where: Where | None = None
    as_of: AsOf = None
    only_current: bool = Field(default=True, description="false: include what no longer holds")
    limit: Limit = 100
    cursor: Cursor = None


class EpisodesBody(Body):
    """Which episodes to list."""

    where: Where | None = None
    limit: Limit = 100
    cursor: Cursor = None


class ExportBody(Body):
    """What to export."""

    where: Where | None = None


class ChangeBody(Body):
    """A statement, and what is, or was, true instead."""

    statement: Identifier | TripleBody = Field(description="The id of a statement, or subject, relation and object")
    replacement: TripleBody | None = Field(default=None, description="What is, or was, true instead, if known")
    reason: Words = Field(default="", description="Why, in a few words")
    at: Time = Field(default=None, description="When it changed, or was corrected; null is the present")
    source: str = Field(default="", max_length=MAX_NAME, description="Where this comes from")
    user: Whose = None


class MergeBody(Body):
    """Two names of one person, place or thing."""

    name: Name = Field(examples=["Anna"])
    into: Name = Field(description="The name that is shown for both", examples=["Anna Rossi"])
    reason: Words = ""
    user: Whose = None


class ForgetEpisode(Body):
    """Forget one episode."""

    episode: Identifier = Field(description="Its id")
    entity: None = Field(default=None, description="Not with an episode")
    statement: None = Field(default=None, description="Not with an episode")
    where: None = Field(default=None, description="Not with an episode")
    dry_run: bool = Field(default=False, description="Only list what would be removed")


class ForgetEntity(Body):
    """Forget every episode that states something about an entity or names it."""

    entity: Name
    episode: None = Field(default=None, description="Not with an entity")
    statement: None = Field(default=None, description="Not with an entity")
    where: Where | None = Field(default=None, description="Only episodes that fit")
    dry_run: bool = Field(default=False, description="Only list what would be removed")


class ForgetStatement(Body):
    """Forget every episode that states a fact or a thesis."""

    statement: Identifier = Field(description="Its id")
    episode: None = Field(default=None, description="Not with a statement")
    entity: None = Field(default=None, description="Not with a statement")
    where: Where | None = Field(default=None, description="Only episodes that fit")
    dry_run: bool = Field(default=False, description="Only list what would be removed")


class ForgetWhere(Body):
    """Forget every episode that fits, such as all of a user."""

    where: Where = Field(examples=[{"user": "anna"}])
    episode: None = Field(default=None, description="Not with a filter alone")
    entity: None = Field(default=None, description="Not with a filter alone")
    statement: None = Field(default=None, description="Not with a filter alone")
    dry_run: bool = Field(default=False, description="Only list what would be removed")


def _what_to_forget(body: Any) -> str:
    given = {key for key, value in body.items() if value is not None} if isinstance(body, dict) else set()
    return next((kind for kind in ("episode", "entity", "statement") if kind in given), "where")


ForgetBody: TypeAlias = Annotated[
    Annotated[ForgetEpisode, Tag("episode")]
    | Annotated[ForgetEntity, Tag("entity")]
    | Annotated[ForgetStatement, Tag("statement")]
    | Annotated[ForgetWhere, Tag("where")],
    Discriminator(_what_to_forget),
]
"""One of an episode, an entity, a statement and a filter."""


class RecallAnswer(RecallResult):
    """The hits for a question, best first, and the same as text."""

    text: str = Field(description="The hits in words, ready for a prompt")


class NamespaceResult(BaseModel):
    """A memory that the token opens."""

    name: str
    writes: bool = Field(description="Whether the token may change it")


class NamespacesResult(BaseModel):
    """The memories that the token opens."""

    namespaces: list[NamespaceResult]


class MemoryResult(BaseModel):
    """How much a memory holds."""

    namespace: str
    model: str = Field(description="The chat model that reads and answers; empty if rules do")
    counts: dict[str, int]


class ListedEntities(BaseModel):
    """Names that statements are about."""

    entities: list[str]
    left_out: int = Field(description="How many more there are")


class UserResult(BaseModel):
    """A user, and how many episodes are theirs."""

    user: str
    episodes: int


class UsersResult(BaseModel):
    """The users of a memory."""

    users: list[UserResult]


class EpisodeResult(PassageResult):
    """An episode with its labels."""

    user: str
    agent: str
    session: str
    speaker: str
    metadata: dict[str, str | bool | int | float]
    recorded_at: float | None = Field(description="When it was stored, in seconds since 1970-01-01 UTC")
    unread: list[str] = Field(description="Why it could not be understood completely; empty if it was")


class EpisodesResult(BaseModel):
    """A page of episodes."""

    episodes: list[EpisodeResult]
    cursor: str | None = Field(description="Where the next page begins; null on the last page")


class ImportResult(BaseModel):
    """The episodes of an export that were recorded."""

    added: int
    known: int


JobState: TypeAlias = Literal["waiting", "running", "done", "failed", "cancelled"]


class JobResult(BaseModel):
    """Long work, and how far it is."""

    id: str
    kind: Literal["remember", "import"]
    state: JobState
    done: int = Field(description="The passages or episodes that are recorded")
    total: int | None = Field(description="How many there are; null while that is not known")
    created: str = Field(description="When it was sent (ISO 8601)")
    ended: str | None = Field(description="When it ended; null before")
    result: RememberResult | ImportResult | None = Field(description="What it gave; null before it is done")
    problem: str | None = Field(description="Why it failed, and what to do")


class JobsResult(BaseModel):
    """The jobs of a memory, the latest first."""

    jobs: list[JobResult]


class HealthResult(BaseModel):
    """Whether the service runs."""

    status: Literal["ok", "ending"]
    version: str
