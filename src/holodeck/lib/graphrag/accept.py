"""When a reply is an answer, and what the model is told when it is none."""

from __future__ import annotations

import re
from dataclasses import dataclass

from holodeck.errors import ContentFilterError, ProviderError
from holodeck.lib.contracts import ChatReply
from holodeck.lib.graphrag.odd_records import looks_like_records
from holodeck.lib.replies.reply_text import ReplyForm, read_answer

__all__ = [
    "Complaint",
    "about_first",
    "about_further",
    "about_summary",
    "about_text",
    "asked_again",
]

_QUOTED = 120
_LONGEST_REFUSAL = 600
_REFUSAL = re.compile(
    r"\b(?:can(?:'|’|no|\s+no)?t|unable to|not able to|won(?:'|’)t|must decline|will not)\b"
    r".{0,60}\b(?:help|assist|comply|provide|process|extract|fulfil|continue|engage|discuss|that)",
    re.IGNORECASE | re.DOTALL,
)
# Of a description it may be said what someone cannot do; a refusal speaks of itself.
_REFUSAL_OPENING = re.compile(
    r"(?:(?:i['’]m|i am|we['’]re|we are) (?:very )?sorry|sorry,|i apologi[sz]e|as an ai\b"
    r"|(?:sorry[,.]? )?(?:i|we) (?:can(?:['’]|no|\s+no)?t|am unable|am not able|won['’]t"
    r"|must decline))",
    re.IGNORECASE,
)
_REMINDERS = {
    "extract": (
        "Give every entity and relationship in the format that was asked for and finish with the "
        "end marker <|COMPLETE|>. If the text names none, answer with the end marker alone."
    ),
    "claims": (
        "Give every claim in the format that was asked for and finish with the end marker "
        "<|COMPLETE|>. If there is none, answer with the end marker alone."
    ),
    "report": (
        "Answer with the one JSON object that was asked for and nothing else: with a title, a "
        "summary, a rating, a rating_explanation and findings."
    ),
}
_SHORTER = "Be briefer, so that the answer is complete."


@dataclass(frozen=True, kw_only=True)
class Complaint:
    """Why a reply is no answer.

    Attributes:
        cause: For the user; it may quote the model.
        told: For the model; it quotes nothing.
        is_refusal: The model will not; it would not the next time either.
        is_usable: What the reply holds may be used when a second one is no better.
    """

    cause: str
    told: str
    is_refusal: bool = False
    is_usable: bool = False

    def error(self, purpose: str) -> ProviderError:
        """Return the failure of a chain whose second reply was no answer either."""
        message = f"{self.cause} (asked for {purpose!r}, twice)"
        if self.is_refusal:
            return ContentFilterError(message)
        return ProviderError(message, retryable=True)


def asked_again(prompt: str, complaint: Complaint, purpose: str) -> str:
    """Return the prompt with the complaint; the reply itself is never sent back."""
    reminder = _REMINDERS.get(purpose, "")
    return f"{prompt}\n\nYour last answer could not be used: {complaint.told}. {reminder}".rstrip()


def about_text(reply: ChatReply) -> Complaint | None:
    """Return what is wrong with a reply of which any text is an answer."""
    limit = "token limit" if reply.finish_reason == "length" else reply.finish_reason
    hint = "; raise max_tokens of the indexing_model" if reply.finish_reason == "length" else ""
    answer = read_answer(reply.text)
    if answer.is_unfinished and not answer.text:
        return Complaint(
            cause=f"the model produced no answer, only thoughts ({limit}){hint}",
            told="it ended before your thoughts did. Think less and answer",
        )
    if not answer.text:
        return Complaint(cause=f"the model produced no answer ({limit}){hint}", told="it was empty")
    if answer.is_unfinished:
        return Complaint(
            cause=f"the model's thoughts never ended ({limit}){hint}",
            told="it ended before your thoughts did. Think less and answer",
        )
    return None


def about_summary(reply: ChatReply) -> Complaint | None:
    """Return what is wrong with a reply that is to be a description."""
    nothing = about_text(reply)
    if nothing is not None:
        return nothing
    said = _said(reply.text)
    if len(said) < _LONGEST_REFUSAL and _REFUSAL_OPENING.match(said):
        return Complaint(
            cause=f"the model refused: {_quoted(said)}", told="it was no summary", is_refusal=True
        )
    if reply.finish_reason == "length":
        return Complaint(
            cause="the model's summary was cut off (token limit)",
            told=f"it was cut off in the middle. {_SHORTER}",
            is_usable=True,
        )
    return None


def about_first(reply: ChatReply, parsed: ReplyForm) -> Complaint | None:
    """Return what is wrong with the first reply to a prompt that asks for records."""
    nothing = about_text(reply)
    if nothing is not None and not parsed.is_ended:
        return nothing
    if not parsed.seen:
        return None if parsed.is_ended and parsed.is_bare else _without_records(reply, parsed)
    return _about_records(reply, parsed)


def about_further(reply: ChatReply, parsed: ReplyForm) -> Complaint | None:
    """Return what is wrong with the reply of a further pass; that nothing is left is an answer."""
    return about_text(reply) or _about_records(reply, parsed)


def _about_records(reply: ChatReply, parsed: ReplyForm) -> Complaint | None:
    dropped = sum(parsed.dropped.values())
    kept = parsed.seen - dropped
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(parsed.dropped.items()))
    if dropped and not kept:
        return Complaint(
            cause=f"none of the model's {parsed.seen} records could be used: {reasons}",
            told=f"none of its {parsed.seen} records could be read ({reasons})",
        )
    if parsed.is_cut or (reply.finish_reason == "length" and not parsed.is_ended):
        return Complaint(
            cause=f"the model's reply was cut off ({_limit(reply)})",
            told=f"it was cut off in the middle. {_SHORTER}",
            is_usable=True,
        )
    if dropped > kept:
        return Complaint(
            cause=f"{dropped} of the model's {parsed.seen} records could not be used: {reasons}",
            told=f"{dropped} of its {parsed.seen} records could not be read ({reasons})",
            is_usable=True,
        )
    return None


def _without_records(reply: ChatReply, parsed: ReplyForm) -> Complaint:
    """Return the complaint about words where records or a bare end marker were asked for.

    With an end marker they may say that the text names nothing, in whatever language; that is
    taken for an answer when it is said twice.
    """
    said = _said(reply.text)
    quoted = _quoted(said)
    if len(said) < _LONGEST_REFUSAL and _REFUSAL.search(said):
        return Complaint(
            cause=f"the model refused: {quoted}", told="it held no records", is_refusal=True
        )
    if looks_like_records(said):
        return Complaint(
            cause=f"the model's records are in another format: {quoted}",
            told="its records were not in the format that was asked for",
        )
    if parsed.is_ended:
        return Complaint(
            cause=f"the model gave words and no records: {quoted}",
            told="it held no records",
            is_usable=True,
        )
    limit = " (token limit)" if reply.finish_reason == "length" else ""
    return Complaint(
        cause=f"the model gave no records and no end marker{limit}: {quoted}",
        told="it held no records and no end marker",
    )


def _said(text: str) -> str:
    return " ".join(read_answer(text).text.split())


def _quoted(said: str) -> str:
    return repr(said if len(said) <= _QUOTED else said[:_QUOTED] + "…")


def _limit(reply: ChatReply) -> str:
    return "token limit" if reply.finish_reason == "length" else "in the middle of a record"
