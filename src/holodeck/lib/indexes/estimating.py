"""What the estimates of all engines share: models, the word they are asked first, and prices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from holodeck.lib.contracts import EstimateRow, Span, Usage
from holodeck.lib.prices import Kind
from holodeck.lib.resources import Resources
from holodeck.models.llm import ModelSettings

__all__ = ["PaidModel", "priced", "probe_rows"]

_ANSWER_TO_A_WORD = Span(low=1, high=64)


@dataclass(frozen=True, kw_only=True)
class PaidModel:
    """A model that a build asks.

    Attributes:
        where: Dotted path of the setting that chose it, counted from the tool.
    """

    settings: ModelSettings
    kind: Kind
    where: str


def probe_rows(models: Sequence[PaidModel], resources: Resources) -> list[EstimateRow]:
    """Return the one word that each model behind a server is asked beforehand."""
    return [
        EstimateRow(
            step=f"probe {model.kind}",
            provider=model.settings.provider,
            model=model.settings.name or "",
            calls=Span.exactly(1),
            input_tokens=Span.exactly(1),
            output_tokens=_ANSWER_TO_A_WORD if model.kind == "chat" else Span(),
        )
        for model in models
        if resources.reach.is_served(model.settings)
    ]


def priced(row: EstimateRow, models: Sequence[PaidModel], resources: Resources) -> EstimateRow:
    """Return the row with what it costs, where the price of its model is known."""
    kind: Kind = "embedding" if "embed" in row.step else "chat"
    (settings,) = [each.settings for each in models if each.kind == kind]
    price = resources.reach.price(settings, kind)
    if price is None:
        return row
    low, high = (
        price.of(Usage(input_tokens=round(sent), output_tokens=round(answered)))
        for sent, answered in (
            (row.input_tokens.low, row.output_tokens.low),
            (row.input_tokens.high, row.output_tokens.high),
        )
    )
    return replace(row, cost=Span(low=low, high=high))
