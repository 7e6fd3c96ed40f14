"""A Dask cluster of real processes, to be killed."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time


class Processes:
    """A scheduler and its workers, each a process of its own."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.folder = tempfile.mkdtemp()
        self.scheduler = None
        self.workers = []

    def _start(self, module, *arguments):
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{module}", *arguments], cwd=self.folder, **silent
        )

    def start_scheduler(self):
        where = ["--host", "127.0.0.1", "--port", str(self.port)]
        self.scheduler = self._start("dask_scheduler", *where, "--no-dashboard", "--no-show")
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.05)
        raise TimeoutError("the scheduler does not start")

    def start_worker(self):
        how = ["--no-nanny", "--nthreads", "1", "--no-dashboard", "--death-timeout", "60"]
        worker = self._start("dask_worker", self.address, *how, "--local-directory", self.folder)
        self.workers.append(worker)
        return worker

    def kill_worker(self, number=0):
        worker = self.workers.pop(number)
        worker.send_signal(signal.SIGKILL)
        worker.wait()

    def kill_scheduler(self):
        self.scheduler.send_signal(signal.SIGKILL)
        self.scheduler.wait()

    def pause_worker(self, seconds, number=0):
        os.kill(self.workers[number].pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(self.workers[number].pid, signal.SIGCONT)

    def close(self):
        for process in [*self.workers, self.scheduler]:
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()
