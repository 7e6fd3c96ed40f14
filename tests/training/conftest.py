"""A Dask cluster of real processes, for all tests; and a file that is read in several blocks."""

import logging

import pytest
from test_training import made

from dask_processes import Processes
from perceptive.streams import blocks

logging.getLogger("distributed").setLevel(logging.CRITICAL)


@pytest.fixture(scope="session")
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


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 4000)


@pytest.fixture
def file(tmp_path, small_blocks):
    """A file that is read in several blocks."""
    return made(tmp_path / "made.svm")
