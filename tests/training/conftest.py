"""A Dask cluster of real processes, for all tests of a file."""

import logging

import pytest

from dask_processes import Processes

logging.getLogger("distributed").setLevel(logging.CRITICAL)


@pytest.fixture(scope="module")
def processes():
    made = Processes()
    try:
        made.start_scheduler()
        made.start_worker()
        made.start_worker()
        yield made
    finally:
        made.close()


@pytest.fixture
def client(processes):
    import distributed

    with distributed.Client(processes.address) as client:
        yield client
