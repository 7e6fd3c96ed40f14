"""Templates for chunks, cross-validated on the training file of CoNLL-2000. Needs PERCEPTIVE_DATA.

python benchmarks/chunking.py                            # the preset
python benchmarks/chunking.py --without cluster          # without the lines that have this in them
python benchmarks/chunking.py --with 'cluster(30)[-1:1]' # with lines more
"""

from __future__ import annotations

import argparse
import time

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
    table = Table("Chunks of CoNLL-2000, cross-validated", ["seed", "F1", "folds", "CPU, s"])
    for seed in range(chosen.seeds):
        began, truth, found, folds = time.process_time(), [], [], []
        for fold in range(FOLDS):
            out = [i for i in range(len(X)) if i // BLOCK % FOLDS == fold]
            kept = sorted({*range(len(X))} - {*out})
            parameters = {**LONGER, **PARAMETERS["chunking"], "random_state": seed}
            tagger = SequenceTagger(template="\n".join([*lines, *chosen.more]), **parameters)
            tagger.fit([X[i] for i in kept], [y[i] for i in kept])
            truth += [y[i] for i in out]
            found += tagger.predict([X[i] for i in out])
            folds.append(evaluate(truth[-len(out) :], found[-len(out) :]).f1)
        shown = [evaluate(truth, found).f1, *folds]
        row = [f"{shown[0]:.2f}", ", ".join(f"{f1:.2f}" for f1 in shown[1:])]
        table.rows.append([str(seed), *row, f"{time.process_time() - began:.0f}"])
    show([table], [])


if __name__ == "__main__":
    main()
