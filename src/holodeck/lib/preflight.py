"""Before a build costs anything: both of its models are asked one word."""

from __future__ import annotations

import logging

from holodeck.errors import IndexingError, ProviderError
from holodeck.lib.resources import ResolvedTool, Resources

__all__ = ["ask_models_once"]

logger = logging.getLogger(__name__)


async def ask_models_once(
    resolved: ResolvedTool, resources: Resources, *, indexed_width: int = 0
) -> int | None:
    """Ask the indexing and the embedding model one word each, where they are behind a server.

    Args:
        resolved: The tool.
        resources: Where its models come from.
        indexed_width: Of the vectors of the index that the same embedding model made; 0: there
            are none.

    Returns:
        The width of the vectors, where a server was asked.

    Raises:
        IndexingError: A model cannot be used; the message names model, server and setting.
    """
    tool = resolved.tool
    indexing = None if tool.graphrag is None else tool.graphrag.indexing_model
    try:
        if indexing is not None:
            await resources.probe(indexing, "graphrag.indexing_model")
        width = await resources.probe_embedder(
            resolved.embedding, resolved.embedding_where, tool.embedding_dimensions
        )
    except ProviderError as error:
        raise IndexingError(
            f"building the index of tool {tool.name!r} was not begun, and nothing was spent: "
            f"{error}"
        ) from error
    if width is not None and indexed_width not in (0, width):
        logger.warning(
            "the embedding model %s gives vectors of %d numbers, and those of the index have %d: "
            "it is another model under the same name, so everything is embedded anew",
            resolved.embedding_id,
            width,
            indexed_width,
        )
    return width
