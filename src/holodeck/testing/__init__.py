"""What agents, tools and engines are tested with: no key, no network, nothing mocked.

``ModelServer`` speaks a vendor's wire format on loopback, ``ScriptedChat`` and ``WordEmbedder``
are models in the process. Each name is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holodeck.testing.contract import EngineContract
    from holodeck.testing.faults import Fault
    from holodeck.testing.looking_up import looks_up
    from holodeck.testing.replies import Reply, ServerRequest, classify, prompt_hash
    from holodeck.testing.resources import FixedResources
    from holodeck.testing.scripted import ScriptedChat
    from holodeck.testing.server import ModelServer
    from holodeck.testing.words import WordEmbedder

__all__ = [
    "EngineContract",
    "Fault",
    "FixedResources",
    "ModelServer",
    "Reply",
    "ScriptedChat",
    "ServerRequest",
    "WordEmbedder",
    "classify",
    "looks_up",
    "prompt_hash",
]

_PLACES = {
    "EngineContract": "holodeck.testing.contract:EngineContract",
    "Fault": "holodeck.testing.faults:Fault",
    "FixedResources": "holodeck.testing.resources:FixedResources",
    "ModelServer": "holodeck.testing.server:ModelServer",
    "Reply": "holodeck.testing.replies:Reply",
    "ScriptedChat": "holodeck.testing.scripted:ScriptedChat",
    "ServerRequest": "holodeck.testing.replies:ServerRequest",
    "WordEmbedder": "holodeck.testing.words:WordEmbedder",
    "classify": "holodeck.testing.replies:classify",
    "looks_up": "holodeck.testing.looking_up:looks_up",
    "prompt_hash": "holodeck.testing.replies:prompt_hash",
}


def __getattr__(name: str) -> Any:  # Any: one of the names above
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from holodeck.lib.imports import load_object

    return load_object(_PLACES[name])


def __dir__() -> list[str]:
    return sorted(__all__)
