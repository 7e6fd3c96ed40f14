"""What a reranker gains over its tagger, end to end. Needs PERCEPTIVE_DATA.

Cross-validated on the training files, and on the test files.

python benchmarks/reranking.py                    # chunks, tags and names
python benchmarks/reranking.py tags --lookback 0  # one of them; each sentence by itself
"""

from __future__ import annotations

import argparse
import time
from statistics import mean
from typing import Any

import data
from machine import machine
from perceptive import LinearRanker, Reranker, SequenceTagger
from perceptive.evaluation.conlleval import evaluate
from perceptive.learners.reranking import BITS, LOOKBACK, RANKER
from perceptive.streams import conll
from report import Table, Target, show, write

BLOCK, FOLDS = 200, 3  # sentences of a block; blocks are held out in turn
WANTED = 0.3
CONLL = "conll2000/train.txt", "conll2000/test.txt"
CORPORA: dict[str, tuple[str, tuple[str, str], dict[str, Any]]] = {  # preset, files, and the columns that are read
    "chunks": ("chunking", CONLL, {}),
    "crf++": ("crf++", CONLL, {}),
    "tags": ("pos", ("ud_ewt/train.tsv", "ud_ewt/test.tsv"), {"columns": ("0",), "label": 1}),
    "names": ("ner", ("conll2002_ned/ned.train", "conll2002_ned/ned.testb"), {}),
}


def main() -> None:
    """Print F1, or the accuracy of tags, of taggers and their rerankers, and the time of both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="*", metavar="CORPUS", help=", ".join(CORPORA))
    parser.add_argument("--lookback", type=int, default=LOOKBACK)
    parser.add_argument("--C", type=float, default=RANKER["C"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/README.md")
    options = parser.parse_args()
    named = ["corpus", "tagger", "reranked", "gain", "of each part", "oracle", "CPU, s"]
    tables = [Table(f"Reranking {what}", named) for what in ("by cross-validation", "on the test files")]
    targets = []
    for name in options.corpora or CORPORA:
        preset, files, columns = CORPORA[name]
        paths = [data.part(path) for path in files]
        if None in paths:
            continue
        (X, y), (X_test, y_test) = (conll.read(str(path), **columns) for path in paths)
        for table, parts in zip(tables, ([0, 1, 2], [None]), strict=True):
            began, found = time.process_time(), []
            for fold in parts:
                part = (X, y, X_test, y_test) if fold is None else _held_out(X, y, fold)
                ranker = LinearRanker(bits=BITS, **{**RANKER, "C": options.C}, random_state=options.seed)
                tagger = SequenceTagger(template=preset, random_state=options.seed)
                found.append(_scores(Reranker(tagger, ranker=ranker, lookback=options.lookback), *part))
            before, after, oracle = (mean(scores) for scores in zip(*found, strict=True))
            gains = ", ".join(f"{b - a:+.2f}" for a, b, _ in found)
            seconds = f"{(time.process_time() - began) / len(found):.0f}"
            row = [f"{before:.2f}", f"{after:.2f}", f"{after - before:+.2f}", gains, f"{oracle:.2f}", seconds]
            table.rows.append([name, *row])
            text = f"{name}: {table.title.lower()}, {WANTED} above the tagger"
            targets.append(Target(text, f"{after - before:+.2f}", after - before >= WANTED))
    show(tables, targets)
    if options.write:
        write("reranking", tables, targets, machine("two cores", "numpy", "scipy", "scikit-learn"))


def _held_out(X: list[Any], y: list[Any], fold: int) -> tuple[list[Any], ...]:
    outside = [i // BLOCK % FOLDS == fold for i in range(len(X))]
    return tuple([one for one, out in zip(of, outside, strict=True) if out == held] for held in (0, 1) for of in (X, y))


def _scores(model: Reranker, X: Any, y: Any, X_test: Any, y_test: Any) -> tuple[float, float, float]:
    model.fit(X, y)
    in_segments = model.learner_.in_segments(y)
    results = [evaluate(y_test, one.predict(X_test)) for one in (model.tagger_, model)]
    before, after = (float(one.f1 if in_segments else one.accuracy) for one in results)
    return before, after, 100 * model.oracle(X_test, y_test)


if __name__ == "__main__":
    main()
