"""What a model costs, and that nobody takes an unknown price for none."""

from __future__ import annotations

import datetime as dt

import pytest

from holodeck.lib.contracts import Usage
from holodeck.lib.prices import DEFAULT_MAX_OUTPUT, Price, find_price, money, table_date
from holodeck.lib.providers import PROVIDER_TABLE
from holodeck.models.config import ModelPrice
from holodeck.models.llm import ProviderName

USAGE = Usage(input_tokens=1_000_000, output_tokens=100_000)


def test_a_price_is_per_million_tokens() -> None:
    """What is sent and what is answered have prices of their own."""
    price = find_price("openai", "gpt-4o", "chat")

    assert price == Price(input=2.5, output=10.0, max_output=16_384)
    assert price is not None
    assert price.of(USAGE) == pytest.approx(2.5 + 1.0)


@pytest.mark.parametrize("provider", list(PROVIDER_TABLE))
def test_every_default_model_has_a_price(provider: ProviderName) -> None:
    """Whoever names no model can see the price before anything is spent."""
    row = PROVIDER_TABLE[provider]

    assert find_price(provider, row.chat_default, "chat") is not None
    assert find_price(provider, row.index_default, "chat") is not None
    assert find_price(provider, row.embedding_default, "embedding") is not None


@pytest.mark.parametrize(
    ("dated", "bare"), [("gpt-4o-2024-11-20", "gpt-4o"), ("gpt-4-0613", "gpt-4")]
)
def test_a_date_at_the_end_of_a_name_is_left_aside(dated: str, bare: str) -> None:
    """A model as it was on a day costs what the model costs."""
    assert find_price("openai", dated, "chat") == find_price("openai", bare, "chat")


def test_a_dated_model_with_a_price_of_its_own_has_it() -> None:
    """The whole name goes before the name without its date."""
    dated = find_price("openai", "gpt-4o-2024-05-13", "chat")

    assert dated is not None
    assert dated.input == 5.0


@pytest.mark.parametrize(
    "name", ["gpt-4o-audio-preview", "gpt-4o-eu", "my-gpt-4o", "ft:gpt-4o:me", "gpt", "llama", ""]
)
def test_a_name_that_only_looks_alike_has_no_price(name: str) -> None:
    """Unknown is unknown, never 0 and never a neighbour's price."""
    assert find_price("openai", name, "chat") is None
    assert find_price("azure_openai", name, "chat") is None


def test_a_chat_model_is_no_embedding_model() -> None:
    """A price is looked for among models of its kind."""
    assert find_price("openai", "gpt-4o", "embedding") is None
    assert find_price("openai", "text-embedding-3-small", "chat") is None


@pytest.mark.parametrize("provider", ["ollama", "embedded"])
def test_a_machine_of_ones_own_costs_nothing(provider: ProviderName) -> None:
    """Any model of theirs, unless YAML says what the machine costs."""
    own = {"big": ModelPrice(input=0.1, output=0.2)}

    price = find_price(provider, "whatever", "chat")
    assert price is not None
    assert price.of(USAGE) == 0.0
    priced = find_price(provider, "big", "chat", own=own)
    assert priced is not None
    assert priced.of(USAGE) == pytest.approx(0.12)


def test_yaml_goes_before_the_table() -> None:
    """The nearest key counts: provider and deployment, provider and name, deployment, name."""
    own = {
        "azure_openai/eu": ModelPrice(input=1, output=1),
        "azure_openai/gpt-4o": ModelPrice(input=2, output=2),
        "eu": ModelPrice(input=3, output=3),
        "gpt-4o": ModelPrice(input=4, output=4),
    }
    found = []
    while own:
        price = find_price("azure_openai", "gpt-4o", "chat", deployment="eu", own=own)
        assert price is not None
        found.append(price.input)
        del own[next(iter(own))]

    assert found == [1, 2, 3, 4]
    table = find_price("azure_openai", "gpt-4o", "chat", deployment="eu", own=own)
    assert table is not None
    assert table.input == 2.5


def test_half_a_price_is_none() -> None:
    """A chat model whose answers have no price is unknown; an embedding model has no answers."""
    own = {"m": ModelPrice(input=1.0)}

    assert find_price("openai", "m", "chat", own=own) is None
    assert find_price("openai", "m", "embedding", own=own) == Price(input=1.0)


def test_the_greatest_reply_is_yamls_then_the_tables() -> None:
    """A price of one's own leaves what the table knows of the model's replies."""
    own = {"gpt-4.1": ModelPrice(input=1, output=1), "m": ModelPrice(input=1, output=1)}
    longer = {"m": ModelPrice(input=1, output=1, max_output=500)}

    found = [
        find_price("openai", "gpt-4.1", "chat", own=own),
        find_price("openai", "m", "chat", own=own),
        find_price("openai", "m", "chat", own=longer),
    ]

    assert [each.max_output for each in found if each] == [32_768, DEFAULT_MAX_OUTPUT, 500]


def test_the_table_says_of_which_day_it_is() -> None:
    """A reader can tell how old the prices are."""
    assert dt.date.fromisoformat(table_date()).year >= 2026


@pytest.mark.parametrize(
    ("dollars", "said"),
    [
        (0, "$0.00"),
        (0.00002, "$0.00002"),
        (0.0123, "$0.0123"),
        (1.5, "$1.50"),
        (1234.5, "$1,234.50"),
    ],
)
def test_money_is_said_as_finely_as_it_matters(dollars: float, said: str) -> None:
    """An amount that is not zero never reads as zero."""
    assert money(dollars) == said


def test_a_reranker_is_paid_by_its_searches() -> None:
    """USD per thousand search units; unknown is unknown, and a server of one's own is free."""
    price = find_price("cohere", "rerank-v3.5", "rerank")
    own = {"mine": ModelPrice(search=5.0), "tokens": ModelPrice(input=5.0)}

    assert price is not None
    assert price.of(USAGE) - price.of(Usage()) == 0
    assert price.of(Usage()) == pytest.approx(0.002)
    assert find_price("cohere", "rerank-v9", "rerank") is None
    assert find_price("vllm", "any", "rerank") == Price()
    assert find_price("cohere", "mine", "rerank", own=own) == Price(call=0.005)
    assert find_price("cohere", "tokens", "rerank", own=own) is None
    assert find_price("openai", "mine", "embedding", own=own) is None


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"input": 1.0, "search": 1.0},
        {"output": 1.0},
        {"search": 1.0, "output": 1.0},
        {"search": 1.0, "max_output": 100},
    ],
)
def test_a_price_is_of_one_kind_of_model(given: dict[str, float]) -> None:
    """What is no price, or two, is refused with the three there are."""
    with pytest.raises(ValueError, match=r"\{search: …\} of a reranker"):
        ModelPrice.model_validate(given)
