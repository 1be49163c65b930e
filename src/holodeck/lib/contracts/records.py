"""What models say of texts, and what an answer is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from holodeck.errors import ProviderError

__all__ = [
    "Answer",
    "AnswerContext",
    "Claim",
    "CommunityContext",
    "ContextClaim",
    "ContextEntity",
    "ContextRelationship",
    "ContextReport",
    "ContextTextUnit",
    "Entity",
    "Extraction",
    "Finding",
    "FoundClaims",
    "Rating",
    "Relationship",
    "Report",
]


@dataclass(frozen=True, kw_only=True)
class Entity:
    """A thing that a text names; ``type`` is one of the configured types or the model's own."""

    title: str
    type: str
    description: str


@dataclass(frozen=True, kw_only=True)
class Relationship:
    """Two entities that a text connects; a greater ``weight`` is a stronger connection."""

    source: str
    target: str
    description: str
    weight: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """What one chunk says.

    Attributes:
        entities: In order of appearance; a name may occur more than once.
        relationships: Their ends need not be among ``entities``.
        dropped: Records that could not be used, by reason.
        repairs: What was mended to read them, and how often.
        incomplete: Why a further pass over the chunk failed; what is here is from the others.
    """

    entities: tuple[Entity, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    repairs: Mapping[str, int] = field(default_factory=dict)
    incomplete: ProviderError | None = None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a text asserts of an entity; dates are as the text or the model gives them.

    Attributes:
        subject: The entity that it is about.
        object: The entity that reports it or is affected; empty when unknown.
        status: ``TRUE``, ``FALSE`` or ``SUSPECTED``.
        source_text: The quotation that it rests on.
    """

    subject: str
    object: str = ""
    type: str = ""
    status: str = ""
    start_date: str = ""
    end_date: str = ""
    description: str = ""
    source_text: str = ""


@dataclass(frozen=True, kw_only=True)
class FoundClaims:
    """What one chunk asserts.

    Attributes:
        claims: In order of appearance.
        dropped: Records that could not be used, by reason.
        repairs: What was mended to read them, and how often.
        incomplete: Why a further pass over the chunk failed; what is here is from the others.
    """

    claims: tuple[Claim, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    repairs: Mapping[str, int] = field(default_factory=dict)
    incomplete: ProviderError | None = None


@dataclass(frozen=True, kw_only=True)
class ContextClaim:
    """A claim as an answer refers to it."""

    number: int
    claim: Claim


@dataclass(frozen=True, kw_only=True)
class ContextEntity:
    """An entity as a prompt or an answer refers to it; ``number`` is the reference."""

    number: int
    title: str
    description: str
    type: str = ""
    degree: int = 0


@dataclass(frozen=True, kw_only=True)
class ContextRelationship:
    """A relationship as a prompt or an answer refers to it."""

    number: int
    source: str
    target: str
    description: str
    weight: float = 1.0


@dataclass(frozen=True, kw_only=True)
class ContextReport:
    """A community report as an answer refers to it; ``rank`` is its importance, 0 to 10.

    Attributes:
        tokens: Of the report in a batch; 0: not counted.
    """

    number: int
    title: str
    content: str
    rank: float = 0.0
    summary: str = ""
    tokens: int = 0


@dataclass(frozen=True, kw_only=True)
class ContextTextUnit:
    """A text unit as an answer refers to it."""

    number: int
    text: str


@dataclass(frozen=True, kw_only=True)
class CommunityContext:
    """A community as a report is written from it; records are numbered 1..n within it."""

    entities: tuple[ContextEntity, ...]
    relationships: tuple[ContextRelationship, ...]
    sub_reports: tuple[ContextReport, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One insight of a report."""

    summary: str
    explanation: str


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a community is about; ``rating`` is its importance, 0 to 10.

    Attributes:
        repairs: What was mended to read it.
    """

    title: str
    summary: str
    findings: tuple[Finding, ...] = ()
    rating: float = 0.0
    rating_explanation: str = ""
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AnswerContext:
    """What an answer may be made from, as records and as the text that a prompt holds.

    References in an answer (``[Data: Sources (3)]``) are the ``number`` of a record.
    """

    text: str = ""
    entities: tuple[ContextEntity, ...] = ()
    relationships: tuple[ContextRelationship, ...] = ()
    claims: tuple[ContextClaim, ...] = ()
    reports: tuple[ContextReport, ...] = ()
    text_units: tuple[ContextTextUnit, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An answer and what its reader should know of how it was made."""

    text: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Rating:
    """How much a report helps to answer a question.

    Attributes:
        value: 0 to 5; ``None``: it could not be said.
        failure: Why not.
    """

    value: float | None = None
    failure: str = ""
