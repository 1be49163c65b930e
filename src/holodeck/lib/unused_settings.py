"""Settings that are written and that the chosen provider cannot follow: refused, never ignored.

What is inherited or left to its default is no mistake of the user's and is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from holodeck.errors import ConfigError
from holodeck.lib.providers import PROVIDER_TABLE, ProviderRow, provider_row
from holodeck.models.llm import EmbeddingModelConfig, ModelSettings, ProviderName
from holodeck.models.texts import check_server_url
from holodeck.models.tool import GraphRAGConfig, VectorstoreTool

__all__ = [
    "find_embedding_problems",
    "find_graph_problems",
    "find_unused_settings",
    "refuse_unused_settings",
    "server_problem",
]

Table = Mapping[ProviderName, ProviderRow]
Block = ModelSettings | EmbeddingModelConfig

_OTHER_INDEXING = "remove it, or set graphrag.indexing_model to a model of another provider"
_OTHER_SEARCH = "remove it, or set graphrag.search_model to a model of another provider"


def refuse_unused_settings(settings: ModelSettings, where: str, table: Table) -> None:
    """Refuse a setting that the model's provider has no use for, rather than ignore it.

    Raises:
        ConfigError: Names the setting and whose it is.
    """
    for problem in _unused_by(settings, settings.provider, where, table):
        raise problem


def server_problem(url: str, row: ProviderRow) -> str | None:
    """Return why the provider's client cannot use this address, or ``None``."""
    if "://" not in url and not row.takes_bare_address:
        return "must begin with http:// or https://"
    return check_server_url(url)


def find_unused_settings(
    block: Block, provider: ProviderName, where: str, table: Table = PROVIDER_TABLE
) -> Iterator[ConfigError]:
    """Yield an error for each setting of a model that its provider cannot follow.

    Args:
        block: What was written.
        provider: Whose model it is; a block may leave that to the agent's.
        where: Dotted path of the block, for ``field`` of the errors.
        table: The providers.
    """
    row = provider_row(provider, where, table)
    yield from _unused_by(block, provider, where, table)
    problem = None if block.api_base is None else server_problem(block.api_base, row)
    if problem is not None and "api_base" not in row.unused_settings:
        yield ConfigError(
            f"api_base {problem}; write the server's URL, as in http://localhost:8000/v1",
            field=f"{where}.api_base",
        )
    if isinstance(block, ModelSettings) and block.name and "name" in block.model_fields_set:
        yield from _missing_model(row, block.name, f"{where}.name")


def _unused_by(
    block: Block, provider: ProviderName, where: str, table: Table
) -> Iterator[ConfigError]:
    row = provider_row(provider, where, table)
    for name, field in type(block).model_fields.items():
        if name not in row.unused_settings or name not in block.model_fields_set:
            continue
        if getattr(block, name) is None and field.default is None:
            continue  # "none" is what happens
        users = [repr(key) for key, other in table.items() if name not in other.unused_settings]
        yield ConfigError(
            f"{name} has no effect with provider {provider!r}{_reason(row)}: remove it"
            f"{', or use provider ' if users else ''}{' or '.join(users)}",
            field=f"{where}.{name}",
        )


def _reason(row: ProviderRow) -> str:
    return f", which {row.nature}" if row.nature else ""


def _missing_model(row: ProviderRow, name: str, where: str) -> Iterator[ConfigError]:
    """Yield why a provider has no language model of this name, where it can tell by itself."""
    if row.name_check is None or name == row.chat_default:
        return
    try:
        row.load("name_check")(name, where)
    except ConfigError as error:
        yield error


def find_embedding_problems(
    tool: VectorstoreTool, embedding: ModelSettings, table: Table
) -> Iterator[ConfigError]:
    """Yield what is wrong with the embedding model that was chosen for the tool.

    Args:
        tool: What was written.
        embedding: How the model is reached.
        table: The providers.
    """
    nearest = None if tool.graphrag is None else tool.graphrag.embedding_model
    where = "embedding_model" if nearest is None else "graphrag.embedding_model"
    chosen = nearest or tool.embedding_model
    row = provider_row(embedding.provider, where, table)
    if isinstance(chosen, EmbeddingModelConfig):
        yield from find_unused_settings(chosen, embedding.provider, where, table)
        where = f"{where}.name"
    if row.embedding_names and embedding.name not in row.embedding_names:
        yield ConfigError(
            f"provider {embedding.provider!r} has no embedding model {embedding.name!r}: write "
            f"{' or '.join(map(repr, row.embedding_names))} or leave the name out",
            field=where,
        )
    width = tool.embedding_dimensions
    if width is not None and row.embedding_widths and width not in row.embedding_widths:
        widths = ", ".join(map(str, row.embedding_widths))
        yield ConfigError(
            f"embedding_dimensions must be one of {widths} with provider {embedding.provider!r}, "
            f"not {width}: choose one of these or remove it",
            field="embedding_dimensions",
        )


def find_graph_problems(
    graph: GraphRAGConfig, resolved: GraphRAGConfig, embedding: ModelSettings, table: Table
) -> Iterator[ConfigError]:
    """Yield an error for each setting of the graph engine that rules cannot follow.

    Args:
        graph: What was written.
        resolved: The same with both models filled in.
        embedding: How the embedding model is reached.
        table: The providers.
    """
    indexing, search = resolved.indexing_model, resolved.search_model
    if indexing is not None and _thinks_by_rules(indexing, table):
        yield from _of_indexing_by_rules(graph, indexing.provider, table)
    if search is not None and _thinks_by_rules(search, table):
        yield from _of_search_by_rules(graph, search.provider)
    reached = [model for model in (search, embedding) if model is not None]
    ours = next((model.provider for model in reached if _thinks_by_rules(model, table)), None)
    if graph.settings_file and ours is not None:
        yield ConfigError(
            "settings_file is for the graphrag library's own command line, which cannot use "
            f"provider {ours!r}: remove it, or choose other models",
            field="graphrag.settings_file",
        )


def _of_search_by_rules(graph: GraphRAGConfig, provider: ProviderName) -> Iterator[ConfigError]:
    if "response_type" in graph.model_fields_set:
        yield ConfigError(
            f"response_type has no effect with provider {provider!r}, which quotes the documents "
            f"as they are: {_OTHER_SEARCH}",
            field="graphrag.response_type",
        )
    if graph.dynamic_community_selection:
        yield ConfigError(
            f"dynamic_community_selection has no effect with provider {provider!r}, which has no "
            f"language model to rate reports: {_OTHER_SEARCH}",
            field="graphrag.dynamic_community_selection",
        )


def _thinks_by_rules(settings: ModelSettings, table: Table) -> bool:
    return provider_row(settings.provider, "model", table).steps is not None


def _of_indexing_by_rules(
    graph: GraphRAGConfig, provider: ProviderName, table: Table
) -> Iterator[ConfigError]:
    whose = f"provider {provider!r}"
    known = provider_row(provider, "graphrag.indexing_model", table).entity_types
    for number, kind in enumerate(graph.entity_types or ()):
        if known and kind.casefold() not in known:
            yield ConfigError(
                f"entity_types holds {kind!r}, and the rules of {whose} tell only "
                f"{', '.join(known)}: {_OTHER_INDEXING}",
                field=f"graphrag.entity_types[{number}]",
            )
    if graph.profile == "lean":
        yield ConfigError(
            f"profile: lean has no effect with {whose}, whose rules cost nothing: "
            f"{_OTHER_INDEXING}",
            field="graphrag.profile",
        )
    if "max_gleanings" in graph.model_fields_set:
        yield ConfigError(
            f"max_gleanings has no effect with {whose}, whose rules find all they can in one "
            f"pass: {_OTHER_INDEXING}",
            field="graphrag.max_gleanings",
        )
    if not graph.skip_claim_extraction:
        yield ConfigError(
            f"skip_claim_extraction must be true with {whose}, which cannot extract claims: "
            f"{_OTHER_INDEXING}",
            field="graphrag.skip_claim_extraction",
        )
    if "max_failed_share" in graph.model_fields_set:
        yield ConfigError(
            f"max_failed_share has no effect with {whose}, whose rules never fail on a chunk: "
            f"{_OTHER_INDEXING}",
            field="graphrag.max_failed_share",
        )
