"""How the time of something grows with its size: that of four times as much is to be about four times as long."""

import gc
import time


def growth(make, run, n, repeats=5):
    """The time of size 4n over that of size n: 4 where it is linear, 16 where it is quadratic.

    Time is that of the processor, and of each size the fastest of several: other work on the machine makes it longer,
    never shorter. ``make(size)`` gives what ``run`` gets, and is not timed.
    """
    fastest = {}
    for _ in range(repeats):
        for size in (n, 4 * n):
            given = make(size)
            gc.disable()
            begin = time.process_time()
            run(given)
            taken = time.process_time() - begin
            gc.enable()
            fastest[size] = min(fastest.get(size, taken), taken)
    return fastest[4 * n] / max(fastest[n], 1e-9)


def assert_nearly_linear(make, run, n, repeats=5):
    """Fail where four times as much takes eight times as long or longer."""
    found = growth(make, run, n, repeats)
    if found >= 8:  # once more, more carefully: a cache or a page fault may have spoilt it
        found = min(found, growth(make, run, n, 3 * repeats))
    assert found < 8, f"4 times as much takes {found:.1f} times as long"
