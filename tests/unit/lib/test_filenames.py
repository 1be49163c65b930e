"""Names of files, where the system's encoding cannot spell them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from holodeck.lib.filenames import readable_name, shown
from holodeck.lib.paths import openable


@pytest.mark.unit
@pytest.mark.parametrize("name", ["a.txt", "삼성.txt", "🚀 👨‍👩‍👧‍👦.md", "e\u0301.txt"])
def test_a_name_in_any_script_is_text(name: str) -> None:
    """A name that is one line of text is used as it is, composed or not."""
    assert readable_name(name) == name


@pytest.mark.unit
@pytest.mark.parametrize("name", ["a\nb", "a\rb", "a\x1b[2J", "a\u2028b", "a\x85b", "\udce9", "\t"])
def test_a_name_that_is_not_one_line_of_text_is_none(name: str) -> None:
    """Names that could forge a line or that no encoding can write are not used."""
    assert readable_name(name) is None
    assert shown(name).isprintable()


@pytest.mark.integration
def test_files_open_under_an_ascii_locale(tmp_path: Path) -> None:
    """A path from YAML opens and a listed name is text where Python takes names for ASCII."""
    folder = tmp_path / "문서"
    folder.mkdir()
    (folder / "삼성.txt").write_text("x", encoding="utf-8")
    code = (
        "import sys, os\n"
        "from pathlib import Path\n"
        "from holodeck.lib.filenames import *\n"
        "from holodeck.lib.paths import *\n"
        "assert sys.getfilesystemencoding() != 'utf-8'\n"
        "told = Path(os.fsencode(sys.argv[1]).decode('utf-8'))\n"
        "for root in (told, Path(sys.argv[1])):\n"
        "    print(*[ascii(readable_name(name)) for name in os.listdir(openable(root))])\n"
    )

    child = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        env={
            "PYTHONPATH": os.pathsep.join(sys.path),
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
            "LC_ALL": "C",
        },
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert child.stderr == ""
    assert child.stdout.split() == [ascii("삼성.txt")] * 2
    assert openable(folder) == folder
