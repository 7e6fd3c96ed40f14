"""Processes that start in no time: a script beside the tests imports everything, and forks them."""

import functools
import json
import os
import subprocess
import sys
from importlib import import_module


@functools.cache
def _server(script):
    return subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(script, **question):
    """Have a script fork a process, which gets the question: its number. Or wait for one: see `wait`."""
    server = _server(script)
    server.stdin.write(json.dumps(question) + "\n")
    server.stdin.flush()
    return json.loads(server.stdout.readline())


def wait(script, pid, options=0):
    """The exit code of a process, as that of subprocess; None where it still runs, which `os.WNOHANG` allows."""
    return ask(script, wait=pid, options=options)


def serve(modules, run):
    """What such a script does: ``run`` has the questions as its parameters, and never returns."""
    for module in modules:
        import_module(module)
    for line in sys.stdin:
        asked = json.loads(line)
        if "wait" in asked:
            pid, status = os.waitpid(asked["wait"], asked["options"])
            answer = os.waitstatus_to_exitcode(status) if pid else None
        else:
            answer = os.fork()
            if answer == 0:
                run(**asked)
        print(json.dumps(answer), flush=True)
