"""Numbers in prose."""

from __future__ import annotations

import pytest

from holodeck.lib.test_runner.metrics.numbers import numbers_in


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("27 ships on 27 July 1866.", [27, 27, 1866]),
        ("1e6, 1.5E-3, 2e−2", [1e6, 1.5e-3, 0.02]),
        ("1,000,000 and 1 000 000 and 1\u202f000\u00a0000", [1e6, 1e6, 1000, 0]),
        ("12\u2009345.5", [12345.5]),
        ("-5 −5 –5 +5", [-5, -5, -5, 5]),
        ("1914–1918 and 3-4", [1914, 1918, 3, 4]),
        ("0.1 .1 -.1", [0.1, 0.1, -0.1]),
        ("12,5 or 0,125 or 12,500", [12.5, 0.125, 12500]),
        ("in 1866 200 men, 5km", [1866, 200, 5]),
        ("v1.2 1.2.3 27.07.1866 1.234,5 H2O", []),
        ("9" * 400, []),
    ],
)
def test_numbers_are_read_as_people_write_them(text: str, numbers: list[float]) -> None:
    """Signs, exponents and groups belong to a number; ranges, dates and versions are none."""
    assert numbers_in(text) == pytest.approx(numbers)
