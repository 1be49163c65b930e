"""One tiny call to a model: is it there, and does it take our key and settings?"""

from __future__ import annotations

import logging

from holodeck.errors import ContentFilterError, ProviderError
from holodeck.lib.contracts import ChatModel, ChatRequest, Embedder, Message, Usage
from holodeck.lib.meter import Meter
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.budget import Capped, CappedEmbedder
from holodeck.lib.providers.meter import Metered
from holodeck.lib.providers.model_names import counts_thoughts
from holodeck.lib.providers.retry import Retrying, RetryingEmbedder, RetryPolicy
from holodeck.lib.tokens import count_tokens
from holodeck.models.llm import ModelSettings

__all__ = ["PROBE_PURPOSE", "PROBE_TEXT", "probe_chat", "probe_embedder"]

logger = logging.getLogger(__name__)

PROBE_PURPOSE = "probe"
PROBE_TEXT = "ping"

_ANSWER_TOKENS = 16
_RETRIES = 2  # a server that is not there is told of in seconds, not minutes


async def probe_chat(
    model: ChatModel, access: ModelAccess, settings: ModelSettings, meter: Meter
) -> None:
    """Ask ``model`` one word with the settings that the work will send; closes it.

    Raises:
        ProviderError: The model cannot be used as the settings say. That a server is busy is no
            such reason: the work itself waits longer.
    """
    request = ChatRequest(
        messages=(Message(role="user", content=PROBE_TEXT),),
        purpose=PROBE_PURPOSE,
        temperature=settings.temperature,
        # A model that thinks first would spend so few tokens on its thoughts.
        max_tokens=None if counts_thoughts(access.name) else _ANSWER_TOKENS,
    )
    try:
        capped = Capped(model, access.price, access.where)
        await Metered(Retrying(capped, _policy(access)), meter, access.price).complete(request)
    except ContentFilterError:
        pass  # the server is there and knows us; what it makes of one word does not matter
    except ProviderError as error:
        _raise_unless_busy(error)
    finally:
        await model.close()


async def probe_embedder(embedder: Embedder, access: ModelAccess, meter: Meter) -> int | None:
    """Embed one word and return the width of the vectors, ``None`` while busy; closes it.

    Raises:
        ProviderError: As for ``probe_chat``.
    """
    try:
        capped = CappedEmbedder(embedder, access.price, access.where)
        vectors = await RetryingEmbedder(capped, _policy(access)).embed([PROBE_TEXT])
    except ProviderError as error:
        _raise_unless_busy(error)
        return None
    finally:
        await embedder.close()
    usage = Usage(input_tokens=count_tokens(PROBE_TEXT))
    meter.record(
        provider=access.provider,
        model=access.name,
        purpose=PROBE_PURPOSE,
        usage=usage,
        price=access.price,
    )
    return int(vectors.shape[1])


def _policy(access: ModelAccess) -> RetryPolicy:
    return RetryPolicy(
        max_retries=min(_RETRIES, access.max_retries), budget=min(access.retry_budget, 10.0)
    )


def _raise_unless_busy(error: ProviderError) -> None:
    if not error.retryable or error.status is None:
        raise error
    logger.warning("the model is there, but busy; going on: %s", error)
