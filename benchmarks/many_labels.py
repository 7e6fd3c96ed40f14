"""Taggers with some 450 labels, made from EWT: memory, seconds of an epoch, accuracy; beside python-crfsuite.

A part of `make bench-tagger`; `python benchmarks/many_labels.py` runs it alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from perceptive.streams import conll
from report import Table, Target, show
from tagger_speed import Corpus

LEAST = 5  # times that a label is seen in training; others do without the letter
ROWS = {
    "perceptron": ("rule='perceptron'", 1),
    "pa1": ("rule='pa1', C=0.03", 1),
    "pa1, a beam of 8": ("rule='pa1', C=0.03, beam=8", 1),
    "pa1, 10 epochs": ("rule='pa1', C=0.03", 10),
}


def joined(token: tuple[str, ...]) -> str:
    """XPOS, UPOS and the last letter of the word: as many labels as large tag sets have."""
    word, xpos, upos = token
    last = word[-1].lower()
    return f"{xpos}-{upos}-{last}" if last.isascii() and last.isalpha() else f"{xpos}-{upos}"


def corpora(data: Path) -> list[Corpus]:
    """The training and the development part of EWT under joined labels."""
    parts = []
    for part in ("train", "dev"):
        X, y = conll.read(data / f"ud_ewt/{part}.tsv")
        parts.append(
            [[(*token, label) for token, label in zip(x, labels, strict=True)] for x, labels in zip(X, y, strict=True)]
        )
    known = Counter(joined(token) for sentence in parts[0] for token in sentence)
    return [
        (
            [[token[0] for token in sentence] for sentence in part],
            [
                [label if known[label := joined(token)] >= LEAST else f"{token[1]}-{token[2]}" for token in sentence]
                for sentence in part
            ],
        )
        for part in parts
    ]


def alone(code: str, data: Path) -> dict[str, float]:
    """What a process of its own measures: CPU seconds of training, accuracy, the largest resident set in MB."""
    script = (
        "import json, sys, time\n"
        "from pathlib import Path\n"
        "from many_labels import corpora\n"
        "(X, y), (X_dev, y_dev) = corpora(Path(sys.argv[1]))\n"
        f"{code}\n"
        "right = sum(a == b for one, other in zip(found, y_dev) for a, b in zip(one, other))\n"
        "memory = int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]) / 1024\n"
        "labels = len({label for labels in y for label in labels})\n"
        "accuracy = 100 * right / sum(map(len, y_dev))\n"
        "print(json.dumps({'seconds': seconds, 'accuracy': accuracy, 'memory': memory, 'labels': labels}))\n"
    )
    here = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", script, str(data)], cwd=here, check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def ours(parameters: str, epochs: int) -> str:
    """Code that trains a tagger and predicts."""
    return (
        "from perceptive.learners import SequenceLearner\n"
        "from perceptive.parameters import TrainingParameters\n"
        "from perceptive.training import InMemory, Run, train\n"
        f"learner = SequenceLearner(template='pos', hypothesis='averaged', {parameters})\n"
        f"dataset = learner.dataset(X, y, epochs={epochs})\n"
        "began = time.process_time()\n"
        f"train(Run.of(learner, TrainingParameters(epochs={epochs})), InMemory(dataset, True))\n"
        "seconds = time.process_time() - began\n"
        "found = learner.predict_many(X_dev)"
    )


CRFSUITE = (
    "from rivals import crfsuite\n"
    "from rivals.token_features import parts_of_speech\n"
    "def features(X): return crfsuite.extract([[(word,) for word in x] for x in X], parts_of_speech)\n"
    "model = crfsuite.Crfsuite('ap', 1)\n"
    "model.append(features(X), y)\n"
    "began = time.process_time()\n"
    "model.train()\n"
    "seconds = time.process_time() - began\n"
    "found = model.predict(features(X_dev))"
)


def many_labels(data: Path, quick: bool) -> tuple[list[Table], list[Target]]:
    """One epoch each, beside python-crfsuite's; and ten of ours."""
    rival = alone(CRFSUITE, data)
    table = Table(
        f"EWT under {rival['labels']:.0f} labels (XPOS, UPOS, the last letter), preset 'pos'",
        ["", "epochs", "seconds an epoch", "accuracy dev", "peak MB"],
    )
    measured = {}
    for name, (parameters, epochs) in ROWS.items():
        if quick and epochs > 1:
            continue
        one = measured[name] = alone(ours(parameters, epochs), data)
        table.rows.append(
            [name, str(epochs), f"{one['seconds'] / epochs:.1f}", f"{one['accuracy']:.2f}", f"{one['memory']:.0f}"]
        )
    table.rows.append(
        ["python-crfsuite ap, simple word features", "1", f"{rival['seconds']:.1f}", f"{rival['accuracy']:.2f}",
         f"{rival['memory']:.0f}"]
    )  # fmt: skip
    memory = max(one["memory"] for one in measured.values())
    part = measured["pa1"]["seconds"] / rival["seconds"]
    return [table], [
        Target("450 labels in ≤ 1.2 GB", f"{memory:.0f} MB", memory <= 1200),
        Target("… an epoch ≤ 0.1 × python-crfsuite ap's", f"{part:.3f}", part <= 0.1),
    ]


if __name__ == "__main__":
    show(*many_labels(Path(os.environ["PERCEPTIVE_DATA"]), quick=False))
