"""`FileLock`: the right to write a file, which one run at a time has.

The lock is on the file itself, so that nothing beside it is left behind, and the kernel lets go of it however a process
ends. A file that is replaced by renaming hands its lock on: the new one is locked before it gets the name. Where there
is no file yet, an empty one holds the place.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from contextlib import suppress

from perceptive.errors import naming

FLAGS = os.O_RDWR | os.O_CLOEXEC  # network file systems lock only what is open for writing
NO_FILE = "is not a file that can be replaced; give another path"


def try_lock(descriptor: int) -> bool | None:
    """Lock an open file unless another process has; None where the file system knows no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def unlock(descriptor: int) -> None:
    """Let others lock an open file."""
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def is_at(path: str, descriptor: int) -> bool:
    """Whether a path still names an open file, which others may have removed or replaced."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


class FileLock:
    """No other process writes a file until `release`. Symbolic links are followed.

    Raises BlockingIOError where another run has it; ``what`` is what the message for those who come too late calls it.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "run")
    >>> lock = FileLock(path, "checkpoint")
    >>> FileLock(path, "checkpoint")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    BlockingIOError: [Errno ...] another run has this checkpoint; wait until that run has ended, or give...
    >>> lock.release()
    >>> os.path.exists(path)
    False
    """

    def __init__(self, path: str | os.PathLike[str], what: str) -> None:
        self._descriptor = -1
        self.target = os.path.realpath(os.fsdecode(path))
        while True:
            with naming(os.fsdecode(path)):
                descriptor = os.open(self.target, FLAGS | os.O_CREAT, 0o666)
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                os.close(descriptor)
                raise OSError(errno.EINVAL, NO_FILE, os.fsdecode(path))
            if try_lock(descriptor) is False:
                os.close(descriptor)
                said = f"another run has this {what}; wait until that run has ended, or give another file"
                raise BlockingIOError(errno.EAGAIN, said, os.fsdecode(path))
            if is_at(self.target, descriptor):
                self._descriptor = descriptor
                return
            os.close(descriptor)  # the process that had it has just replaced or removed it

    @property
    def empty(self) -> bool:
        """Whether the file only holds the place."""
        return os.fstat(self._descriptor).st_size == 0

    def move_to(self, descriptor: int) -> None:
        """Take over an open and locked file that has replaced the one before."""
        before, self._descriptor = self._descriptor, os.dup(descriptor)
        os.close(before)

    def release(self) -> None:
        """Let others have it; a file that only held the place goes."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor < 0:
            return
        with suppress(OSError):
            if os.fstat(descriptor).st_size == 0 and is_at(self.target, descriptor):
                os.unlink(self.target)
        os.close(descriptor)

    def __del__(self) -> None:
        self.release()
