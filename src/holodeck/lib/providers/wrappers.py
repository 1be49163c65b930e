"""What stands around every model, in the one right order.

    Metered( Retrying( Limited( Capped( WellFormed( model )))))

A wait between two tries holds no slot and reserves no money; a call is counted once, however often
it was tried.
Embedders have the batches outermost, so that each batch is limited, retried, counted and kept by
itself: ``CachedEmbedder`` with a store, else ``BatchedEmbedder``.
"""

from __future__ import annotations

from holodeck.lib.contracts import ChatModel, Embedder
from holodeck.lib.meter import Meter
from holodeck.lib.providers.access import ModelAccess
from holodeck.lib.providers.budget import Capped, CappedEmbedder
from holodeck.lib.providers.embedding_cache import BatchedEmbedder, CachedEmbedder
from holodeck.lib.providers.limits import Limited, LimitedEmbedder
from holodeck.lib.providers.meter import Metered, MeteredEmbedder
from holodeck.lib.providers.reply_store import ReplyStore
from holodeck.lib.providers.retry import Retrying, RetryingEmbedder, RetryPolicy
from holodeck.lib.providers.well_formed import WellFormed

__all__ = ["wrap_chat", "wrap_embedder"]


def wrap_chat(
    model: ChatModel,
    access: ModelAccess,
    meter: Meter | None = None,
    *,
    policy: RetryPolicy | None = None,
) -> Metered:
    """Return ``model`` capped, limited, retried and counted as ``access`` says.

    Args:
        model: The bare model of a provider.
        access: Whose ``concurrency``, ``max_retries`` and ``retry_budget`` count.
        meter: Where calls are counted; default: one of its own.
        policy: How to retry; default: as ``access`` says.
    """
    capped = Capped(WellFormed(model), access.price, access.where)
    limited = Limited(capped, access.concurrency)
    return Metered(Retrying(limited, policy or RetryPolicy.of(access)), meter, access.price)


def wrap_embedder(
    embedder: Embedder,
    access: ModelAccess,
    meter: Meter | None = None,
    store: ReplyStore | None = None,
    *,
    policy: RetryPolicy | None = None,
    width: int | None = None,
) -> Embedder:
    """Return ``embedder`` capped, limited, retried, counted and, with a ``store``, cached.

    Args:
        embedder: The bare model of a provider.
        access: As for ``wrap_chat``.
        meter: As for ``wrap_chat``.
        store: Where vectors are kept; default: nowhere.
        policy: As for ``wrap_chat``.
        width: Of the kept vectors that may be used; default: whatever there is.
    """
    limited = LimitedEmbedder(
        CappedEmbedder(embedder, access.price, access.where), access.concurrency
    )
    retried = RetryingEmbedder(limited, policy or RetryPolicy.of(access))
    counted = MeteredEmbedder(retried, meter, access.price)
    if store is None:
        return BatchedEmbedder(counted)
    return CachedEmbedder(
        counted,
        store,
        model=access.deployment_name,
        dimensions=access.dimensions,
        width=width,
    )
