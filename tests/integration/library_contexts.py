"""Run in a process of its own: the contexts that the library's LocalSearch builds.

Importing the library patches asyncio, so the tests do not. Standard input is a list of the folders
of indexes and the questions that are put to each; standard output is a list of contexts for each.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
from graphrag.query.indexer_adapters import (
    read_indexer_covariates,
    read_indexer_entities,
    read_indexer_relationships,
    read_indexer_reports,
    read_indexer_text_units,
)
from graphrag.query.structured_search.local_search.mixed_context import LocalSearchMixedContext
from graphrag_llm.tokenizer.tokenizer import Tokenizer
from graphrag_vectors.lancedb import LanceDBVectorStore

from holodeck.lib.tokens import encoding


class OurTokens(Tokenizer):
    """The library's tokenizer by our ranks, so that nothing is downloaded."""

    def __init__(self) -> None:
        """Need nothing."""

    def encode(self, text: str) -> list[int]:
        """Return the tokens."""
        return encoding().encode_ordinary(text)

    def decode(self, tokens: list[int]) -> str:
        """Return the text."""
        return encoding().decode(tokens)


class Given:
    """An embedding model that gives one vector."""

    def __init__(self, vector: list[float]) -> None:
        self._vector = vector

    def embedding(self, input: list[str]) -> SimpleNamespace:  # noqa: A002  # the library's name
        """Return the vector."""
        return SimpleNamespace(first_embedding=self._vector)


def context(folder: Path, store: Any, question: dict[str, Any]) -> str:
    """Return the context of a question, from tables read anew as the library's API does."""

    def table(name: str) -> pd.DataFrame:
        return pd.read_parquet(folder / f"{name}.parquet")

    level = question["level"]
    embedder: Any = Given(question["vector"])  # Any: it has the one method that is called
    communities = table("communities")
    claims = folder / "covariates.parquet"
    builder = LocalSearchMixedContext(
        entities=read_indexer_entities(table("entities"), communities, level),
        entity_text_embeddings=store,
        text_embedder=embedder,
        text_units=read_indexer_text_units(table("text_units")),
        community_reports=read_indexer_reports(table("community_reports"), communities, level),
        relationships=read_indexer_relationships(table("relationships")),
        covariates={
            "claims": read_indexer_covariates(table("covariates")) if claims.exists() else []
        },
        tokenizer=OurTokens(),
    )
    built = builder.build_context(
        query="a question",
        max_context_tokens=question["tokens"],
        text_unit_prop=0.5,
        community_prop=0.1,
        top_k_mapped_entities=10,
        top_k_relationships=10,
        include_entity_rank=True,
        include_relationship_weight=True,
        include_community_rank=False,
        return_candidate_context=False,
    )
    return str(built.context_chunks)


def contexts(job: dict[str, Any]) -> list[str]:
    """Return the contexts of the questions that are put to one index."""
    store = LanceDBVectorStore(
        db_uri=job["vectors"],
        index_name="entity_description",
        vector_size=len(job["questions"][0]["vector"]),
    )
    store.connect()
    return [context(Path(job["tables"]), store, question) for question in job["questions"]]


if __name__ == "__main__":
    json.dump([contexts(job) for job in json.load(sys.stdin)], sys.stdout)
