"""The prompts of ``profile: lean``: short, and ours. What is read in the replies is the same.

Placeholders are those of the library's prompts, so that either can stand in the other's place.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["LEAN_PROMPTS"]

_EXTRACT = """\
Read the text and list the things it names and how they are connected.
One record a line, nothing else:
("entity"<|>NAME<|>TYPE<|>what the text says of it, in one short sentence)
("relationship"<|>NAME<|>NAME<|>how the first is connected to the second, in a few words<|>STRENGTH)
TYPE is one of the entity types below. STRENGTH is a number from 1, hardly, to 10, closely.
Write each name as the text does, in full and always alike. Both names of a relationship are \
entities of the list. End with <|COMPLETE|>.

Entity_types: {entity_types}
Text:
{input_text}
######
Records:
"""

_SUMMARIZE = """\
Make one description of at most {max_length} words out of the descriptions below: keep every fact, \
say none twice, and where two contradict each other say so. Answer with the description alone.

Subject: {entity_name}
Description List: {description_list}
######
Description:
"""

_REPORT = """\
Say what the records below are about, for readers who know nothing of it. Answer with a JSON object:
{{"title": "short, with the main names", "summary": "two or three sentences", "rating": 0 to 10 by \
importance, "rating_explanation": "one sentence", "findings": [{{"summary": "one sentence", \
"explanation": "two or three sentences"}}]}}
One to four findings, {max_report_length} words in all at most. Say only what the records say, and \
name those that a statement rests on by their numbers: [Data: Entities (1, 2); Relationships (3)].

Text:
{input_text}
######
JSON:
"""

LEAN_PROMPTS: Mapping[str, str] = {
    "extract": _EXTRACT,
    "summarize": _SUMMARIZE,
    "report": _REPORT,
}
"""Our name of a prompt → what stands in the place of the library's."""
