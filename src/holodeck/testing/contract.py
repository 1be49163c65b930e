"""What every engine must do, as tests that a subclass inherits.

Example:
    Put this into a test module, with the engine's name in ``ENGINES`` and in YAML's model::

        class TestMyEngine(EngineContract):
            @classmethod
            def make_tool(cls, folder, **options):
                return VectorStoreTool(
                    VectorstoreTool(name="knowledge", source="docs", engine="mine"), str(folder)
                )

What an engine cannot do is said by a flag, and its tests are skipped visibly.
"""

from __future__ import annotations

from holodeck.testing.contract_index import IndexRules
from holodeck.testing.contract_search import SearchRules

__all__ = ["EngineContract"]


class EngineContract(IndexRules, SearchRules):
    """Subclass this, override ``make_tool``, and set the flags.

    The flags and ``make_tool`` are described in ``holodeck.testing.contract_base``. One index is
    built for the class, and one update of it; the other tests work on copies.
    """
