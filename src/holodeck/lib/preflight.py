"""Before a build costs anything: both of its models are asked one word."""

from __future__ import annotations

from holodeck.errors import IndexingError, ProviderError
from holodeck.lib.resources import ResolvedTool, Resources

__all__ = ["ask_models_once"]


async def ask_models_once(resolved: ResolvedTool, resources: Resources) -> int | None:
    """Ask the indexing and the embedding model one word each, where they are behind a server.

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
        return await resources.probe_embedder(
            resolved.embedding, resolved.embedding_where, tool.embedding_dimensions
        )
    except ProviderError as error:
        raise IndexingError(
            f"building the index of tool {tool.name!r} was not begun, and nothing was spent: "
            f"{error}"
        ) from error
