"""The store of paid replies."""

from __future__ import annotations

import gc
import logging
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import holodeck
from holodeck.errors import ConfigError
from holodeck.lib.providers.reply_store import Kept, Pruned, ReplyStore
from holodeck.lib.providers.sqlite_file import DatabaseFile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the store is to be, in a folder that does not exist yet."""
    return tmp_path / "cache" / "replies.sqlite"


def test_what_was_put_is_there_after_reopening(path: Path) -> None:
    """Texts of any script come back; a second value replaces the first; others are missing."""
    with ReplyStore(path) as store:
        store.put("a", "old", "extract")
        store.put("a", "Ann äöü 日本 \x00", "extract")

    with ReplyStore(path) as store:
        assert store.get("a") == "Ann äöü 日本 \x00"
        assert store.get("b") is None


def test_vectors_come_back_as_they_were(path: Path) -> None:
    """More vectors than one statement takes, bit by bit; missing keys are left out."""
    rows = np.arange(1200 * 3, dtype=np.float32).reshape(1200, 3) / 7
    with ReplyStore(path) as store:
        store.put_vectors({f"k{number}": row for number, row in enumerate(rows)})

        found = store.get_vectors([*(f"k{number}" for number in range(1200)), "none"])

    assert len(found) == 1200
    assert np.array_equal(np.stack([found[f"k{number}"] for number in range(1200)]), rows)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_only_its_owner_may_read_it(path: Path) -> None:
    """The file and its companions have the mode 0600."""
    with ReplyStore(path) as store:
        store.put("a", "x", "extract")

        files = [path, Path(f"{path}-wal"), Path(f"{path}-shm")]
        assert [stat.S_IMODE(each.stat().st_mode) for each in files] == [0o600] * 3


def fill(store: ReplyStore) -> None:
    """Keep three texts and a vector."""
    for key in ("a", "b", "c"):
        store.put(key, key * 10, "report", "openai/gpt-4o")
    store.put_vectors({"v": np.ones(4, dtype=np.float32)}, "openai/small")


def test_a_store_says_what_it_holds(path: Path) -> None:
    """Entries and sizes by kind and model, over all of them, and where the file is."""
    with ReplyStore(path) as store:
        fill(store)
        store.put("d", "dd", "report")

        info = store.info()

    assert info.kept == (
        Kept(kind="embedding", model="openai/small", entries=1, size_bytes=16),
        Kept(kind="report", model="", entries=1, size_bytes=2),
        Kept(kind="report", model="openai/gpt-4o", entries=3, size_bytes=30),
    )
    assert (info.entries, info.size_bytes) == ({"embedding": 1, "report": 4}, 48)
    assert (info.damaged, info.path) == (0, path)


def test_pruning_drops_what_nobody_used(path: Path) -> None:
    """What a build read or kept stays, also what it was only told of; the counts say the rest."""
    with ReplyStore(path) as store:
        fill(store)
        with store.uses.noted_for("/index", "000001"):
            store.get("a")
            store.put("e", "e", "extract")
            store.uses.note(["v"])
        store.get("b")  # a search is no build

        dropped = store.prune({"/index"})

        assert dropped == Pruned(entries=2, size_bytes=20)
        assert [store.get(key) for key in "abc"] == ["a" * 10, None, None]
        assert store.get("e") == "e"
        assert "v" in store.get_vectors(["v"])
        assert store.prune({"/index"}) == Pruned(entries=0, size_bytes=0)


def test_an_index_that_is_gone_uses_nothing(path: Path) -> None:
    """Pruning names the indexes that there are; what only others used is dropped."""
    with ReplyStore(path) as store:
        fill(store)
        for user, keys in (("/one", "ab"), ("/two", "bc")):
            with store.uses.noted_for(user, "000001"):
                _ = [store.get(key) for key in keys]
        assert store.uses.users() == {"/one", "/two"}

        store.prune({"/two"})

        assert [store.get(key) is None for key in "abc"] == [True, False, False]
        assert store.uses.users() == {"/two"}


def test_a_published_generation_uses_what_it_used(path: Path) -> None:
    """An unfinished build keeps its replies from being pruned; a published one replaces others."""
    with ReplyStore(path) as store:
        fill(store)
        with store.uses.noted_for("/index", "000001"):
            store.get("a")
        with store.uses.noted_for("/index", "000002"):
            store.get("b")
        store.prune({"/index"})
        assert [store.get(key) is None for key in "abc"] == [False, False, True]

        store.uses.keep_only("/index", "000002")
        store.prune({"/index"})

        assert [store.get(key) is None for key in "abc"] == [True, False, True]


def test_a_second_try_at_a_generation_forgets_the_first(path: Path) -> None:
    """What a failed build used and the one after it did not is nobody's."""
    with ReplyStore(path) as store:
        fill(store)
        for key in "ab":
            with store.uses.noted_for("/index", "000001"):
                store.get(key)

        store.prune({"/index"})

        assert [store.get(key) is None for key in "abc"] == [True, False, True]


def test_uses_survive_a_kill_as_far_as_they_were_paid_for(path: Path) -> None:
    """A reply that was kept is in use the moment it is kept, not when the build ends."""
    with ReplyStore(path) as store, store.uses.noted_for("/index", "000001"):
        store.put("a", "x", "extract")
        with ReplyStore(path) as other:  # as after a kill: nothing more is written
            assert other.prune({"/index"}) == Pruned(entries=0, size_bytes=0)


def test_a_file_of_an_older_release_goes_on(path: Path) -> None:
    """Its entries are still there; their model is not known."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    connection.executescript(
        "CREATE TABLE entries (key TEXT PRIMARY KEY, kind TEXT NOT NULL, value BLOB NOT NULL, "
        "checksum INTEGER NOT NULL); PRAGMA user_version = 1;"
    )
    row = ("a", "extract", b"said", zlib.crc32(b"said"))
    connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?)", row)
    connection.commit()
    connection.close()

    with ReplyStore(path) as store:
        assert store.get("a") == "said"
        store.put("b", "x", "extract", "openai/gpt-4o")
        assert [each.model for each in store.info().kept] == ["", "openai/gpt-4o"]


def test_a_renewing_store_finds_only_what_it_was_given(path: Path) -> None:
    """What was kept before counts as missing, and stays until it is replaced."""
    with ReplyStore(path) as store:
        store.put("a", "old", "extract")
        store.put("b", "old", "extract")
        store.put_vectors({"v": np.ones(2, dtype=np.float32)})

    with ReplyStore(path, renews=True) as store:
        before = (store.get("a"), store.get_vectors(["v"]))
        store.put("a", "new", "extract")
        store.put_vectors({"v": np.zeros(3, dtype=np.float32)})
        assert before == (None, {})
        assert store.get("a") == "new"
        assert len(store.get_vectors(["v"])["v"]) == 3

    with ReplyStore(path) as store:
        assert (store.get("a"), store.get("b")) == ("new", "old")
        assert len(store.get_vectors(["v"])["v"]) == 3


def test_threads_share_a_store(path: Path) -> None:
    """Writes from many threads all arrive."""
    with ReplyStore(path) as store:
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda n: store.put(f"k{n}", str(n), "extract"), range(200)))

        assert [store.get(f"k{number}") for number in range(200)] == [str(n) for n in range(200)]


_WRITER = """
import sys
from pathlib import Path
from holodeck.lib.providers.reply_store import ReplyStore
store = ReplyStore(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    store.put(f"{sys.argv[2]}{number}", "x", "extract")
print("done", flush=True)
sys.stdin.read()
"""


def _writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    found = {**os.environ, "PYTHONPATH": str(Path(holodeck.__file__).parents[1])}
    return subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(path), name, str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=found,
    )


def test_processes_share_a_file_and_may_be_killed(path: Path) -> None:
    """Two processes begin one store and write at once; what they put survives their SIGKILL."""
    with _writer(path, "a", 50) as first, _writer(path, "b", 50) as second:
        for process in (first, second):
            assert process.stdout is not None
            assert process.stdout.readline() == "done\n"
            process.send_signal(signal.SIGKILL)

    with ReplyStore(path) as store:
        assert store.info().entries == {"extract": 100}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: b"no database at all" * 100,
        lambda content: content[: len(content) // 2],
        lambda content: content[:100] + b"\xff\xfe" * 2000 + content[4100:],
    ],
)
def test_a_damaged_file_is_moved_aside_once(
    path: Path, caplog: pytest.LogCaptureFixture, spoil: Callable[[bytes], bytes]
) -> None:
    """A new file is begun, the old one is kept beside it, and one warning says so."""
    with ReplyStore(path) as store:
        for number in range(50):
            store.put(f"k{number}", "x" * 500, "extract")
    damaged = spoil(path.read_bytes())
    path.write_bytes(damaged)

    with ReplyStore(path) as store:
        assert store.get("k0") is None
        store.put("k0", "new", "extract")
        assert store.get("k0") == "new"
        assert store.info().damaged == 1
    with ReplyStore(path) as store:
        assert store.get("k0") == "new"

    aside = path.with_name("replies.sqlite.damaged-1")
    assert aside.read_bytes() == damaged
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warnings) == 1
    assert "replies.sqlite.damaged-1" in warnings[0].getMessage()


def test_a_damaged_entry_counts_as_missing(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Half an entry, or bytes that are no text, are dropped, counted, and warned of once."""
    with ReplyStore(path) as store:
        for key in ("half", "bytes", "good"):
            store.put(key, "Ann runs Orion", "extract")
    connection = sqlite3.connect(path)
    connection.execute("UPDATE entries SET value = substr(value, 1, 7) WHERE key = 'half'")
    connection.execute("UPDATE entries SET value = x'FFFE' WHERE key = 'bytes'")
    connection.commit()
    connection.close()

    with ReplyStore(path) as store:
        found = [store.get(key) for key in ("half", "bytes", "good")]

        assert found == [None, None, "Ann runs Orion"]
        assert (store.info().damaged, dict(store.info().entries)) == (2, {"extract": 1})
    assert len(caplog.records) == 1


def test_a_newer_file_is_refused(path: Path) -> None:
    """What a later release wrote is left alone, and the message says what to do."""
    with ReplyStore(path) as store:
        store.put("a", "x", "extract")
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()

    with ReplyStore(path) as store, pytest.raises(ConfigError, match="newer release"):
        store.get("a")
    assert not list(path.parent.glob("*damaged*"))


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """A file where a folder must be: the error names the path and the setting."""
    (tmp_path / "cache").write_text("a file")

    with (
        ReplyStore(tmp_path / "cache" / "replies.sqlite") as store,
        pytest.raises(ConfigError, match=r"replies\.sqlite cannot be used .* execution\.cache_dir"),
    ):
        store.get("a")


def test_a_file_that_another_process_holds_is_named(path: Path) -> None:
    """After the time to wait: who must end, and that nothing was moved aside or lost."""
    with ReplyStore(path) as store:
        store.put("a", "x", "extract")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        with (
            ReplyStore(path, busy_seconds=0.05) as store,
            pytest.raises(ConfigError, match=r"held by another process for 0\.05 s: let that"),
        ):
            store.put("b", "y", "extract")
    finally:
        other.execute("ROLLBACK")
        other.close()

    with ReplyStore(path, busy_seconds=0.05) as store:
        assert (store.get("a"), store.get("b")) == ("x", None)
        assert store.info().damaged == 0


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder that even root cannot write to")
def test_a_folder_that_cannot_be_written_is_found_before_anything_is_paid_for() -> None:
    """Three ways out are named, and it is told when the store is looked at, not when it keeps."""
    store = ReplyStore(Path("/sys/replies.sqlite"))

    with pytest.raises(ConfigError, match=r"make it writable.*cache_dir.*execution\.cache: false"):
        store.check()


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe" * 3000])
def test_no_damage_of_any_file_is_a_crash(path: Path, suffix: str, content: bytes) -> None:
    """Emptied or overwritten, whichever of its files: what is put afterwards is found."""
    with ReplyStore(path) as store:
        for number in range(20):
            store.put(f"k{number}", "x" * 500, "extract")
    Path(f"{path}{suffix}").write_bytes(content)

    with ReplyStore(path) as store:
        store.check()
        assert store.get("k0") in (None, "x" * 500)
        store.put("k0", "new", "extract")
    with ReplyStore(path) as store:
        assert store.get("k0") == "new"


def test_damage_that_is_met_while_the_store_is_open_is_mended(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A disk fault in the middle of a build: counted once, and the build goes on."""
    with ReplyStore(path) as store:
        for number in range(50):
            store.put(f"k{number}", "x" * 500, "extract")
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        content = path.read_bytes()
        path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))

        for number in range(50):
            if store.get(f"k{number}") is None:
                store.put(f"k{number}", "again", "extract")

        assert {store.get(f"k{number}") for number in range(50)} <= {"x" * 500, "again"}
        assert store.info().damaged == 1
    assert len([each for each in caplog.records if each.levelno == logging.WARNING]) == 1


def test_a_file_that_nobody_closed_is_closed_when_it_is_forgotten(path: Path) -> None:
    """An error on the way leaves no connection behind."""
    file = DatabaseFile(path, schema="CREATE TABLE IF NOT EXISTS t (a)", version=1, what="file")
    connection = file.run(lambda given: given)
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (0,)
    del file
    gc.collect()

    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_may_go_on_writing(path: Path) -> None:
    """A child has a connection of its own."""
    with ReplyStore(path) as store:
        store.put("parent", "x", "extract")

        child = os.fork()
        if child == 0:  # no pytest machinery may run in the child
            try:
                store.put("child", "y", "extract")
                os._exit(0)
            finally:
                os._exit(2)
        _, status = os.waitpid(child, 0)

        assert os.waitstatus_to_exitcode(status) == 0
        assert (store.get("parent"), store.get("child")) == ("x", "y")


_ONE_MORE = """
import sys
from pathlib import Path
from holodeck.lib.providers.reply_store import ReplyStore
with ReplyStore(Path(sys.argv[1])) as store:
    store.put(sys.argv[2], "x" * 5000, "extract")
"""


def test_a_second_store_in_a_process_leaves_the_first_its_locks(path: Path) -> None:
    """Two tools of one process and the child that builds for them share a file unharmed.

    A descriptor of one's own that is opened and closed takes the locks of all others along: the
    child would then believe that nobody else has the file open.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with ReplyStore(path) as first:
        for number in range(40):
            first.put(f"first{number}", "x" * 5000, "extract")
            with ReplyStore(path) as second:
                assert second.get(f"first{number}") is not None
            if number % 10 == 5:
                subprocess.run(
                    [sys.executable, "-c", _ONE_MORE, str(path), f"child{number}"],
                    check=True,
                    env=environment,
                )
        first.put("last", "x", "extract")

    with ReplyStore(path) as store:
        assert store.info().entries == {"extract": 45}
        assert store.info().damaged == 0
    assert not list(path.parent.glob("*damaged*"))


@pytest.mark.parametrize("value", ["text in place of bytes", 7, None])
def test_a_value_of_another_type_is_dropped_and_asked_for_again(path: Path, value: object) -> None:
    """SQLite lets anything stand in a column; what is no bytes counts as damaged."""
    with ReplyStore(path) as store:
        store.put("a", "kept", "extract")
        store.put("b", "whole", "extract")
    connection = sqlite3.connect(path)
    try:
        with connection:
            connection.execute("PRAGMA ignore_check_constraints = ON")
            connection.execute("UPDATE entries SET value = ? WHERE key = 'a'", (value or b"",))
    finally:
        connection.close()

    with ReplyStore(path) as store:
        assert store.get("a") is None
        assert store.get("b") == "whole"
        assert store.info().damaged == 1


@pytest.mark.parametrize("is_open_elsewhere", [False, True])
def test_a_store_that_may_only_be_read_is_read(path: Path, is_open_elsewhere: bool) -> None:
    """At rest or while another writes it: what is kept is found, and nothing is made or changed."""
    with ReplyStore(path) as writer:
        writer.put("a", "kept", "extract")
        if not is_open_elsewhere:
            writer.close()
            Path(f"{path}.lock").unlink()
        before = sorted(path.parent.iterdir())
        with ReplyStore(path, reads_only=True) as store:
            store.check()
            store.put("b", "new", "extract")

            assert (store.get("a"), store.get("b")) == ("kept", None)
            assert [kept.entries for kept in store.info().kept] == [1]
        assert sorted(path.parent.iterdir()) == before


def test_a_damaged_entry_that_may_only_be_read_counts_as_missing(path: Path) -> None:
    """It is not dropped, since nothing may be."""
    with ReplyStore(path) as writer:
        writer.put("a", "kept", "extract")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE entries SET value = ?", (b"other",))
    connection.close()
    before = path.read_bytes()

    with ReplyStore(path, reads_only=True) as store:
        assert store.get("a") is None
        assert store.info().damaged == 1
    assert path.read_bytes() == before


def test_a_store_of_another_release_that_may_only_be_read_is_refused(path: Path) -> None:
    """It cannot be brought up to date."""
    with ReplyStore(path) as writer:
        writer.check()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 1")
    connection.close()

    with (
        ReplyStore(path, reads_only=True) as store,
        pytest.raises(ConfigError, match="another release, and may only be read"),
    ):
        store.check()
