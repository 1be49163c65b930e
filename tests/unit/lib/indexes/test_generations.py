"""A reader keeps what it opened; everything else that is old goes."""

from __future__ import annotations

import fcntl
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from holodeck.lib.indexes.generations import Generations, lease_current
from holodeck.lib.indexes.leases import Lease, delete_unless_leased, is_leased


def make(generations: Generations, *names: str) -> None:
    for name in names:
        for folder in generations.folders(name):
            folder.mkdir(parents=True)


def names_in(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir())


def test_a_new_name_is_greater_than_any_that_was_used(tmp_path: Path) -> None:
    """Neither a folder left by a crash nor the committed generation lends its name again."""
    generations = Generations(tmp_path / "a", tmp_path / "b")

    assert generations.new("") == "000001"
    make(generations, "000004")
    assert generations.new("000002") == "000005"
    assert generations.new("000009") == "000010"


def test_the_sweep_spares_the_current_and_the_leased(tmp_path: Path) -> None:
    """Old generations go from every root; what a reader holds stays until it is given back."""
    generations = Generations(tmp_path / "a", tmp_path / "b")
    make(generations, "000001", "000002", "000003")
    lease = generations.lease("000002")

    generations.sweep("000003")

    assert names_in(tmp_path / "a") == names_in(tmp_path / "b") == ["000002", "000003"]

    lease.release()
    lease.release()
    generations.sweep("000003")

    assert names_in(tmp_path / "a") == names_in(tmp_path / "b") == ["000003"]


def test_the_sweep_deletes_nothing_that_it_did_not_name(tmp_path: Path) -> None:
    """Folders and files of somebody else stay, whatever their names look like."""
    generations = Generations(tmp_path)
    make(generations, "notes", "²", "000001")
    (tmp_path / "000007").write_text("a file", encoding="utf-8")

    generations.sweep("")

    assert names_in(tmp_path) == ["000007", "notes", "²"]


def test_a_lease_is_seen_by_others(tmp_path: Path) -> None:
    """A folder counts as leased from the lease to its release."""
    assert not is_leased(tmp_path)
    lease = Lease(tmp_path)
    assert is_leased(tmp_path)
    assert not delete_unless_leased(tmp_path)
    lease.release()

    assert not is_leased(tmp_path)
    assert delete_unless_leased(tmp_path)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="looks at open files in /proc")
def test_a_lease_on_what_is_being_deleted_is_none(tmp_path: Path) -> None:
    """Who asks while the folder is deleted is told that it is gone, when it is."""
    folder = tmp_path / "000001"
    folder.mkdir()
    Lease(folder).release()
    file = folder / ".lease"
    with file.open("rb") as deleter, ThreadPoolExecutor(1) as thread:
        fcntl.flock(deleter, fcntl.LOCK_EX)
        waiting = thread.submit(Lease, folder)
        while times_open(file) < 2 and not waiting.done():
            pass
        shutil.rmtree(folder)
        fcntl.flock(deleter, fcntl.LOCK_UN)

        with pytest.raises(FileNotFoundError):
            waiting.result()


def times_open(file: Path) -> int:
    """Return how many descriptors of this process are of ``file``."""
    wanted, count = file.stat(), 0
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found = os.fstat(int(descriptor.name))
            count += (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino)
    return count


def test_a_reader_that_comes_too_late_takes_the_next(tmp_path: Path) -> None:
    """Between reading the record and the lease a builder may have replaced both."""
    generations = Generations(tmp_path)
    make(generations, "000002")
    said = iter(["000001"])

    current, lease = lease_current(lambda: next(said, "000002"), generations.lease)
    lease.release()

    assert current == "000002"


def test_a_missing_generation_is_an_error(tmp_path: Path) -> None:
    """A record that keeps naming what is not there is not read for ever."""
    with pytest.raises(FileNotFoundError):
        lease_current(lambda: "000001", Generations(tmp_path).lease)
