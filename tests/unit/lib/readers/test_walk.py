"""The walk: every file once, in order, and never a hang."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from holodeck.errors import SourceNotFoundError
from holodeck.lib.documents import OWN_FOLDER_MARK, SkippedFile
from holodeck.lib.readers.walk import walk

pytestmark = pytest.mark.unit


def write(root: Path, *names: str) -> None:
    """Write files of these names, with their folders."""
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name, encoding="utf-8")


def paths(root: Path, *, allow_external_links: bool = False) -> list[str]:
    """What is found below a root."""
    found = walk(root, allow_external_links=allow_external_links)
    return [file.path for file in found.files]


def skipped(root: Path) -> dict[str, str]:
    """What is skipped below a root, with the reasons."""
    return {file.path: file.reason for file in walk(root).skipped}


def test_files_are_found_in_the_order_of_their_paths(tmp_path: Path) -> None:
    """The order is that of the code points of the whole path, on every machine."""
    write(tmp_path, "b.txt", "a/z.txt", "a.txt", "B.txt", "é.txt", "a/b/c.txt")

    assert paths(tmp_path) == ["B.txt", "a.txt", "a/b/c.txt", "a/z.txt", "b.txt", "é.txt"]


def test_a_file_is_a_source_too(tmp_path: Path) -> None:
    """A source that is one file has its name as path."""
    write(tmp_path, "docs/a.txt")

    found = walk(tmp_path / "docs" / "a.txt")

    assert [(file.path, file.file.read_bytes()) for file in found.files] == [
        ("a.txt", b"docs/a.txt")
    ]


def test_a_missing_source_is_named(tmp_path: Path) -> None:
    """A source that does not exist is an error that says what was looked for."""
    with pytest.raises(SourceNotFoundError, match=r"Source path not found: .*nowhere.*source"):
        walk(tmp_path / "nowhere")


def test_hidden_counts_from_the_source_down(tmp_path: Path) -> None:
    """A source in a hidden folder is read; hidden files and folders below it are not."""
    root = tmp_path / ".data" / "docs"
    write(root, "a.txt", ".DS_Store", ".git/config", ".hidden.txt", "b/.c/d.txt")

    assert paths(root) == ["a.txt"]
    assert skipped(root) == {}


def test_temporary_files_are_passed_over(tmp_path: Path) -> None:
    """Lock files, editors' copies and the desktop's own files are never documents."""
    junk = ("~$draft.docx", ".~lock.a#", "a.tmp", "A.TMP", "a.swp", "a.txt~", "Thumbs.db")
    write(tmp_path, "a.txt", *junk, "desktop.ini")

    assert paths(tmp_path) == ["a.txt"]
    assert skipped(tmp_path) == {}


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    """A folder named like a file is a folder."""
    write(tmp_path, "x.txt/a.txt", "y.tmp/b.txt")

    assert paths(tmp_path) == ["x.txt/a.txt", "y.tmp/b.txt"]


def test_own_folders_are_never_entered(tmp_path: Path) -> None:
    """A folder with our mark is not read, wherever it lies and whatever links to it."""
    write(tmp_path, "a.txt", f"index/{OWN_FOLDER_MARK}", "index/output/b.txt")
    (tmp_path / "link").symlink_to(tmp_path / "index")
    (tmp_path / "link.txt").symlink_to(tmp_path / "index" / "output" / "b.txt")

    assert paths(tmp_path) == ["a.txt"]
    assert skipped(tmp_path) == {}


def test_a_source_that_is_an_own_folder_says_so(tmp_path: Path) -> None:
    """Pointing the source at an index reads nothing, and tells why."""
    write(tmp_path, OWN_FOLDER_MARK, "b.txt")

    assert paths(tmp_path) == []
    assert "HoloDeck's own" in skipped(tmp_path)["."]


def test_links_to_what_is_there_anyway_are_not_read_twice(tmp_path: Path) -> None:
    """A copy by link costs nothing, under whichever name it comes in the order."""
    write(tmp_path, "m.txt", "folder/n.txt")
    (tmp_path / "a.txt").symlink_to("m.txt")
    (tmp_path / "z").symlink_to("folder")
    (tmp_path / "b.txt").symlink_to("a.txt")

    assert paths(tmp_path) == ["folder/n.txt", "m.txt"]
    assert skipped(tmp_path) == {}


def test_a_link_to_what_is_not_read_otherwise_is_read_once(tmp_path: Path) -> None:
    """A hidden file that a link makes visible is read under the first link's name."""
    write(tmp_path, ".store/n.txt", ".more/o.txt")
    (tmp_path / "a.txt").symlink_to(".store/n.txt")
    (tmp_path / "b.txt").symlink_to(".store/n.txt")
    (tmp_path / "more").symlink_to(".more")

    assert paths(tmp_path) == ["a.txt", "more/o.txt"]


def test_loops_of_links_end(tmp_path: Path) -> None:
    """Links to a folder above, to themselves and to each other never hang."""
    write(tmp_path, "b/a.txt")
    (tmp_path / "loop").symlink_to(".")
    (tmp_path / "b" / "up").symlink_to("..")
    (tmp_path / "self").symlink_to("self")
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")

    assert paths(tmp_path) == paths(tmp_path, allow_external_links=True) == ["b/a.txt"]
    assert set(skipped(tmp_path)) == {"one", "self", "two"}


def test_a_dead_link_is_skipped_by_name(tmp_path: Path) -> None:
    """A link to nothing is listed with the reason."""
    (tmp_path / "dead.txt").symlink_to("nowhere")

    assert skipped(tmp_path) == {"dead.txt": "a link that leads nowhere: No such file or directory"}


def test_links_that_leave_the_source_are_refused(tmp_path: Path) -> None:
    """What lies outside is listed, not read, and the reason names the setting."""
    write(tmp_path, "docs/a.txt", "docs-too/b.txt", "c.txt")
    (tmp_path / "docs" / "folder").symlink_to(tmp_path / "docs-too")
    (tmp_path / "docs" / "out.txt").symlink_to(tmp_path / "c.txt")

    assert paths(tmp_path / "docs") == ["a.txt"]
    reasons = skipped(tmp_path / "docs")
    assert set(reasons) == {"folder", "out.txt"}
    assert all("allow_external_links" in reason for reason in reasons.values())


def test_links_that_leave_the_source_are_followed_where_allowed(tmp_path: Path) -> None:
    """Allowed, they are read under the link's name, each file once, even around a loop."""
    write(tmp_path, "docs/a.txt", "docs-too/b.txt")
    (tmp_path / "docs" / "folder").symlink_to(tmp_path / "docs-too")
    (tmp_path / "docs" / "same").symlink_to(tmp_path / "docs-too")
    (tmp_path / "docs-too" / "back").symlink_to(tmp_path)

    assert paths(tmp_path / "docs", allow_external_links=True) == ["a.txt", "folder/b.txt"]


def test_a_source_behind_a_link_is_read(tmp_path: Path) -> None:
    """The source itself may be a link: that is no link that leaves it."""
    write(tmp_path, "real/a.txt")
    (tmp_path / "docs").symlink_to("real")
    (tmp_path / "b.txt").symlink_to("real/a.txt")

    assert paths(tmp_path / "docs") == ["a.txt"]
    assert paths(tmp_path / "b.txt") == ["b.txt"]


def test_what_is_no_regular_file_is_never_opened(tmp_path: Path) -> None:
    """A pipe would block its reader for ever: it is skipped, and so are sockets and devices."""
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "link.txt").symlink_to("pipe.txt")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(tmp_path)  # the name of a socket has to be short
        try:
            server.bind("socket.txt")
        finally:
            os.chdir(here)
    (tmp_path / "device.txt").symlink_to("/dev/null")

    found = walk(tmp_path, allow_external_links=True)

    assert found.files == ()
    assert {file.path for file in found.skipped} == {"pipe.txt", "socket.txt", "device.txt"}
    assert {file.reason for file in found.skipped} == {
        "not a regular file (a pipe, a socket or a device)"
    }


def test_names_that_are_not_one_line_of_text_are_skipped(tmp_path: Path) -> None:
    """Names that cannot be printed are listed in a form that can, with the reason."""
    write(tmp_path, "a.txt", "forged\n[1] line.txt", "folder\x1b[2J/b.txt", "sep\u2028.txt")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt")).write_text("x", encoding="utf-8")

    assert paths(tmp_path) == ["a.txt"]
    assert list(skipped(tmp_path)) == [
        "caf\\xe9.txt",
        "folder\\x1b[2J",
        "forged\\n[1] line.txt",
        "sep\\u2028.txt",
    ]


def test_a_folder_that_cannot_be_opened_is_skipped_by_name(tmp_path: Path) -> None:
    """One folder that the system refuses does not end the walk."""
    write(tmp_path, "a.txt")
    # Deeper than a path may be long: made step by step, refused as a whole.
    name = "d" * 250
    here = Path.cwd()
    try:
        os.chdir(tmp_path)
        for _ in range(20):
            Path(name).mkdir()
            os.chdir(name)
    finally:
        os.chdir(here)

    found = walk(tmp_path)

    assert [file.path for file in found.files] == ["a.txt"]
    assert [file.reason for file in found.skipped] == [
        "the folder cannot be opened: File name too long"
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open everything")
def test_a_folder_without_permission_is_skipped_by_name(tmp_path: Path) -> None:
    """A folder that the user may not list is named with the system's reason."""
    write(tmp_path, "a.txt", "closed/b.txt")
    (tmp_path / "closed").chmod(0)
    try:
        found = walk(tmp_path)
    finally:
        (tmp_path / "closed").chmod(0o700)

    assert found.skipped == (
        SkippedFile(path="closed/", reason="the folder cannot be opened: Permission denied"),
    )
