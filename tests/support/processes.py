"""Commands in processes of their own that start in no time."""

import os
import resource
import signal
import sys

from forked import ask, serve, wait

TASKS = ("classify", "kernel_classify", "kernel_rank", "rank", "rerank", "tag", "files")
MODULES = [
    "perceptive.cli.train",
    "perceptive.cli.model_commands",
    "perceptive.training.checkpoint",
    "perceptive.certificates",
]


class Process:
    """A command that runs in a folder; what it says goes to a file there.

    Parameters
    ----------
    arguments : list
    folder : path
    said : str
        The file that standard error goes to.
    limit : int or None
        How many bytes a file may have.
    """

    def __init__(self, arguments, folder, said="said", limit=None):
        self.said = folder / said
        self.code = None
        command = {"arguments": list(map(str, arguments)), "folder": str(folder), "said": said, "limit": limit}
        self.pid = ask(__file__, **command)

    def poll(self):
        """The exit code, as that of subprocess; None as long as it runs."""
        if self.code is None:
            self.code = wait(__file__, self.pid, os.WNOHANG)
        return self.code

    def kill(self):
        """End it at once; returns the exit code."""
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)  # it is there, at least as a zombie, until somebody waits for it
        return self.wait()

    def wait(self):
        """The exit code, when it has ended."""
        if self.code is None:
            self.code = wait(__file__, self.pid)
        text = self.said.read_text() if self.said.exists() else ""
        assert "Traceback" not in text, text
        return self.code


def finished(arguments, folder, **options):
    """Run a command to its end: the exit code, and what it said."""
    process = Process(arguments, folder, **options)
    return process.wait(), process.said.read_text()


def _run(arguments, folder, said, limit):
    from perceptive.cli import main
    from perceptive.data import labelled_rows, lists, sentences
    from perceptive.streams import blocks

    code = 1
    try:
        blocks.BLOCK = 4000  # many blocks and chunks of little data
        labelled_rows.CHUNK, lists.CHUNK, sentences.CHUNK = 1000, 300, 60
        os.chdir(folder)
        for descriptor, path in ((2, said), (1, os.devnull), (0, os.devnull)):
            os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666), descriptor)
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        code = main(arguments)
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve([*MODULES, *(f"perceptive.cli.tasks.{name}" for name in TASKS)], _run)
