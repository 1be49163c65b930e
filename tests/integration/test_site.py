"""The pages become a site: nothing in them points nowhere, and nothing is fetched for it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import holodeck

pytestmark = [pytest.mark.integration, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
OUTSIDE = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "examples" / "README.md"]
"""Pages that are read on their own, and link into the site."""

BUILD = """
import sys

def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo"):
        raise RuntimeError(f"the site is built without a network, and this asked for {arguments}")

sys.addaudithook(refuse)
from sphinx.cmd.build import build_main
sys.exit(build_main(sys.argv[1:]))
"""


def build(source: Path, target: Path) -> subprocess.CompletedProcess[str]:
    """Build the site of a folder as ``make docs`` does, cut off from the network."""
    options = ["-W", "--keep-going", "-q", "-b", "html", "-d", str(target / "doctrees")]
    return subprocess.run(
        [sys.executable, "-c", BUILD, *options, str(source), str(target / "html")],
        env={**os.environ, "PYTHONPATH": str(Path(holodeck.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def slugs(page: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    found = set()
    for heading in re.findall(r"(?m)^#+ (.+)$", page.read_text("utf-8")):
        words = re.sub(r"[^\w\- ]", "", heading.strip().lower())
        found.add(words.replace(" ", "-"))
    return found


def broken_links(page: Path) -> list[str]:
    """Return the links of a page that lead to no file, or to no heading of one."""
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in slugs(target)):
            broken.append(link)
    return broken


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    """Every link and anchor leads somewhere, every page is in the contents, no network is used."""
    done = build(DOCS, tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    pages = {page.relative_to(DOCS).with_suffix(".html").as_posix() for page in DOCS.rglob("*.md")}
    made = {
        page.relative_to(tmp_path / "html").as_posix() for page in (tmp_path / "html").rglob("*")
    }
    assert pages - made == set()


@pytest.mark.parametrize("name", sorted({*holodeck.__all__} - {"__version__"}))
def test_every_public_name_is_in_the_reference(name: str) -> None:
    """What ``from holodeck import …`` offers is told on the page of the Python API."""
    page = (DOCS / "python-api.md").read_text("utf-8")

    assert re.search(rf"^\.\. auto\w+:: holodeck\.{name}$", page, flags=re.MULTILINE)


@pytest.mark.parametrize("wrong", ["[x](nowhere.md)", "[x](a.md#nowhere)"])
def test_a_broken_link_fails_the_build(wrong: str, tmp_path: Path) -> None:
    """The rule above could fail: a page or a heading that is not there is told."""
    source = tmp_path / "docs"
    source.mkdir()
    (source / "conf.py").write_text((DOCS / "conf.py").read_text("utf-8"), encoding="utf-8")
    (source / "index.md").write_text("# I\n\n```{toctree}\na\n```\n", encoding="utf-8")
    (source / "a.md").write_text(f"# A\n\n{wrong}\n", encoding="utf-8")

    done = build(source, tmp_path)

    assert done.returncode != 0
    assert "nowhere" in done.stderr


@pytest.mark.parametrize("page", OUTSIDE, ids=lambda page: page.name)
def test_a_page_outside_the_site_links_into_it(page: Path) -> None:
    """Each link leads to a file, and to a heading of it where it names one."""
    assert broken_links(page) == []


def test_the_rule_about_links_sees_what_it_forbids(tmp_path: Path) -> None:
    """A missing file and a missing heading are found; what is there, and the web, is left alone."""
    page = tmp_path / "page.md"
    page.write_text(
        "# A: `b` c\n[1](page.md) [2](#a-b-c) [3](https://x.y/z) [4](no.md) [5](page.md#d)\n",
        encoding="utf-8",
    )

    assert broken_links(page) == ["no.md", "page.md#d"]
