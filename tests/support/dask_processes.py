"""A Dask cluster of real processes, to be killed."""

import contextlib
import os
import signal
import socket
import tempfile
import time
from importlib import import_module

from forked import ask, serve, wait

MODULES = ["distributed.cli.dask_scheduler", "distributed.cli.dask_worker", "dask.array", "dask.bag", "dask.dataframe"]
OURS = ["perceptive.estimators", "perceptive.training.dask", "perceptive.training.cluster_source", "sklearn.base"]


class Forked:
    """A scheduler or a worker."""

    def __init__(self, module, arguments, folder):
        self.pid = ask(__file__, module=module, arguments=arguments, folder=folder)

    def kill(self):
        """End it at once."""
        os.kill(self.pid, signal.SIGKILL)  # it is there, at least as a zombie, until somebody waits for it
        wait(__file__, self.pid)


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
        return Forked(f"distributed.cli.{module}", arguments, self.folder)

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
        self.workers.pop(number).kill()

    def wait_until_gone(self, seconds=30.0):
        """Wait until the scheduler knows of no worker; on a busy machine that takes a while."""
        from distributed import Client  # the process that forks others needs none

        deadline = time.monotonic() + seconds
        with Client(self.address, set_as_default=False) as client:
            while client.scheduler_info(n_workers=-1)["workers"]:
                assert time.monotonic() < deadline, "the scheduler still knows of workers"
                time.sleep(0.05)

    def kill_scheduler(self):
        self.scheduler.kill()
        self.scheduler = None

    def pause_worker(self, seconds, number=0):
        os.kill(self.workers[number].pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(self.workers[number].pid, signal.SIGCONT)

    def close(self):
        while self.workers:
            self.kill_worker()
        if self.scheduler is not None:
            self.kill_scheduler()


def _run(module, arguments, folder):
    try:
        os.chdir(folder)
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        import_module(module).main(arguments)
    finally:
        os._exit(1)


if __name__ == "__main__":
    serve(MODULES + OURS, _run)
