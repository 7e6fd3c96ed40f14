"""`Cluster`: the workers of a Dask cluster, asked with a time limit; lost results are asked for again."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import time
from collections.abc import Callable
from typing import Any

from perceptive.errors import ClusterError, UsageError

LIMIT = 600.0  # seconds that an epoch, or any other wait, may take
SOON = 0.02  # seconds between two looks at what is done
AGAIN = 0.5  # seconds before a lost scheduler is looked for again


def _lost() -> tuple[type[BaseException], ...]:
    """Return the errors that mean that a cluster has lost something that it can make again."""
    from distributed import KilledWorker, client
    from distributed.comm.core import CommClosedError

    cancelled = (asyncio.CancelledError, concurrent.futures.CancelledError)
    closed = getattr(client, "ClosedClientError", CommClosedError)  # newer versions have it
    return (closed, CommClosedError, KilledWorker, *cancelled, TimeoutError, OSError)


class Cluster:
    """The workers of a Dask cluster.

    Parameters
    ----------
    address : str or distributed.Client
        Address of the scheduler (``tcp://…``), ``local`` for workers on this machine, or a connected client.
    limit : float
        The longest that a wait may take, in seconds.

    Examples
    --------
    >>> with Cluster("local") as cluster:  # doctest: +SKIP
    ...     cluster.ask(lambda client: client.submit(sum, [1, 2]))
    3
    """

    def __init__(self, address: Any, limit: float = LIMIT) -> None:
        try:
            import distributed
        except ModuleNotFoundError:
            raise ClusterError("a cluster needs the package distributed; install perceptive[dask]") from None
        self.limit, self.generation = limit, 0
        self._local: Any = None
        self._own = isinstance(address, str)
        if address == "local":
            how: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
            self._local = distributed.LocalCluster(**how)  # type: ignore[no-untyped-call]
            address = self._local.scheduler_address
        self.address = address if isinstance(address, str) else address.scheduler.address
        self.client = self._connect(time.monotonic() + limit) if self._own else address

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        if self._own:
            self.client.close()
        if self._local is not None:
            self._local.close()

    def _connect(self, deadline: float) -> Any:
        """Return a client of the scheduler; wait if the scheduler is being restarted."""
        from distributed import Client

        while True:
            try:
                left = max(0.1, deadline - time.monotonic())
                how: dict[str, Any] = {"timeout": min(5.0, left), "set_as_default": False}
                return Client(self.address, **how)  # type: ignore[no-untyped-call]
            except ValueError as error:
                said = f"{self.address}: is not the address of a scheduler ({error})"
                raise UsageError(f"{said}; give tcp://HOST:PORT, or local") from None
            except (OSError, TimeoutError) as error:
                if time.monotonic() > deadline:
                    raise ClusterError(
                        f"no scheduler answers at {self.address} within {self.limit:g} s; check the address, and that "
                        "it runs"
                    ) from error
                time.sleep(min(AGAIN, left))

    def ask(self, submit: Callable[[Any], Any], watch: Callable[[], None] = lambda: None) -> Any:
        """Return the result of ``submit(client)``, which returns a future or a list; submit again if it is lost.

        `generation` tells whether earlier futures are still known; ``watch`` is called while waiting.
        """
        deadline = time.monotonic() + self.limit
        while True:
            try:
                return self._wait(submit(self.client), deadline, watch)
            except _Late:
                raise self._too_late() from None
            except _lost() as error:
                if getattr(error, "filename", None) is not None:  # an OSError of a task, not the cluster's
                    raise
                if time.monotonic() > deadline:
                    raise self._too_late() from error
                self._again(deadline)

    def _wait(self, wanted: Any, deadline: float, watch: Callable[[], None]) -> Any:
        futures = wanted if isinstance(wanted, list) else [wanted]
        while not all(future.done() for future in futures):
            if time.monotonic() > deadline:
                raise _Late
            watch()
            time.sleep(SOON)
        left = max(1.0, deadline - time.monotonic())
        results = [future.result(timeout=left) for future in futures]
        return results if isinstance(wanted, list) else results[0]

    def _again(self, deadline: float) -> None:
        """Connect again, perhaps to another scheduler, which knows nothing."""
        self.generation += 1
        if self._own:
            self.client.close(timeout=1)
            self.client = self._connect(deadline)
        else:
            time.sleep(AGAIN)

    def _too_late(self) -> ClusterError:
        try:
            workers = len(self.client.scheduler_info(n_workers=-1)["workers"])
        except Exception:  # the scheduler is gone, or of another version
            workers = 0
        there = "no worker is" if workers == 0 else f"{workers} worker{'s are' if workers > 1 else ' is'}"
        return ClusterError(
            f"the cluster at {self.address} has not answered within {self.limit:g} s, and {there} there; start "
            "workers, or allow more time: a run with a checkpoint is resumed from its last epoch"
        )


class Futures:
    """Futures of a cluster, which ``submit(client)`` returns; lost ones are asked for again."""

    def __init__(self, cluster: Cluster, submit: Callable[[Any], Any]) -> None:
        self._cluster, self._submit = cluster, submit
        self._known: tuple[int, Any] | None = None  # the generation of the cluster that knows them, and what it knows

    def of(self, client: Any) -> Any:
        """Return the futures, the same ones until they are lost or forgotten."""
        if self._known is None or self._known[0] != self._cluster.generation:
            self._known = self._cluster.generation, self._submit(client)
        return self._known[1]

    def forget(self) -> None:
        """Let the cluster forget them; they can be made again."""
        self._known = None


def present_client() -> Any:
    """Return the Dask client of this process; raise if there is none."""
    import distributed

    try:
        return distributed.get_client()
    except ValueError:
        raise ClusterError("there is no Dask client; make one first: distributed.Client(address)") from None


class _Late(Exception):
    """The time limit has passed."""
