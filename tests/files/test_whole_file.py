"""Files that are written whole: permissions, links, what killed processes leave; and the lock on a file."""

import errno
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading

import pytest

from command_line import perceptive, write_rows
from perceptive.file_lock import FileLock
from perceptive.whole_file import UnnamedFile, WholeFile

KILLED = """
import os, signal, sys
from perceptive.file_lock import FileLock
from perceptive.whole_file import WholeFile
lock = FileLock(sys.argv[1], "checkpoint")
with WholeFile(sys.argv[1], lock) as file:
    file.write(b"first")
file = WholeFile(sys.argv[1], lock)
file.write(b"second")
print("ready", flush=True)
sys.stdin.readline()
"""


def put(path, content=b"new", **options):
    with WholeFile(path, **options) as file:
        file.write(content)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o666])
def test_the_mode_is_kept(tmp_path, mode):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(mode)
    file = WholeFile(path)
    (temporary,) = tmp_path.glob(".perceptive-*.tmp")
    assert stat.S_IMODE(temporary.stat().st_mode) == mode  # also while it is written
    file.write(b"new")
    file.finish()
    file.close()
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", mode)


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_the_group_is_kept(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o664)
    os.chown(path, -1, 4)
    put(path)
    assert path.stat().st_gid == 4

    def refused(*_):
        raise PermissionError

    monkeypatch.setattr(os, "fchown", refused)
    put(path)
    assert path.stat().st_gid != 4
    assert stat.S_IMODE(path.stat().st_mode) == 0o644  # another group may no more than everybody


def test_every_command_follows_links(tmp_path):
    write_rows(tmp_path / "rows.svm")
    for name in ("model", "cache", "lines"):
        (tmp_path / f"{name}-link").symlink_to(f"real-{name}")
    for _ in range(2):
        perceptive("train", "rows.svm", "-o", "model-link", "--cache", "cache-link", "--quiet", cwd=tmp_path)
        perceptive("predict", "model-link", "rows.svm", "-o", "lines-link", cwd=tmp_path)
        for name in ("model", "cache", "lines"):
            assert (tmp_path / f"{name}-link").is_symlink()
            assert (tmp_path / f"real-{name}").stat().st_size > 0


def test_what_a_killed_process_leaves_is_swept_away(tmp_path):
    """Its temporary file goes, its lock is free; those of a process that lives stay."""
    path = tmp_path / "a"
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    (temporary,) = tmp_path.glob(".perceptive-*.tmp")
    put(tmp_path / "b")
    assert temporary.exists()
    with pytest.raises(BlockingIOError):  # though the file was replaced since it was locked
        FileLock(path, "checkpoint")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert temporary.exists()
    put(tmp_path / "b")
    assert not temporary.exists()
    lock = FileLock(path, "checkpoint")
    assert path.read_bytes() == b"first"
    lock.release()
    assert {*os.listdir(tmp_path)} == {"a", "b"}


def test_a_lock_holds_the_place_of_a_file_that_is_not_there(tmp_path):
    path = tmp_path / "a"
    lock = FileLock(path, "checkpoint")
    assert lock.empty
    for _ in range(3):
        with pytest.raises(BlockingIOError, match="another run has this checkpoint; wait until that run has ended"):
            FileLock(path, "checkpoint")
        put(path, lock=lock)
        assert not lock.empty
    lock.release()
    lock.release()
    assert path.read_bytes() == b"new"
    FileLock(path, "checkpoint").release()
    path.unlink()
    FileLock(path, "checkpoint").release()
    assert not path.exists()


def test_nothing_but_files_is_locked_or_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for write in (put, lambda path: FileLock(path, "cache")):
        with pytest.raises(OSError, match="is not a file that can be replaced; give another path"):
            write(tmp_path / "pipe")
    assert os.listdir(tmp_path) == ["pipe"]


def test_one_of_many_gets_the_lock(tmp_path):
    """While others replace and remove the file; nobody holds a lock on a file that has lost its name."""
    path, inside, together = tmp_path / "a", [], []

    def work():
        for _ in range(200):
            try:
                lock = FileLock(path, "checkpoint")
            except BlockingIOError:
                continue
            inside.append(1)
            together.append(len(inside))
            put(path, lock=lock)
            inside.pop()
            os.unlink(path)  # from here on others may have a file of that name
            lock.release()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together
    assert max(together) == 1


def test_writers_and_sweepers_at_once(tmp_path):
    def work(name):
        for i in range(50):
            put(tmp_path / name, f"{name} {i}".encode())

    threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {entry.name: entry.read_text() for entry in tmp_path.iterdir()} == {name: f"{name} 49" for name in "abc"}


def test_a_full_folder_of_temporary_files_is_named(tmp_path, monkeypatch):
    elsewhere = "or let TMPDIR name another folder for temporary files"

    def none(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    file = UnnamedFile()
    monkeypatch.setattr("perceptive.whole_file.write_all", none)
    with pytest.raises(OSError, match=f"No space left on device.; make room, {elsewhere}") as raised:
        file.write(b"x")
    assert raised.value.filename == tempfile.gettempdir()
    file.close()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "full"))
    monkeypatch.setattr("tempfile.gettempdir", none)
    with pytest.raises(OSError, match=elsewhere) as raised:
        UnnamedFile()
    assert raised.value.filename == str(tmp_path / "full")


def test_ctrl_c_right_after_the_file_was_made_leaves_none(tmp_path, monkeypatch):
    opened = os.open

    def interrupted(path, *how):
        opened(path, *how)
        raise KeyboardInterrupt

    monkeypatch.setattr("perceptive.whole_file.os.open", interrupted)
    with pytest.raises(KeyboardInterrupt):
        WholeFile(tmp_path / "a.model")
    assert os.listdir(tmp_path) == []
