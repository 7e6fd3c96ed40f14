"""Commands in processes of their own that start in no time: they are forked from one that has imported everything."""

import functools
import json
import os
import resource
import signal
import subprocess
import sys
from importlib import import_module

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
        self.pid = _ask(command)

    def poll(self):
        """The exit code, as that of subprocess; None as long as it runs."""
        if self.code is None:
            self.code = _ask({"wait": self.pid, "options": os.WNOHANG})
        return self.code

    def kill(self):
        """End it at once; returns the exit code."""
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)  # it is there, at least as a zombie, until somebody waits for it
        return self.wait()

    def wait(self):
        """The exit code, when it has ended."""
        if self.code is None:
            self.code = _ask({"wait": self.pid, "options": 0})
        text = self.said.read_text() if self.said.exists() else ""
        assert "Traceback" not in text, text
        return self.code


def finished(arguments, folder, **options):
    """Run a command to its end: the exit code, and what it said."""
    process = Process(arguments, folder, **options)
    return process.wait(), process.said.read_text()


@functools.cache
def _server():
    return subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _ask(question):
    server = _server()
    server.stdin.write(json.dumps(question) + "\n")
    server.stdin.flush()
    return json.loads(server.stdout.readline())


# ---------------------------------------------------------------- the process that the others are forked from


def _serve():
    for module in [*MODULES, *(f"perceptive.cli.tasks.{name}" for name in TASKS)]:
        import_module(module)
    for line in sys.stdin:
        asked = json.loads(line)
        if "wait" in asked:
            pid, status = os.waitpid(asked["wait"], asked["options"])
            answer = os.waitstatus_to_exitcode(status) if pid else None
        else:
            answer = os.fork()
            if answer == 0:
                _run(**asked)
        print(json.dumps(answer), flush=True)


def _run(arguments, folder, said, limit):
    from perceptive.cli import main
    from perceptive.data import labelled_rows, list_dataset, sentences
    from perceptive.streams import blocks

    code = 1
    try:
        blocks.BLOCK = 4000  # many blocks and chunks of little data
        labelled_rows.CHUNK, list_dataset.CHUNK, sentences.CHUNK = 1000, 300, 60
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
    _serve()
