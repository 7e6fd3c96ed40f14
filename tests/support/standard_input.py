"""Standard input of this process, from a pipe."""

import io
import os
import sys


def pipe_in(monkeypatch, data):
    """Have bytes, few enough for the pipe to hold, come from standard input."""
    assert len(data) < 50_000
    out, into = os.pipe()
    os.write(into, data)
    os.close(into)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(open(out, "rb")))  # noqa: SIM115
