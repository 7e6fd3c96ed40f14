"""What all tests share."""

import gc
import os
import signal

from hypothesis import settings

# A background job of a shell is started with Ctrl-C ignored, one of nohup with SIGHUP; so would be the processes that
# the tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Waiting for the disk takes two milliseconds a file, and shows nothing here. Processes that are killed wait for it.
os.fsync = lambda descriptor: None

# The same examples in every run, and no clock: a loaded machine is no failure. New examples are looked for by
# `pytest --hypothesis-profile=search`.
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("brief", deadline=None, derandomize=True, max_examples=10)  # under the sanitizers
settings.register_profile("search", deadline=None, max_examples=1000, print_blob=True)
settings.load_profile("repeatable")


def pytest_configure(config):
    config.addinivalue_line("markers", "once: drives the core as others do; not run again under the sanitizers")


def pytest_collection_finish():
    """What was collected stays to the end: looking through it for garbage again and again takes a tenth of the time."""
    gc.collect()
    gc.freeze()
