"""Templates for chunks, cross-validated on the training file of CoNLL-2000. Needs PERCEPTIVE_DATA.

python benchmarks/chunking.py                            # the preset
python benchmarks/chunking.py --without cluster          # without the lines that have this in them
python benchmarks/chunking.py --with 'cluster(30)[-1:1]' # with lines more
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import data
from perceptive import SequenceTagger
from perceptive.evaluation.conlleval import evaluate
from perceptive.features.presets import LONGER, PARAMETERS, PRESETS
from perceptive.streams import conll
from report import Table, show

BLOCK, FOLDS = 200, 3  # sentences of a block; blocks are held out in turn


def main() -> None:
    """Print F1 of all held-out sentences, of each fold, and the time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--without", action="append", default=[], metavar="TEXT")
    parser.add_argument("--with", action="append", default=[], metavar="LINE", dest="more")
    chosen = parser.parse_args()
    path = data.part("conll2000/train.txt")
    if path is None:
        return
    lines = [line for line in PRESETS["chunking"].splitlines() if not any(text in line for text in chosen.without)]
    X, y = conll.read(str(path))
    outs = [[i for i in range(len(X)) if i // BLOCK % FOLDS == fold] for fold in range(FOLDS)]
    table = Table("Chunks of CoNLL-2000, cross-validated", ["seed", "F1", "folds", "CPU, s"])
    for seed in range(chosen.seeds):
        began, found = time.process_time(), [[] for _ in X]
        for out in outs:
            kept = sorted({*range(len(X))} - {*out})
            how = {**LONGER, **PARAMETERS["chunking"], "min_count": 2, "random_state": seed}  # as the preset's "auto"
            tagger = SequenceTagger(template="\n".join([*lines, *chosen.more]), **how)
            tagger.fit([X[i] for i in kept], [y[i] for i in kept])
            for i, mine in zip(out, tagger.predict([X[i] for i in out]), strict=True):
                found[i] = mine
        folds = ", ".join(f"{_f1(y, found, out):.2f}" for out in outs)
        whole = f"{_f1(y, found, range(len(X))):.2f}"
        table.rows.append([str(seed), whole, folds, f"{time.process_time() - began:.0f}"])
    show([table], [])


def _f1(y: list[Any], found: list[Any], some: Any) -> float:
    return float(evaluate([y[i] for i in some], [found[i] for i in some]).f1)


if __name__ == "__main__":
    main()
