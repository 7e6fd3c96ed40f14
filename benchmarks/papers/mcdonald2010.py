"""McDonald, Hall & Mann 2010: serial, one-shot and iterative parameter mixing, F1 against epochs and time."""

from __future__ import annotations

from statistics import mean
from typing import Any

from papers.corpora import Corpus, corpus, scored
from papers.paper import Claim, Paper
from perceptive.evaluation.conlleval import evaluate
from perceptive.learners import SequenceLearner
from perceptive.parameters import TrainingParameters
from perceptive.training.mixing import one_shot
from report import Table

SHARDS = 10


def once(data: Corpus, epochs: int, **parameters: Any) -> SequenceLearner:
    """Shards that learn apart for all epochs and are mixed once."""
    learner = SequenceLearner(**parameters)
    one_shot(learner.dataset(*data, epochs=epochs), TrainingParameters(epochs=epochs, shards=SHARDS))
    return learner


def reproduce(quick: bool = False) -> Paper:
    """Dutch named entities in ten shards, as many as the paper's."""
    n, epochs, seeds = (600, 4, 1) if quick else (None, 15, 3)
    train, test = corpus("conll2002_ned/ned.train", n), corpus("conll2002_ned/ned.testb", n)

    def score(learner: SequenceLearner) -> float:
        return float(evaluate(test[1], learner.predict_many(test[0])).f1)

    curves: dict[str, list[float]] = {}
    for hypothesis in ("last", "averaged"):
        for name, shards in (("serial", 1), ("mixing", SHARDS)):
            runs = [
                scored(
                    train, score, epochs=epochs, shards=shards, template="ner", hypothesis=hypothesis, random_state=seed
                )
                for seed in range(seeds)
            ]
            curves[f"{name}, {hypothesis}"] = [mean(values) for values in zip(*runs, strict=True)]
        runs = [
            [score(once(train, epochs, template="ner", hypothesis=hypothesis, random_state=seed))]
            for seed in range(seeds)
        ]
        curves[f"one-shot, {hypothesis}"] = [mean(one[0] for one in runs)] * epochs
    table = Table(
        f"Dutch named entities (testb), {SHARDS} shards, {seeds} seeds: F1",
        ["", "1 epoch", f"{epochs // 3} epochs", f"{epochs} epochs"],
        [
            (
                name,
                "" if "one-shot" in name else f"{f[0]:.2f}",
                "" if "one-shot" in name else f"{f[epochs // 3 - 1]:.2f}",
                f"{f[-1]:.2f}",
            )
            for name, f in curves.items()
        ],
    )
    end = {name: values[-1] for name, values in curves.items()}
    claims = [
        Claim(
            "mixing is better than one-shot (not averaged)",
            f"{end['mixing, last'] - end['one-shot, last']:+.2f}",
            end["mixing, last"] > end["one-shot, last"],
        ),
        Claim(
            "mixing is better than one-shot (averaged)",
            f"{end['mixing, averaged'] - end['one-shot, averaged']:+.2f}",
            end["mixing, averaged"] > end["one-shot, averaged"],
        ),
        Claim(
            "mixing is as good as serial learning (averaged)",
            f"{end['mixing, averaged'] - end['serial, averaged']:+.2f}",
            end["mixing, averaged"] > end["serial, averaged"] - 0.3,
        ),
        Claim(
            "without averaging, mixing is better than serial learning: mixing averages too",
            f"{end['mixing, last'] - end['serial, last']:+.2f}",
            end["mixing, last"] > end["serial, last"],
        ),
    ]

    def draw(figure: Any) -> None:
        by_epoch, by_time = figure.subplots(1, 2, sharey=True)
        for name, values in curves.items():
            colour = {"serial": "0.4", "mixing": "tab:purple", "one-shot": "tab:green"}[name.split(",")[0]]
            line = "-" if "averaged" in name else "--"
            at = range(1, epochs + 1)
            by_epoch.plot(at, values, line, color=colour, label=name)
            by_time.plot([t / (1 if "serial" in name else SHARDS) for t in at], values, line, color=colour)
        by_epoch.set(xlabel="epochs", ylabel="F1, %")
        by_time.set(xlabel="epochs of one core's time, were there ten", xscale="log")
        by_epoch.legend(fontsize="small")

    return Paper(
        "Parameter mixing",
        "McDonald, Hall & Mann (2010), Distributed training strategies for the structured perceptron",
        """Ten learners each see a tenth of the sentences. Is the mean of their weights as good as one learner that
        sees all? Serial is one learner; one-shot takes the mean once, at the end; mixing takes it after every
        epoch, and all go on from there.""",
        """The paper learns English named entities (CoNLL-2003, not free) and Czech dependencies; here we learn
        Dutch named entities (CoNLL-2002), with our preset. Time is not measured but computed: ten shards on ten
        cores take a tenth of an epoch. `make bench-parallel` measures it on two cores. The paper's own scores are
        not shown: neither the notes nor any text that we could read gives them.""",
        [table],
        claims,
        draw,
        "F1 by epoch, and by computed time on ten cores",
    )
