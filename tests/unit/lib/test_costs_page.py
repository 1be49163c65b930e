"""The page about costs says what the code does."""

from __future__ import annotations

from pathlib import Path

from holodeck.lib.prices import find_price, looked_for
from holodeck.models.config import ExecutionConfig

PAGE = (Path(__file__).parents[3] / "docs" / "costs.md").read_text("utf-8")


def test_the_order_of_the_keys_is_the_codes() -> None:
    """The page lists where a price is looked for, nearest first."""
    keys = looked_for("provider", "name", "deployment")

    assert "`, `".join(keys[:3]) + "` and `" + keys[3] in PAGE.replace("\n", " ")


def test_the_names_on_the_page_have_the_prices_it_says() -> None:
    """A date is left aside, a longer name is another model."""
    assert find_price("openai", "gpt-4o-2024-11-20", "chat") == find_price(
        "openai", "gpt-4o", "chat"
    )
    assert find_price("openai", "gpt-4o-audio-preview", "chat") is None


def test_the_defaults_are_the_codes() -> None:
    """No cap, and a question above one dollar."""
    defaults = ExecutionConfig()

    assert defaults.max_cost is None
    assert f"`confirm_above` ({defaults.confirm_above:g} USD)" in PAGE
