"""What the tagger's English lexicon knows of a word: whether it is a name or a common word.

The lexicon (Brill's, MIT licence) lies in the textblob wheel. The package is not imported: it takes
a third of a second for NLTK, and leaves the file open.
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

from holodeck.errors import ConfigError
from holodeck.lib.providers.extractive.words import STOP_WORDS, word_set

__all__ = ["DEMONYMS", "MONTHS_AND_DAYS", "is_common", "is_function_word", "tag"]

MONTHS_AND_DAYS = word_set(
    "january february march april may june july august september october november december jan feb "
    "mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday "
    "sunday"
)

DEMONYMS = word_set(
    "african albanian algerian american arab arabic argentine argentinian armenian asian "
    "australian austrian belgian brazilian british bulgarian canadian catholic chilean chinese "
    "christian colombian croatian cuban czech danish dutch egyptian english ethiopian european "
    "finnish french german greek hindu hungarian icelandic indian indonesian iranian iraqi irish "
    "israeli italian japanese jewish kenyan korean lebanese mexican moroccan muslim nigerian "
    "norwegian pakistani persian peruvian polish portuguese protestant romanian russian scottish "
    "serbian slovak slovenian soviet spanish swedish swiss syrian thai tunisian turkish ukrainian "
    "vietnamese welsh americans australians britons canadians catholics chinese christians "
    "europeans germans greeks indians italians jews muslims romans russians spaniards turks"
)
"""Adjectives and peoples: alone they join everything to everything, so they are no names."""

_FUNCTION_TAGS = frozenset(
    ("DT", "IN", "CC", "PRP", "PRP$", "WRB", "WDT", "WP", "WP$", "MD", "RB", "RBR", "TO", "EX")
)
_NAME_TAGS = ("NNP", "NNPS", "FW")


@cache
def _lexicon() -> dict[str, str]:
    spec = find_spec("textblob")
    if spec is None or not spec.submodule_search_locations:
        raise ConfigError(
            "provider: embedded needs the package 'textblob', which is not installed: "
            "add it with 'pip install holodeck[embedded]'"
        )
    path = Path(spec.submodule_search_locations[0]) / "en" / "en-lexicon.txt"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ConfigError(
            f"the English lexicon cannot be read from {path} ({error.strerror}): reinstall it with "
            "'pip install --force-reinstall textblob'"
        ) from error
    entries = (line.split(" ") for line in lines if line.strip() and not line.startswith(";;;"))
    return {entry[0]: entry[1] for entry in entries}


def tag(word: str) -> str:
    """Return the Penn tag of ``word`` exactly as it is written, ``""`` when it is not known."""
    return _lexicon().get(word, "")


@lru_cache(maxsize=65536)
def is_common(word: str) -> bool:
    """Tell whether ``word``, written small, is an ordinary English word."""
    small = word.casefold()
    if small in STOP_WORDS:
        return True
    known = tag(small)
    if known:
        return not known.startswith(_NAME_TAGS)
    return small.endswith(("ing", "ly")) and len(small) > 5


@lru_cache(maxsize=65536)
def is_function_word(word: str) -> bool:
    """Tell whether ``word`` is one that joins others (an article, a pronoun, an adverb …)."""
    small = word.casefold()
    return small in STOP_WORDS or tag(small).split("|")[0] in _FUNCTION_TAGS
