"""A name and what follows it → the type of the entity, by telling words."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from holodeck.lib.providers.extractive.gazetteer import GIVEN_NAMES, PLACES
from holodeck.lib.providers.extractive.words import word_set

__all__ = ["UNKNOWN", "allowed_kind", "guess_kind"]

UNKNOWN = "concept"
"""The type of a name that nothing gives away."""

_PERSON_TITLES = word_set(
    "mr mrs ms miss dr prof professor sir lord lady dame captain capt colonel col lieutenant lt "
    "sergeant sgt commander admiral rev reverend saint pope king queen prince princess emperor "
    "empress president senator chancellor baron baroness countess uncle aunt"
)
_PERSON_PARTICLES = word_set("van von bin ibn")
_INITIAL = regex.compile(r"(?:\p{Lu}\.)+")
_PERSON_FOLLOWS = regex.compile(
    r"\s*(?:\((?:born|b\.|née|c\.\s*\d|\d{1,2}\s+\p{L}+\s+\d{3,4}|\p{L}+\s+\d{1,2},\s+\d{4}"
    r"|\d{3,4}\s*[–-])|,?\s+who\b|,?\s+(?:was\s+)?born\b|,?\s+died\b)"
)
_TELLING_WORDS: dict[str, frozenset[str]] = {
    "organization": word_set(
        "company co inc corp corporation ltd llc plc gmbh ag university college institute school "
        "academy society association foundation ministry department committee council party bank "
        "agency army navy force forces corps club museum hospital records press union league "
        "orchestra parliament congress senate court airlines airways motors group bureau "
        "commission organization organisation authority federation trust laboratory laboratories "
        "studios entertainment industries services network times church team brothers band"
    ),
    "event": word_set(
        "war wars battle expedition olympics festival conference revolution championship "
        "championships cup election elections siege massacre crisis disaster games earthquake "
        "hurricane rebellion uprising tournament final summit congresses treaty accords pact "
        "mission ceremony awards bowl prix"
    ),
    "location": word_set(
        "island islands isle sea bay mountain mountains mount mt river lake ocean city town "
        "county province state states republic kingdom empire street avenue road square park "
        "bridge airport station castle cape peninsula valley desert coast strait glacier forest "
        "district region territory village borough gulf pole plateau harbour harbor canal creek "
        "falls hill hills beach oblast municipality parish palace tower"
    ),
}
_ENDINGS: dict[str, tuple[str, ...]] = {
    "organization": tuple(
        word_set(
            "公司 集团 集團 大学 大學 学院 學院 研究所 银行 銀行 医院 醫院 协会 協會 组织 組織 "
            "委员会 委員會 博物馆 博物館"
        )
    ),
    "location": tuple(word_set("省 市 县 縣 州 岛 島 湖 河 山 共和国 共和國 王国 王國 帝国 帝國")),
    "event": tuple(word_set("战争 戰爭")),
}


def guess_kind(name: str, following: str) -> str:
    """Return person, organization, event, location or ``""``.

    Args:
        name: The name.
        following: What the sentence has after it.
    """
    words = name.split()
    folded = [word.casefold().rstrip(".") for word in words]
    if folded[0] in _PERSON_TITLES and len(words) > 1 and folded[1] != "of":
        return "person"
    # What decides is the head: the word before "of", else the last, else the first.
    head = folded[folded.index("of") - 1] if "of" in folded[1:] else folded[-1]
    for kind, telling in _TELLING_WORDS.items():
        if head in telling:
            return kind
    if folded[0] in ("mount", "mt", "lake", "cape"):
        return "location"
    if name.casefold() in PLACES:
        return "location"
    for kind, endings in _ENDINGS.items():
        if name.endswith(endings):
            return kind
    return "person" if _looks_like_person(words, following) else ""


def _looks_like_person(words: Sequence[str], following: str) -> bool:
    if _PERSON_FOLLOWS.match(following):
        return True
    if len(words) < 2:
        return False
    if words[0].casefold() in GIVEN_NAMES and "of" not in words:
        return True
    has_initial = any(_INITIAL.fullmatch(word) for word in words[:-1])
    return has_initial or any(word in _PERSON_PARTICLES for word in words[1:-1])


def allowed_kind(kind: str, entity_types: Sequence[str]) -> str:
    """Return ``kind`` as the configured types spell it; what they lack becomes unknown.

    With types configured and no ``concept`` among them, the unknown type is ``""``.
    """
    if not entity_types:
        return kind or UNKNOWN
    spelled = {entity_type.casefold(): entity_type for entity_type in entity_types}
    return spelled.get(kind, spelled.get(UNKNOWN, ""))
