"""The speed of the sequence tagger, from file to model and from tokens to labels, beside python-crfsuite."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from perceptive import SequenceTagger
from perceptive.evaluation.conlleval import evaluate
from perceptive.learners import SequenceLearner
from perceptive.streams import conll
from report import Table, Target
from rivals import crfsuite, token_features
from timing import interleave, ratio

EPOCHS = 10
Corpus = tuple[list[Any], list[list[str]]]


def same_template(train: Path, test: Corpus, repetitions: int) -> tuple[Table, list[Target], dict[str, Any]]:
    """File to model with the template that CRF++ ships, the averaged perceptron, ten epochs."""
    stages: dict[str, list[dict[str, float]]] = {"ours": [], "crfsuite": []}
    models: dict[str, Any] = {}

    def ours(seed: int) -> SequenceTagger:
        clock = Clock()
        X, y = conll.read(train)
        clock("read")
        tagger = SequenceTagger(template="crf++", epochs=EPOCHS, random_state=seed)
        SequenceLearner(template="crf++").dataset(X, y, epochs=EPOCHS)
        clock("features")
        tagger.fit(X, y)  # makes the features again
        clock("train")
        clock.seconds["train"] -= clock.seconds["features"]
        stages["ours"].append(clock.seconds)
        models["ours"] = tagger
        return tagger

    def rival(seed: int) -> crfsuite.Crfsuite:
        clock = Clock()
        X, y = conll.read(train)
        clock("read")
        features = crfsuite.extract(X, token_features.chunking)
        clock("features")
        model = crfsuite.Crfsuite("ap", EPOCHS)
        model.append(features, y)
        clock("append")
        model.train()
        clock("train")
        stages["crfsuite"].append(clock.seconds)
        models["crfsuite"] = model
        return model

    interleave({"ours": ours, "crfsuite": rival}, repetitions)
    totals = {name: [sum(one.values()) for one in runs] for name, runs in stages.items()}
    training = {name: [one["train"] for one in runs] for name, runs in stages.items()}
    X, y = test
    predict = {
        "ours": lambda _: models["ours"].predict(X),
        "crfsuite": lambda _: models["crfsuite"].predict(crfsuite.extract(X, token_features.chunking)),
    }
    tagging = interleave(predict, max(5, repetitions))
    made = crfsuite.extract(X, token_features.chunking)
    decode_only = interleave({"crfsuite": lambda _: models["crfsuite"].predict(made)}, 3)
    tokens = sum(map(len, X))
    table = Table(
        f"Same template (CRF++'s), averaged perceptron, {EPOCHS} epochs, CoNLL-2000: CPU seconds, median",
        ["", "read", "features", "append", "train", "file → model", "tokens/s, raw", "decode only", "F1 test"],
    )
    for name, title in (("ours", "perceptive"), ("crfsuite", "python-crfsuite ap")):
        cells = [
            f"{middle([one.get(stage, 0.0) for one in stages[name]]):.2f}"
            for stage in ("read", "features", "append", "train")
        ]
        result = evaluate(y, models[name].predict(X if name == "ours" else made))
        only = "—" if name == "ours" else f"{tokens / decode_only[name].median:,.0f}"
        table.rows.append(
            [
                title,
                *cells,
                f"{middle(totals[name]):.2f}",
                f"{tokens / tagging[name].median:,.0f}",
                only,
                f"{result.f1:.2f}",
            ]
        )
    whole = middle([a / b for a, b in zip(totals["ours"], totals["crfsuite"], strict=False)])
    epoch = middle([a / b for a, b in zip(training["ours"], training["crfsuite"], strict=False)])
    speed = tokens / tagging["ours"].median
    faster = 1 / ratio(tagging["ours"], tagging["crfsuite"])
    targets = [
        Target("same template, file → model: ≤ 0.15 × python-crfsuite", f"{whole:.3f} ×", whole <= 0.15),
        Target("time per epoch: ≤ 0.2 ×", f"{epoch:.3f} ×", epoch <= 0.2),
        Target("tagging from raw tokens: ≥ 8 × python-crfsuite", f"{faster:.1f} ×", faster >= 8),
        Target("tagging from raw tokens: ≥ 800,000 tokens/s", f"{speed:,.0f}", speed >= 800_000),
    ]
    return table, targets, models


class Clock:
    """CPU seconds of the stages of a job."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.last = time.process_time()

    def __call__(self, stage: str) -> None:
        """A stage is over."""
        now = time.process_time()
        self.seconds[stage], self.last = now - self.last, now


def middle(values: Sequence[float]) -> float:
    """The median."""
    return sorted(values)[len(values) // 2]
