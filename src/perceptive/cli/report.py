"""What commands tell: JSON of one shape for all tasks (docs/reference/json.md), and the same as a table for people."""

from __future__ import annotations

import argparse
import os
import resource
import sys
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from perceptive.cli.console import in_line, of_epochs, pairs, size
from perceptive.cli.options import as_json
from perceptive.cli.tasks import Entry
from perceptive.inspection import COUNTS, describe
from perceptive.rules import RULES

if TYPE_CHECKING:
    from perceptive.certificates import Certificate
    from perceptive.cli.pruning import Pruned
    from perceptive.training.loop import History
    from perceptive.training.tuning import Trial

SHOWN_CLASSES = 10
OF_HISTORY = ("mistakes", "updates")  # facts that are shown epoch by epoch


def tell(options: argparse.Namespace, entry: Entry, values: dict[str, Any], text: str) -> None:
    """Print values as JSON, or the text that tells people of them."""
    head = {"command": options.command, "task": entry.name, "model": options.model}
    print(as_json({**head, **values}) if options.json else text)


def tell_training(
    options: argparse.Namespace,
    entry: Entry,
    learner: Any,
    history: History,
    counts: dict[str, int],
    notes: list[str],
    metric: str,
    trials: list[Trial] | None,
    pruned: Pruned | None,
    certificate: Certificate | None,
    seconds: float,
) -> None:
    memory, n_bytes, facts = largest_memory(), os.path.getsize(options.output), describe(learner)
    if options.json:
        training = {"epochs": history.epochs, **history.meta(), "metric": metric if history.held_out else None}
        told = {
            "command": options.command,
            "task": entry.name,
            "model": options.output,
            "data": counts,
            "learner": facts,
            "training": training,
            "tuning": None if trials is None else [one._asdict() for one in trials],
            "pruning": None if pruned is None else pruned._asdict(),
            "certificate": None if certificate is None else certificate_json(certificate),
            "notes": notes,
            "seconds": seconds,
            "memory": memory,
            "bytes": n_bytes,
        }
        print(as_json(told))
    else:
        rows = [(NAMES.get(name, name), f"{n:,}") for name, n in counts.items() if n or name not in NAMES]
        of_run = OF_HISTORY if facts["played"] else COUNTS  # a classifier that was pruned counts from 0 again
        rows += rows_of({name: fact for name, fact in facts.items() if name not in of_run})
        rows.append(("mistakes", of_epochs(history.mistakes, converged=history.converged)))
        rows.append(("updates", of_epochs(history.updates)))
        if history.held_out:
            rows.append((f"held-out {metric}", of_epochs(history.held_out, ".2%")))
        if pruned is not None:
            rows.append(("pruned", pruned.told(metric)))
        if certificate is not None:
            rows.append(("certificate", str(certificate)))
        rule = getattr(learner.parameters, "rule", None)
        if rule is not None and not RULES[rule].theorem:
            rows.append(("bound", f"none is known for {rule}; --rule perceptron has one"))
        rows += [("time", f"{seconds:.2f} s"), ("memory", size(memory)), ("bytes", size(n_bytes))]
        print(pairs([*rows, ("model", options.output)]))


def largest_memory() -> int:
    """The most memory that the process has had, in bytes."""
    # ru_maxrss begins with that of who started the process
    with suppress(OSError), open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


NAMES = {"skipped": "skipped", "unanswered": "without answer"}  # are shown where there are some


def certificate_json(certificate: Certificate) -> dict[str, Any]:
    """A certificate as JSON has it."""
    values = asdict(certificate)
    values.pop("problems")
    mixed = {name: values.pop(name) for name in ("weighted_updates", "weighted_mistakes", "weighted_rounds")}
    values |= {name: value for name, value in mixed.items() if value is not None}
    return {**values, "holds": certificate.holds, "text": str(certificate)}


def rows_of(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Facts for a table; of many classes the first, and shares in percent."""
    return [(name.replace("_", " "), _shown(value)) for name, value in facts.items() if value is not None]


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.2%}"
    if isinstance(value, list):
        return ", ".join(map(in_line, value[:SHOWN_CLASSES])) + (", …" if len(value) > SHOWN_CLASSES else "")
    return f"{value:,}" if isinstance(value, int) else str(value)
