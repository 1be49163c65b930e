"""``${NAME}`` in a text."""

from __future__ import annotations

import pytest

from holodeck.config.environment import VariableError, expand, variables_in

ENVIRONMENT = {"A": "x", "EMPTY": "", "BLANK": "  ", "PRICE": "$5"}


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("${A}", "x"),
        ("pre-${A}-post", "pre-x-post"),
        ("${A}${A}", "xx"),
        ("${UNSET:-d}", "d"),
        ("${EMPTY:-d}", "d"),
        ("${UNSET:-}", ""),
        ("${A:-d}", "x"),
        ("${UNSET:-http://h:1/v1}", "http://h:1/v1"),
        ("[${EMPTY}]", "[]"),
        ("$${A}", "${A}"),
        ("costs $5 or $A {A}", "costs $5 or $A {A}"),
        ("${PRICE}", "$5"),
    ],
)
def test_a_variable_is_replaced_as_in_a_shell(text: str, expanded: str) -> None:
    """Defaults count where a variable is unset or empty; ``$${`` is the two characters."""
    assert expand(text, ENVIRONMENT) == expanded


@pytest.mark.parametrize(
    "text", ["${UNSET}", "${EMPTY}", "${BLANK}", "${", "${}", "${A", "${a b}", "${A:-${B}}"]
)
def test_what_cannot_be_replaced_is_an_error(text: str) -> None:
    """Nothing is left as it is, and no empty value is taken where the whole value is meant."""
    with pytest.raises(VariableError):
        expand(text, ENVIRONMENT)


def test_the_names_of_a_text_are_known() -> None:
    """Messages name the variables that a value came from; what is escaped names none."""
    assert variables_in("${A}-${B:-c}-$${D}") == ("A", "B")
