"""`WholeFile`: a file that takes its name when it is complete. Models, checkpoints, caches, predictions are written so.

The bytes go to a temporary file in the same folder, are synced, and replace the file of that name by renaming; then the
folder is synced. At any moment the name stands for the whole old file or the whole new one. A temporary file is locked
while it is written; one without a lock was left by a process that was killed, and the next writer removes it.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from perceptive.errors import naming
from perceptive.file_lock import FLAGS, NO_FILE, FileLock, is_at, try_lock, unlock

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

START, END = ".perceptive-", ".tmp"  # of temporary names
NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EROFS)  # file systems that cannot sync a folder


def write_all(descriptor: int, data: ReadableBuffer) -> int:
    """Write all bytes to an open file."""
    view = memoryview(data)
    if view.nbytes == 0:
        return 0
    view, done = view.cast("B"), 0
    while done < len(view):
        done += os.write(descriptor, view[done:])
    return done


class WholeFile(io.RawIOBase):
    """A file to write to, which replaces that of its name at `finish`, and else leaves no trace.

    It can be read while it is written, and after it. As a context manager it is finished at the end, unless something
    is raised; what the system says names the file.

    Parameters
    ----------
    path : path
        Symbolic links are followed; a file that is there hands on its permissions.
    lock : FileLock or None
        The lock on that path, which the new file takes over.

    Examples
    --------
    >>> import os, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "a.txt")
    >>> with WholeFile(path) as file:
    ...     _ = file.write(b"all of it")
    ...     path.exists()
    False
    >>> path.read_text(), os.listdir(path.parent)
    ('all of it', ['a.txt'])
    """

    def __init__(self, path: str | os.PathLike[str], lock: FileLock | None = None) -> None:
        self.path, self._lock = os.fsdecode(path), lock
        self._descriptor, self._temporary = -1, ""
        self._target = os.path.realpath(self.path)
        self._folder = os.path.dirname(self._target)
        with naming(self.path):
            old = os.stat(self._target) if os.path.exists(self._target) else None
        if old is not None and not stat.S_ISREG(old.st_mode):
            raise OSError(errno.EINVAL, NO_FILE, self.path)
        _sweep(self._folder)
        try:
            with naming(self.path):
                self._create(0o666 if old is None else 0o600)
                if old is not None:
                    _keep_permissions(self._descriptor, old)
        except BaseException:
            self.close()
            raise

    def _create(self, mode: int) -> None:
        while True:
            path = os.path.join(self._folder, f"{START}{os.urandom(8).hex()}{END}")
            self._temporary = path  # from here on: Ctrl-C may break in as soon as the file is there
            try:
                self._descriptor = os.open(path, FLAGS | os.O_CREAT | os.O_EXCL, mode)
            except OSError:
                self._temporary = ""  # it is not ours
                raise
            if try_lock(self._descriptor) is not False and is_at(path, self._descriptor):
                return
            os.close(self._descriptor)  # another process removed it before it was locked
            self._descriptor = -1
            with suppress(OSError):
                os.unlink(path)

    def fileno(self) -> int:
        return self._descriptor

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return os.lseek(self._descriptor, offset, whence)

    def write(self, data: ReadableBuffer) -> int:
        with naming(self.path):
            return write_all(self._descriptor, data)

    def finish(self) -> None:
        """Replace the file of that name, for good."""
        with naming(self.path):
            os.fsync(self._descriptor)
            os.replace(self._temporary, self._target)
            self._temporary = ""
        if self._lock is None:
            unlock(self._descriptor)
        else:
            self._lock.move_to(self._descriptor)
        try:
            _sync(self._folder)
        except OSError as error:
            said = f"is written, but may be lost in a power cut ({error.strerror}); check the disk"
            raise OSError(error.errno, said, self.path) from error

    def close(self) -> None:
        """Let go of it; a file that was not finished disappears."""
        if self.closed:
            return
        super().close()
        if self._temporary:
            with suppress(OSError):
                os.unlink(self._temporary)
        if self._descriptor >= 0:
            os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if kind is None:
                self.finish()
        finally:
            self.close()


ELSEWHERE = ", or let TMPDIR name another folder for temporary files"


class UnnamedFile:
    """A file without a name, which goes with the process; what the system says names the folder of temporary files."""

    def __init__(self) -> None:
        self.path = os.environ.get("TMPDIR") or "the folder of temporary files"
        with naming(self.path, ELSEWHERE):
            self.path = tempfile.gettempdir()  # raises where all that it knows are full
            self._file = tempfile.TemporaryFile(prefix="perceptive-", buffering=0)  # noqa: SIM115

    def fileno(self) -> int:
        return self._file.fileno()

    def write(self, data: ReadableBuffer) -> int:
        with naming(self.path, ELSEWHERE):
            return write_all(self.fileno(), data)

    def close(self) -> None:
        self._file.close()


def _keep_permissions(descriptor: int, old: os.stat_result) -> None:
    """Give a file the group and the mode of another; in another group only what all users may."""
    mode = stat.S_IMODE(old.st_mode)
    if os.fstat(descriptor).st_gid != old.st_gid:
        try:
            os.fchown(descriptor, -1, old.st_gid)
        except OSError:
            mode = mode & ~0o070 | (mode & 0o007) << 3
    os.fchmod(descriptor, mode)


def _sync(folder: str) -> None:
    """Make a renaming last through a power cut, where the file system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except PermissionError:  # a folder to write to but not to list
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in NO_SYNC:
            raise
    finally:
        os.close(descriptor)


def _sweep(folder: str) -> None:
    """Remove temporary files whose writers were killed."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(START) and entry.name.endswith(END):
                with suppress(OSError):
                    _remove_stale(entry.path)


def _remove_stale(path: str) -> None:
    descriptor = os.open(path, FLAGS | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if try_lock(descriptor):
            os.unlink(path)
    finally:
        os.close(descriptor)
