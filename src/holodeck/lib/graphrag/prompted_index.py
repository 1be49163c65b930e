"""The thinking steps of a build, asked of a language model with the library's prompts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from holodeck.errors import AuthenticationError, ProviderError
from holodeck.lib.contracts import (
    ChatModel,
    ChatReply,
    CommunityContext,
    Extraction,
    FoundClaims,
    Message,
    Report,
)
from holodeck.lib.graphrag.accept import (
    Complaint,
    about_first,
    about_further,
    about_summary,
    asked_again,
)
from holodeck.lib.graphrag.chain import Asker, Kept, Memo, still_answers
from holodeck.lib.graphrag.community_context import MAX_INPUT_TOKENS
from holodeck.lib.graphrag.kept_extraction import as_json, from_json
from holodeck.lib.graphrag.parse import ParsedReply, RecordReader, join_extractions
from holodeck.lib.graphrag.parse_claims import ClaimReader, ParsedClaims, join_claims
from holodeck.lib.graphrag.parse_report import about_report, parse_report
from holodeck.lib.graphrag.prompts import Template
from holodeck.lib.graphrag.summarize import SUMMARY_INPUT_TOKENS
from holodeck.lib.graphrag.values import REPORT_WORDS
from holodeck.lib.graphrag.write_context import report_context
from holodeck.lib.replies.reply_text import ReplyForm, answer_of
from holodeck.lib.replies.untrusted import DATA_NOTICE, Neutraliser, restored
from holodeck.lib.tokens import count_tokens
from holodeck.models.llm import ModelSettings

__all__ = ["PROMPTED_VERSION", "Memo", "PromptedIndexSteps"]

SUMMARY_WORDS = 500
_DRESS = " \n\"'*_`.(["
REPLY_TOKENS = 2048
"""What a reply whose length is not limited is reckoned with where the next pass repeats it."""
CLAIMS_WANTED = "Any claims or facts that could be relevant to information discovery."
"""The library's own default of what a claim is."""

PROMPTED_VERSION = "prompted 5"
"""Raised when the steps give another output for the same replies: indexes are then built anew."""


@dataclass(frozen=True, kw_only=True)
class _Passes:
    """How one text is gone over.

    Attributes:
        purpose: Of the first prompt.
        more: The prompt of a further pass.
        is_more: The question whether there is one to make.
        read: What became of the records of a reply.
        reading: What is kept of the replies beside them; ``None``: nothing.
    """

    purpose: str
    more: str
    is_more: str
    read: Callable[[str], ReplyForm]
    reading: Callable[[Kept], Mapping[str, Any]] | None = None


class PromptedIndexSteps:
    """``IndexSteps`` over a chat model.

    Args:
        chat: The indexing model.
        settings: Its temperature and greatest reply.
        prompts: The prompts of ``prompts.INDEX_PROMPTS``.
        entity_types: Types to extract.
        max_gleanings: Further passes over each text.
        chunk_tokens: The most that a chunk has.
        memo: Where accepted outcomes are kept; ``None`` keeps nothing.
    """

    def __init__(
        self,
        *,
        chat: ChatModel,
        settings: ModelSettings,
        prompts: Mapping[str, str],
        entity_types: Sequence[str],
        max_gleanings: int,
        chunk_tokens: int = 0,
        memo: Memo | None,
    ) -> None:
        self._asker = Asker(chat, settings, memo)
        self._prompts = prompts
        self._templates = {name: Template(prompt) for name, prompt in prompts.items()}
        self._neutral = {name: Neutraliser(prompt) for name, prompt in prompts.items()}
        self._reader = RecordReader(prompts["extract"], entity_types)
        self._claim_reader = ClaimReader(prompts.get("claims", ""))
        self._entity_types = ",".join(entity_types)
        self._max_gleanings = max_gleanings
        chat.expect(
            _longest_prompt(prompts, chunk_tokens, max_gleanings, settings.max_tokens),
            settings.max_tokens,
        )

    @property
    def version(self) -> str:
        """What the output depends on besides input and settings."""
        return PROMPTED_VERSION

    async def extract(self, text: str) -> Extraction:
        """Return what one chunk says, over all passes.

        Raises:
            ProviderError: No reply to the first prompt was an answer.
        """
        prompt = self._prompt("extract", entity_types=self._entity_types, input_text=text)
        sent = self._neutral["extract"](text)

        @cache
        def read(reply: str) -> ParsedReply:
            return self._reader.read(reply, sent)

        def reading(kept: Kept) -> dict[str, Any]:
            found = join_extractions([read(reply).extraction for reply in kept.replies])
            return {"version": PROMPTED_VERSION, **as_json(found)}

        passes = _Passes(
            purpose="extract",
            more=self._prompts["glean"],
            is_more=self._prompts["glean_more"],
            read=read,
            reading=reading,
        )
        kept, failed = await self._chain(prompt, passes)
        known = kept.reading if kept.reading is not None and _is_known(kept) else reading(kept)
        found = from_json(known)
        return replace(found, repairs=_with_asked(found.repairs, kept), incomplete=failed)

    async def claims(self, text: str) -> FoundClaims:
        """Return what one chunk asserts of entities, over all passes.

        Raises:
            ProviderError: No reply to the first prompt was an answer.
        """
        prompt = self._prompt(
            "claims",
            entity_specs=self._entity_types,
            claim_description=CLAIMS_WANTED,
            input_text=text,
        )
        sent = self._neutral["claims"](text)

        @cache
        def read(reply: str) -> ParsedClaims:
            return self._claim_reader.read(reply, sent)

        passes = _Passes(
            purpose="claims",
            more=self._prompts["claims_glean"],
            is_more=self._prompts["claims_glean_more"],
            read=read,
        )
        kept, failed = await self._chain(prompt, passes)
        found = join_claims(read(reply).found for reply in kept.replies)
        return replace(found, repairs=_with_asked(found.repairs, kept), incomplete=failed)

    async def _chain(self, prompt: str, passes: _Passes) -> tuple[Kept, ProviderError | None]:
        """Return the replies of a chain, as kept or asked for, and what a further pass failed by.

        Each pass is kept when it is accepted, as the outcome of a chain with so many gleanings:
        one that is stopped goes on behind it. With ``reading`` what it reads in the replies is
        kept beside those of the whole.
        """

        def judge(reply: ChatReply) -> Complaint | None:
            return about_first(reply, passes.read(reply.text))

        async with self._asker.alone(self._key(prompt, passes, self._max_gleanings)):
            done, kept = self._furthest(prompt, passes)
            if kept is not None and not (_is_known(kept) or still_answers(kept, judge)):
                done, kept = 0, None
            if kept is None:
                first = await self._asker.answered(passes.purpose, prompt, judge)
                kept = self._keep(prompt, passes, 0, first)
            return (kept, None) if done is None else await self._glean(prompt, passes, kept, done)

    def _key(self, prompt: str, passes: _Passes, gleanings: int) -> str:
        return self._asker.key(passes.purpose, prompt, str(gleanings))

    def _keep(self, prompt: str, passes: _Passes, gleanings: int, kept: Kept) -> Kept:
        """Keep the outcome after so many gleanings."""
        if gleanings == self._max_gleanings and passes.reading is not None:
            kept = replace(kept, reading=passes.reading(kept))
        self._asker.keep(self._key(prompt, passes, gleanings), kept, passes.purpose)
        return kept

    def _furthest(self, prompt: str, passes: _Passes) -> tuple[int | None, Kept | None]:
        """Return after how many gleanings a chain stands, and its replies; ``None``: it is whole.

        Where nothing is kept it stands before the first.
        """
        for gleanings in reversed(range(self._max_gleanings + 1)):
            kept = self._asker.recall(self._key(prompt, passes, gleanings))
            if kept is not None:
                # A chain has fewer replies than passes where the model had no more to say.
                is_whole = gleanings == self._max_gleanings or len(kept.replies) <= gleanings
                return (None, kept) if is_whole else (gleanings, replace(kept, reading=None))
        return 0, None

    async def _glean(
        self, prompt: str, passes: _Passes, kept: Kept, done: int
    ) -> tuple[Kept, ProviderError | None]:
        """Ask for what was missed while the model says that there is more."""
        more = Message(role="user", content=passes.more)
        messages = [Message(role="user", content=prompt)]
        for reply in kept.replies:
            messages += [Message(role="assistant", content=answer_of(reply)), more]
        messages.pop()
        try:
            for turn in range(done, self._max_gleanings):
                if turn and not await self._has_more(messages, passes.is_more):
                    kept = self._keep(prompt, passes, self._max_gleanings, kept)
                    break
                messages.append(more)
                reply, again = await self._pass(messages, passes)
                messages.append(Message(role="assistant", content=answer_of(reply)))
                kept = Kept(replies=(*kept.replies, reply), asked_again=(*kept.asked_again, *again))
                kept = self._keep(prompt, passes, turn + 1, kept)
        except AuthenticationError:
            raise
        except ProviderError as error:
            return kept, error
        return kept, None

    async def _pass(
        self, messages: Sequence[Message], passes: _Passes
    ) -> tuple[str, tuple[str, ...]]:
        """Return the reply of a further pass; one that cannot be used is asked for once more."""
        first = await self._asker.ask("glean", messages)
        complaint = about_further(first, passes.read(first.text))
        if complaint is None:
            return first.text, ()
        question = asked_again(messages[-1].content, complaint, passes.purpose)
        second = await self._asker.ask(
            "glean", [*messages[:-1], Message(role="user", content=question)]
        )
        still = about_further(second, passes.read(second.text))
        if still is None or still.is_usable:
            return second.text, (complaint.cause,)
        if complaint.is_usable:
            return first.text, (complaint.cause,)
        raise still.error("glean")

    async def _has_more(self, messages: Sequence[Message], question: str) -> bool:
        asked = [*messages, Message(role="user", content=question)]
        reply = await self._asker.ask("glean", asked)
        return answer_of(reply.text).strip(_DRESS).upper().startswith("Y")

    async def summarize(self, subject: str, descriptions: Sequence[str]) -> str:
        """Return one description made from several."""
        prompt = self._prompt(
            "summarize",
            entity_name=json.dumps(subject, ensure_ascii=False),
            description_list=json.dumps(list(descriptions), ensure_ascii=False),
            max_length=str(SUMMARY_WORDS),
        )
        kept = await self._asker.remembered("summarize", prompt, about_summary)
        return restored(answer_of(kept.replies[0]))

    async def report(self, community: CommunityContext) -> Report:
        """Return what a community is about.

        Raises:
            ProviderError: Neither reply was a report.
        """
        prompt = self._prompt(
            "report",
            input_text=report_context(community),
            max_report_length=str(REPORT_WORDS),
        )
        kept = await self._asker.remembered("report", prompt, about_report, json_object=True)
        report = parse_report(kept.replies[0])
        again = ("asked again",) if kept.asked_again else ()
        return replace(report, repairs=(*report.repairs, *again))

    def _prompt(self, name: str, **values: str) -> str:
        """Return the library's prompt with our notice; no value can end its section."""
        neutral: Callable[[str], str] = self._neutral[name]
        safe = {key: neutral(value) for key, value in values.items()}
        return DATA_NOTICE + self._templates[name].fill(**safe)


def _is_known(kept: Kept) -> bool:
    """Tell whether what is kept was read by the rules of today."""
    return kept.reading is not None and kept.reading["version"] == PROMPTED_VERSION


def _with_asked(repairs: Mapping[str, int], kept: Kept) -> dict[str, int]:
    """Return what was mended, with how often a reply was asked for again."""
    again = {"asked again": len(kept.asked_again)} if kept.asked_again else {}
    return {**repairs, **again}


def _longest_prompt(
    prompts: Mapping[str, str], chunk_tokens: int, max_gleanings: int, max_tokens: int | None
) -> int:
    """Return about how many tokens the longest request of a build has.

    Chunks are read with the replies of earlier passes before them; what is reported on and what is
    summarised is cut to a number of tokens.
    """
    size = {name: count_tokens(prompt) for name, prompt in prompts.items()}
    passes = max_gleanings * (max_tokens or REPLY_TOKENS)
    read = max(size["extract"], size["claims"]) + chunk_tokens + passes
    reported = size["report"] + MAX_INPUT_TOKENS
    summarised = size["summarize"] + SUMMARY_INPUT_TOKENS
    return count_tokens(DATA_NOTICE) + max(read, reported, summarised)
