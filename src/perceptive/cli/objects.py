"""JSON lines as examples of kernels: every line is an object, the kernel names its parts, the label is beside."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

LABEL = "label"
COMPLAINTS = 10  # are shown


class Objects:
    """The objects of files, each with its label (None where there is none).

    Parameters
    ----------
    options : argparse.Namespace
        With ``data``, and ``on_error``: whether a broken line stops, or is left out and counted.
    labelled : bool
        Whether an object without a label is broken.
    """

    def __init__(self, options: argparse.Namespace, labelled: bool) -> None:
        if options.format not in (None, "json", "jsonl"):
            raise ValueError(f"kernels of strings, trees and parts take JSON lines, not {options.format}")
        self.paths, self.skips, self.labelled = options.data, options.on_error == "skip", labelled
        self.skipped = 0
        self.complaints: list[str] = []

    def __iter__(self) -> Iterator[tuple[dict[str, Any], Any]]:
        from perceptive.streams.blocks import blocks, expand, shown

        for path in expand(self.paths):
            number = 0
            for block in blocks(path):
                for line in bytes(block.text).splitlines():
                    number += 1
                    if not line.strip():
                        continue
                    try:
                        found = self._read(line)
                    except ValueError as error:
                        self._complain(f"{shown(path)}:{number}: {error}")
                    else:
                        yield found
                block.release()

    def _complain(self, what: str) -> None:
        if not self.skips:
            raise ValueError(what) from None
        self.skipped += 1
        if len(self.complaints) < COMPLAINTS:
            self.complaints.append(what)

    def _read(self, line: bytes) -> tuple[dict[str, Any], Any]:
        from perceptive.learners.lesson import is_missing

        try:
            found = json.loads(line)
        except RecursionError:
            raise ValueError("JSON that is nested too deeply; give flatter objects") from None
        except ValueError as error:
            raise ValueError(f"no JSON ({error}); give an object a line") from None
        if not isinstance(found, dict):
            raise ValueError(f'no JSON object; write {{"text": …, "{LABEL}": …}}')
        if LABEL not in found and self.labelled:
            raise ValueError(f"an object without {LABEL!r}: {str(found)[:60]}")
        label = found.pop(LABEL, None)
        if label is None and not self.labelled:
            return found, None
        if not isinstance(label, str | int | float) or is_missing(label):
            raise ValueError(f"the label {str(label)[:60]} is no label; give a string, a number, true or false")
        return found, label
