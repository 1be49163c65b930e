"""Every kind of broken file is answered by line, field and the mend."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import holodeck
from holodeck.cli.run import main
from holodeck.config.loader import load_agent
from holodeck.errors import ConfigError

HEAD = "name: a\nmodel: {provider: openai}\n"  # lines 1-2
TOOL = HEAD + "tools:\n  - name: docs\n    source: docs/\n"  # lines 3-5
GRAPH = TOOL + "    engine: graphrag\n    graphrag:\n"  # lines 6-7
MODEL = "name: a\nmodel:\n"  # lines 1-2

BROKEN: dict[str, tuple[str, int | None, str | None, str]] = {
    # what is wrong: text, line, field, part of the message
    "empty file": ("", None, None, "is empty"),
    "comments only": ("# later\n", None, None, "is empty"),
    "a list at the top": ("- a\n- b\n", None, None, "lines of 'key: value'"),
    "a text at the top": ("hello\n", None, None, "lines of 'key: value'"),
    "two documents": ("name: a\n---\nname: b\n", 2, None, "single document"),
    "an open bracket": ("name: [a\nmodel: x\n", 2, None, "not valid YAML"),
    "an open quote": ('name: "a\nmodel: x\n', 3, None, "not valid YAML"),
    "a tab as indentation": (MODEL + "\tprovider: openai\n", 3, None, "spaces"),
    "a colon in plain text": ("name: a: b\n", 1, None, "not valid YAML"),
    "an unknown alias": ("name: *nobody\n", 1, None, "undefined alias"),
    "an alias of itself": ("name: &a [*a]\n", 1, None, "stands inside"),
    "a tag of Python's": ("name: !!python/object:os.system x\n", 1, "name", "tags"),
    "a tag of one's own": ("name: !env X\n", 1, "name", "tags"),
    "a control character": ("name: a\nmodel: '\0'\n", 2, None, "U+0000"),
    "a key twice": (HEAD + "name: b\n", 3, "name", "first in line 1"),
    "a nested key twice": (
        MODEL + "  name: x\n  temperature: 0\n  name: y\n",
        5,
        "model.name",
        "first in line 3",
    ),
    "a number as a key": (HEAD + "3: x\n", 3, None, "must be text"),
    "a list as a key": (HEAD + "? [a]\n: x\n", 3, None, "must be text"),
    "an impossible date": (HEAD + "description: 2024-13-01\n", 3, "description", "month"),
    "no model": ("name: a\n", 1, "model", "required"),
    "a tool without a source": (HEAD + "tools:\n  - name: docs\n", 4, "tools[0].source", "add it"),
    "an unknown key": (HEAD + "instructon: x\n", 3, "instructon", "did you mean 'instructions'"),
    "an unknown key far from all": (HEAD + "zzz: x\n", 3, "zzz", "the keys here are name"),
    "an unknown key in graphrag": (
        GRAPH + "      chunksize: 300\n",
        8,
        "tools[0].graphrag.chunksize",
        "did you mean 'chunk_size'",
    ),
    "an unknown key in a price": (
        HEAD + "execution:\n  prices:\n    gpt-x: {input: 1, out: 2}\n",
        5,
        "execution.prices.gpt-x.out",
        "did you mean 'output'",
    ),
    "a price that is no mapping": (
        HEAD + "execution:\n  prices:\n    gpt-x: 3\n",
        5,
        "execution.prices.gpt-x",
        "lines of 'key: value'",
    ),
    "a price below nothing": (
        HEAD + "execution:\n  prices:\n    gpt-x: {input: -1}\n",
        5,
        "execution.prices.gpt-x.input",
        "at least 0",
    ),
    "a cap of nothing": (
        HEAD + "execution: {max_cost: 0}\n",
        3,
        "execution.max_cost",
        "greater than 0",
    ),
    "an unknown key in a model": (MODEL + "  nam: x\n", 3, "model.nam", "did you mean 'name'"),
    "a setting under both its names": (
        MODEL + "  api_base: http://a\n  endpoint: http://b\n",
        4,
        "model.endpoint",
        "one setting",
    ),
    "an unknown engine": (
        TOOL + "    engine: neo4j\n",
        6,
        "tools[0].engine",
        "engine must be 'default' or 'graphrag', not 'neo4j'",
    ),
    "an unknown provider": (MODEL + "  provider: acme\n", 3, "model.provider", "'openai'"),
    "an unknown kind of tool": (TOOL + "    type: shell\n", 6, "tools[0].type", "'vectorstore'"),
    "a level too deep": (
        GRAPH + "      community_level: 6\n",
        8,
        "tools[0].graphrag.community_level",
        "community_level must be 0-5, not 6",
    ),
    "a level below the root": (
        GRAPH + "      community_level: -1\n",
        8,
        "tools[0].graphrag.community_level",
        "community_level must be 0-5, not -1",
    ),
    "chunks too small": (GRAPH + "      chunk_size: 49\n", 8, None, "chunk_size must be 50-2,000"),
    "a text for a number": (
        GRAPH + "      chunk_size: many\n",
        8,
        "tools[0].graphrag.chunk_size",
        "chunk_size must be a whole number, not 'many'",
    ),
    "a fraction for a whole number": (
        GRAPH + "      max_gleanings: 1.5\n",
        8,
        "tools[0].graphrag.max_gleanings",
        "max_gleanings must be a whole number, not 1.5",
    ),
    "true for a number": (
        GRAPH + "      community_level: yes\n",
        8,
        "tools[0].graphrag.community_level",
        "not true or false",
    ),
    "a word for a truth": (TOOL + "    strict: perhaps\n", 6, "tools[0].strict", "true or false"),
    "an endless number": (
        HEAD + "execution:\n  llm_timeout: .inf\n",
        4,
        "execution.llm_timeout",
        "finite",
    ),
    "no time at all": (
        HEAD + "execution:\n  llm_timeout: 0\n",
        4,
        "execution.llm_timeout",
        "greater than 0",
    ),
    "a number for a name": (MODEL + "  name: 4\n", 3, "model.name", "put it in quotes"),
    "a YAML 1.1 truth for a name": ("name: no\nmodel: {}\n", 1, "name", "put it in quotes"),
    "a mapping for a list": (HEAD + "tools:\n  name: x\n", 3, "tools", "must be a list"),
    "a text for a mapping": ("name: a\nmodel: gpt-4o\n", 2, "model", "must be a mapping"),
    "an empty list": (
        GRAPH + "      entity_types: []\n",
        8,
        "tools[0].graphrag.entity_types",
        "must not be empty",
    ),
    "an empty item": (
        GRAPH + "      entity_types:\n        - person\n        - ''\n",
        10,
        "tools[0].graphrag.entity_types[1]",
        "must not be empty",
    ),
    "a name that is a path": (
        HEAD + "tools:\n  - source: x\n    name: ../up\n",
        5,
        "tools[0].name",
        "the first a letter or digit), not '../up'",
    ),
    "two names that differ in case": (
        TOOL + "  - source: x\n    name: DOCS\n",
        7,
        "tools[1].name",
        "'DOCS' is the name of tools[0] too where case is ignored: rename one",
    ),
    "one name twice": (
        TOOL + "  - source: x\n    name: docs\n",
        7,
        "tools[1].name",
        "'docs' is the name of tools[0] too: rename one",
    ),
    "graphrag for the default engine": (
        TOOL + "    graphrag: {}\n",
        6,
        "tools[0].graphrag",
        "only valid when engine='graphrag'",
    ),
    "a setting of the other engine": (
        TOOL + "    engine: graphrag\n    top_k: 3\n",
        7,
        "tools[0].top_k",
        "no effect with engine: graphrag",
    ),
    "a remote store": (TOOL + "    database: s3://a/b\n", 6, "tools[0].database", "name a folder"),
    "the default overlap with a small size": (
        GRAPH + "      chunk_size: 50\n",
        8,
        "tools[0].graphrag.chunk_size",
        "chunk_overlap (100) must be smaller than chunk_size (50)",
    ),
    "an overlap as large as the chunk": (
        GRAPH + "      chunk_size: 100\n      chunk_overlap: 100\n",
        9,
        "tools[0].graphrag.chunk_overlap",
        "chunk_overlap (100) must be smaller than chunk_size (100)",
    ),
    "both kinds of instructions": (
        HEAD + "instructions:\n  inline: a\n  file: b\n",
        3,
        "instructions",
        "exactly one",
    ),
    "a blank key": (MODEL + "  api_key: '  '\n", 3, "model.api_key", "api_key is empty"),
    "a key that was not replaced": (
        MODEL + "  api_key: $${OPENAI_API_KEY}\n",
        3,
        "model.api_key",
        "not replaced",
    ),
    "an unset variable": (
        MODEL + "  provider: openai\n  api_key: ${UNSET}\n",
        4,
        "model.api_key",
        "environment variable UNSET is not set",
    ),
    "an empty variable": (MODEL + "  name: ${EMPTY}\n", 3, "model.name", "EMPTY is set but empty"),
    "a variable that names a variable": (
        MODEL + "  name: ${NESTED}\n",
        3,
        "model.name",
        "NESTED holds '${'",
    ),
    "a variable without an end": (MODEL + "  name: ${EMPTY\n", 3, "model.name", "not understood"),
    "a variable with a wrong name": (
        MODEL + "  name: ${1X}\n",
        3,
        "model.name",
        "${NAME:-default}",
    ),
    "a variable with another shell's form": (
        MODEL + "  name: ${X:?y}\n",
        3,
        "model.name",
        "not understood",
    ),
    "a variable without quotes in braces": (
        "name: a\nmodel: {name: ${EMPTY}}\n",
        2,
        None,
        "needs quotes",
    ),
    "a variable of the wrong kind": (
        MODEL + "  temperature: ${SECRET}\n",
        3,
        "model.temperature",
        "temperature must be a number (it comes from ${SECRET})",
    ),
}

EMBEDDED = "name: a\nmodel:\n  provider: embedded\n"  # lines 1-3
RULES = EMBEDDED + "tools:\n  - name: g\n    source: docs/\n    engine: graphrag\n    graphrag:\n"

BROKEN |= {
    "a blank name": ("name: '  '\nmodel: {}\n", 1, "name", "name is blank"),
    "a name on two lines": (MODEL + '  name: "a\\nb"\n', 3, "model.name", "one line"),
    "half a character": (MODEL + '  name: "\\ud800"\n', 3, "model.name", "half characters"),
    "a bell in a description": (
        TOOL + '    description: "ring \\a"\n',
        6,
        "tools[0].description",
        "U+0007",
    ),
    "a NUL in a path": (
        HEAD + 'tools:\n  - name: t\n    source: "a\\0b"\n',
        5,
        "tools[0].source",
        "U+0000",
    ),
    "an encoding that nobody knows": (
        TOOL + "    encoding_fallback: latin-wibble\n",
        6,
        "tools[0].encoding_fallback",
        "no encoding of text",
    ),
    "an encoding of something else": (
        TOOL + "    encoding_fallback: base64\n",
        6,
        "tools[0].encoding_fallback",
        "no encoding of text",
    ),
    "an encoding that is tried anyway": (
        TOOL + "    encoding_fallback: UTF-8\n",
        6,
        "tools[0].encoding_fallback",
        "always tried first",
    ),
    "an address with an open bracket": (
        MODEL + "  api_base: http://[::1\n",
        3,
        "model.api_base",
        "host or port that cannot be read",
    ),
    "a port that is none": (
        MODEL + "  endpoint: http://host:99999/v1\n",
        3,
        "model.endpoint",
        "host or port that cannot be read",
    ),
    "an address with a space": (
        MODEL + "  api_base: 'http://exa mple.com'\n",
        3,
        "model.api_base",
        "a space",
    ),
    "an address of another kind": (
        MODEL + "  api_base: ftp://host\n",
        3,
        "model.api_base",
        "http:// or https://",
    ),
    "an address without its scheme": (
        MODEL + "  provider: openai\n  endpoint: box:8000\n",
        4,
        "model.endpoint",
        "http:// or https://",
    ),
    "an address of no host": (MODEL + "  api_base: http:///v1\n", 3, "model.api_base", "no host"),
    "an address of an impossible host": (
        MODEL + "  api_base: http://a..b\n",
        3,
        "model.api_base",
        "no possible host",
    ),
    "an address with a number too large": (
        MODEL + "  api_base: http://300.1.1.1\n",
        3,
        "model.api_base",
        "no possible host",
    ),
    "an address with a question": (
        MODEL + "  api_base: http://host/v1?api-version=1\n",
        3,
        "model.api_base",
        "drop '?'",
    ),
    "a key that no request can carry": (
        MODEL + "  api_key: sk-tést-CANARY\n",
        3,
        "model.api_key",
        "no request can carry",
    ),
    "more tokens than there are": (
        MODEL + "  max_tokens: 1000000000000\n",
        3,
        "model.max_tokens",
        "max_tokens must be 1-10,000,000",
    ),
    "more digits than a number has": (
        MODEL + f"  max_tokens: {'9' * 5000}\n",
        3,
        "model.max_tokens",
        "more digits",
    ),
    "more time than a clock counts": (
        HEAD + "execution:\n  search_timeout: 1e300\n",
        4,
        "execution.search_timeout",
        "at most 31,536,000",
    ),
    "more calls than a machine can make": (
        HEAD + "execution:\n  concurrency: 100000\n",
        4,
        "execution.concurrency",
        "1-1,000",
    ),
    "loud and quiet": (
        HEAD + "execution:\n  verbose: true\n  quiet: true\n",
        4,
        "execution.verbose",
        "exclude each other",
    ),
    "a threshold that nothing looks at": (
        GRAPH + "      summarize: always\n      summary_threshold: 100\n",
        9,
        "tools[0].graphrag.summary_threshold",
        "no effect with summarize: always",
    ),
    "a deployment at OpenAI's": (
        MODEL + "  provider: openai\n  deployment_name: d\n",
        4,
        "model.deployment_name",
        "use provider 'azure_openai'",
    ),
    "a version at OpenAI's": (
        MODEL + "  provider: openai\n  api_version: v\n",
        4,
        "model.api_version",
        "use provider 'azure_openai'",
    ),
    "a context size at Azure's": (
        MODEL + "  provider: azure_openai\n  context_size: 4096\n",
        4,
        "model.context_size",
        "use provider 'ollama'",
    ),
    "a temperature for rules": (
        EMBEDDED + "  temperature: 0.5\n",
        4,
        "model.temperature",
        "no language model",
    ),
    "a key for rules": (EMBEDDED + "  api_key: sk-CANARY\n", 4, "model.api_key", "no server"),
    "a server for rules": (
        EMBEDDED + "  endpoint: http://user:CANARY@box\n",
        4,
        "model.endpoint",
        "reaches no server",
    ),
    "gleanings by rules": (
        RULES + "      max_gleanings: 2\n",
        9,
        "tools[0].graphrag.max_gleanings",
        "in one pass",
    ),
    "claims by rules": (
        RULES + "      skip_claim_extraction: false\n",
        9,
        "tools[0].graphrag.skip_claim_extraction",
        "cannot extract claims",
    ),
    "a type that rules cannot tell": (
        RULES + "      entity_types:\n        - person\n        - ship\n",
        11,
        "tools[0].graphrag.entity_types[1]",
        "holds 'ship'",
    ),
    "a form of answers by rules": (
        RULES + "      response_type: one line\n",
        9,
        "tools[0].graphrag.response_type",
        "quotes the documents",
    ),
    "settings for the library's own command line by rules": (
        RULES + "      settings_file: true\n",
        9,
        "tools[0].graphrag.settings_file",
        "cannot use provider 'embedded'",
    ),
    "vectors of a width that there is not": (
        EMBEDDED + "tools:\n  - name: t\n    source: docs\n    embedding_dimensions: 100\n",
        7,
        "tools[0].embedding_dimensions",
        "one of 64, 128, 256",
    ),
    "vectors of a model that there is not": (
        RULES + "      embedding_model: text-embedding-3-small\n",
        9,
        "tools[0].graphrag.embedding_model",
        "'wordllama'",
    ),
    "a language model that there is not": (
        EMBEDDED + "  name: gpt-4o\n",
        4,
        "model.name",
        "use name: extractive",
    ),
    "a block of another provider": (
        GRAPH + "      search_model:\n        provider: embedded\n        max_tokens: 5\n",
        10,
        "tools[0].graphrag.search_model.max_tokens",
        "no effect with provider 'embedded'",
    ),
}

for _name in (
    "../../etc",
    "a/b",
    "..",
    ".",
    "C:x",
    "CON",
    "nul",
    "com1",
    "x" * 300,
    "a b",
    "é",
    "-x",
):
    BROKEN[f"the tool name {_name[:9]!r}"] = (
        HEAD + f"tools:\n  - source: d\n    name: {_name!r}\n",
        5,
        "tools[0].name",
        "name",
    )
BROKEN["a tool name with a NUL"] = (
    HEAD + 'tools:\n  - source: d\n    name: "x\\0y"\n',
    5,
    "tools[0].name",
    "letters, digits",
)
BROKEN["an empty tool name"] = (
    HEAD + "tools:\n  - source: d\n    name: ''\n",
    5,
    "tools[0].name",
    "must not be empty",
)

ENVIRON = {"EMPTY": "", "NESTED": "${OTHER}", "SECRET": "sk-test-CANARY-123"}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_is_answered_by_line_field_and_mend(
    kind: str, write_agent: Callable[[str], Path]
) -> None:
    """The error names the file, the line and the field, and its message says what to mend."""
    text, line, field, said = BROKEN[kind]
    file = write_agent(text)

    with pytest.raises(ConfigError) as caught:
        load_agent(file, environ=ENVIRON)

    assert caught.value.file == file
    assert caught.value.line == line
    if field is not None:
        assert caught.value.field == field
    assert said in caught.value.message
    assert "CANARY" not in str(caught.value)
    assert "Value error" not in str(caught.value)


@pytest.mark.parametrize("kind", BROKEN)
def test_the_command_line_answers_a_broken_file_and_ends_with_2(
    kind: str,
    write_agent: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """``validate`` prints place and mend on stderr, nothing on stdout, and no trace."""
    text, line, field, said = BROKEN[kind]
    for name, value in ENVIRON.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("UNSET", raising=False)
    file = write_agent(text)

    code = main(["validate", str(file)])

    printed = capsys.readouterr()
    place = str(file) + ("" if line is None else f":{line}")
    assert code == 2
    assert printed.out == ""
    assert printed.err.startswith(f"error: {place}: {f'{field}: ' if field else ''}")
    assert said in printed.err
    assert "Traceback" not in printed.err


def test_no_broken_file_makes_the_command_line_load_what_is_heavy(tmp_path: Path) -> None:
    """All of them in one process: neither the graph library nor a model's client is imported."""
    for number, (text, *_) in enumerate(BROKEN.values()):
        (tmp_path / f"{number}.yaml").write_text(text, encoding="utf-8")
    code = (
        "import sys\nfrom holodeck.cli.run import main\n"
        "ends = {main(['validate', file]) for file in sys.argv[1:]}\n"
        "print(ends, *sorted({name.split('.')[0] for name in sys.modules}))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, sorted(tmp_path.iterdir()))],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **ENVIRON, "PYTHONPATH": str(Path(holodeck.__file__).parents[1])},
    )

    ends, *modules = done.stdout.split()
    heavy = {"graphrag", "lancedb", "litellm", "numpy", "openai", "pandas", "pyarrow", "spacy"}
    assert ends == "{2}"
    assert heavy & set(modules) == set()


def test_all_problems_are_listed_in_the_order_of_the_file(
    write_agent: Callable[[str], Path],
) -> None:
    """One run shows every mistake, the first of the file first."""
    file = write_agent(GRAPH + "      community_level: 9\n      max_gleanings: 9\nextra: 1\n")

    with pytest.raises(ConfigError) as caught:
        load_agent(file, environ={})

    assert str(caught.value).splitlines() == [
        f"{file}:8: tools[0].graphrag.community_level: 3 problems:",
        f"  {file}:8: tools[0].graphrag.community_level: community_level must be 0-5, not 9",
        f"  {file}:9: tools[0].graphrag.max_gleanings: max_gleanings must be 0-5, not 9",
        f"  {file}:10: extra: unknown key 'extra'; the keys here are name, description, model, "
        "instructions, tools, evaluations, test_cases, test_cases_file, execution",
    ]


def test_a_slip_that_makes_many_problems_fills_no_screen(
    write_agent: Callable[[str], Path],
) -> None:
    """Fifty are listed, the others counted."""
    file = write_agent(MODEL + "".join(f"  key{number}: 1\n" for number in range(60)))

    with pytest.raises(ConfigError, match="60 problems") as caught:
        load_agent(file, environ={})

    lines = str(caught.value).splitlines()
    assert len(lines) == 52
    assert lines[-1] == "  and 10 more"


@pytest.mark.parametrize(
    "setting",
    [
        "  api_key: [sk-test-CANARY-123]\n",
        "  api_key: {sk-test-CANARY-123: 1}\n",
        "  api_key: *sk-test-CANARY-123\n",
        "  api_key: !sk-test-CANARY-123\n",
        "  api_key: 'sk-test-CANARY-123\n",
        "  api_key: sk-test-CANARY-123: x\n",
        "  api_base: [http://user:sk-test-CANARY-123@host]\n",
        "  temperature: 3\n  api_key: sk-test-CANARY-123\n",
        " sk-test-CANARY-123\n",
    ],
)
def test_a_key_never_stands_in_an_error(setting: str, write_agent: Callable[[str], Path]) -> None:
    """However a key is misplaced, neither the error nor what it was raised from shows it."""
    file = write_agent(MODEL + setting)

    with pytest.raises(ConfigError) as caught:
        load_agent(file, environ={})

    assert "CANARY" not in str(caught.value)
    assert "CANARY" not in repr(caught.value)
    assert caught.value.__context__ is None
