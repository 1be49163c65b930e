"""What the global options say, for the commands and for whoever reports their errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Session", "Verbosity"]

Verbosity = Literal["quiet", "normal", "phases", "verbose"]
"""``phases``: normal for a command that spends time or money, and says on what."""


@dataclass(kw_only=True)
class Session:
    """One call of the command line.

    Attributes:
        as_json: Whether stdout gets one JSON document and nothing else.
        verbosity: How much stderr gets; ``normal`` until an option, the agent's file or the
            command says otherwise.
    """

    as_json: bool = False
    verbosity: Verbosity = "normal"

    @property
    def is_quiet(self) -> bool:
        """Whether only warnings and errors are said."""
        return self.verbosity == "quiet"

    @property
    def is_verbose(self) -> bool:
        """Whether every step is said, and an unexpected error with its trace."""
        return self.verbosity == "verbose"
