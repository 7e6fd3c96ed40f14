"""The sequence tagger against python-crfsuite and NLTK: speed, accuracy, model size. `make bench-tagger`.

Needs the folder named by PERCEPTIVE_DATA with conll2000, conll2002_ned and ud_ewt. What is chosen is chosen on a part
of the training data; test files are read once, for the numbers in the tables.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import perceptive
from machine import machine
from many_labels import many_labels
from perceptive import SequenceTagger
from perceptive.evaluation.conlleval import evaluate
from perceptive.features import schemes
from perceptive.streams import conll
from report import Table, Target, show, write
from rivals import crfsuite, token_features
from tagger_speed import EPOCHS, Corpus, middle, same_template

SEEDS = 5
HELD_OUT = 0.15  # of the training sentences, the last ones
CANDIDATES: list[dict[str, Any]] = [
    {"rule": "perceptron", "min_count": 1},
    {"rule": "pa1", "C": 0.03, "min_count": 1},
    {"rule": "pa1", "C": 0.03, "min_count": 2},
    {"rule": "pa1", "C": 0.1, "min_count": 2},
]
SEGMENTS = [*CANDIDATES, {"rule": "pa1", "C": 0.03, "min_count": 2, "encoding": "bioes"}]


def folder() -> Path:
    """Where the data are."""
    given = os.environ.get("PERCEPTIVE_DATA")
    if given is None or not (Path(given) / "conll2000").exists():
        sys.exit("set PERCEPTIVE_DATA to the folder that holds conll2000, conll2002_ned and ud_ewt")
    return Path(given)


def words_only(corpus: Corpus) -> Corpus:
    """Without the other columns."""
    return [[token[0] for token in sentence] for sentence in corpus[0]], corpus[1]


def np_only(y: list[list[str]]) -> list[list[str]]:
    """Only noun phrases, the rest outside."""
    return [[label if label.endswith("-NP") else "O" for label in labels] for labels in y]


def spread(values: Sequence[float]) -> str:
    """Mean and standard deviation."""
    return f"{mean(values):.2f} ± {stdev(values):.2f}" if len(values) > 1 else f"{values[0]:.2f}"


def named(parameters: dict[str, Any]) -> str:
    """Parameters in words."""
    return ", ".join(f"{name}={value}" for name, value in parameters.items())


# ---------------------------------------------------------------- accuracy


def held_out(corpus: Corpus) -> tuple[Corpus, Corpus]:
    """The training part, and its end to choose by."""
    X, y = corpus
    cut = round(len(X) * (1 - HELD_OUT))
    return (X[:cut], y[:cut]), (X[cut:], y[cut:])


def measure(tagger: SequenceTagger, corpus: Corpus) -> float:
    """F of segments, or accuracy of tokens, in percent."""
    return 100 * tagger.score(*corpus)


def choose(template: str, train: Corpus, dev: Corpus, candidates: list[dict[str, Any]]) -> tuple[dict[str, Any], Table]:
    """The candidate that does best on the held-out part."""
    table = Table(f"Chosen on held-out data: preset {template!r}", ["parameters", "held-out score", "seconds"])
    scores = []
    for parameters in candidates:
        began = time.process_time()
        tagger = SequenceTagger(template=template, **{"epochs": EPOCHS, **parameters}).fit(*train)
        scores.append(measure(tagger, dev))
        table.rows.append([named(parameters), f"{scores[-1]:.2f}", f"{time.process_time() - began:.1f}"])
    return candidates[scores.index(max(scores))], table


def repeated(
    template: str, parameters: dict[str, Any], train: Corpus, test: Corpus, seeds: int
) -> tuple[list[Any], list[float], SequenceTagger]:
    """Evaluations on the test part and CPU seconds of the training, for each seed."""
    results, seconds = [], []
    for seed in range(seeds):
        began = time.process_time()
        tagger = SequenceTagger(template=template, random_state=seed, **{"epochs": EPOCHS, **parameters}).fit(*train)
        seconds.append(time.process_time() - began)
        results.append(evaluate(test[1], tagger.predict(test[0])))
    return results, seconds, tagger


def chunking(train: Corpus, test: Corpus, seeds: int) -> tuple[list[Table], list[Target], dict[str, Any]]:
    """All chunks, and noun phrases alone."""
    chosen, choice = choose("chunking", *held_out(train), SEGMENTS)
    table = Table(f"CoNLL-2000 chunking, {seeds} seeds", ["", "F1 test", "NP of all", "seconds"])
    results, seconds, tagger = repeated("chunking", chosen, train, test, seeds)
    f1 = [result.f1 for result in results]
    np_of_all = [result.measures("NP")[2] for result in results]
    table.rows.append([f"chunking, {named(chosen)}", spread(f1), spread(np_of_all), f"{mean(seconds):.1f}"])
    alone, seconds_np, _ = repeated(
        "chunking", chosen, (train[0], np_only(train[1])), (test[0], np_only(test[1])), seeds
    )
    np_f1 = [result.f1 for result in alone]
    table.rows.append(["the same, trained on NP alone", spread(np_f1), "", f"{mean(seconds_np):.1f}"])
    invalid = sum(schemes.violation("bio", labels) is not None for labels in tagger.predict(test[0]))
    targets = [
        Target("CoNLL-2000 all chunks F1 ≥ 94.1", spread(f1), mean(f1) >= 94.1),
        Target("… in under 20 s of training", f"{mean(seconds):.1f} s", mean(seconds) < 20),
        Target("NP only F1 ≥ 94.5", spread(np_f1), mean(np_f1) >= 94.5),
        Target("invalid BIO sequences: 0", str(invalid), invalid == 0),
    ]
    return [choice, table], targets, chosen


def parts_of_speech(data: Path, seeds: int, quick: bool) -> tuple[list[Table], list[Target]]:
    """EWT, XPOS: words alone are read. The development file is there to choose by."""
    train, dev, test = (
        words_only(conll.read(data / f"ud_ewt/{part}.tsv", label=1)) for part in ("train", "dev", "test")
    )
    longer = [{"rule": "pa1", "C": C, "min_count": 2, "epochs": 20} for C in (0.03, 0.01)]
    chosen, choice = choose("pos", train, dev, [*CANDIDATES, *longer])
    results, seconds, _ = repeated("pos", chosen, train, test, seeds)
    accuracy = [result.accuracy for result in results]
    table = Table(f"EWT XPOS, {seeds} seeds", ["", "accuracy test", "seconds"])
    table.rows.append([f"pos, {named(chosen)}", spread(accuracy), f"{mean(seconds):.1f}"])
    if not quick:
        X = [[(word,) for word in sentence] for sentence in train[0]]
        X_test = [[(word,) for word in sentence] for sentence in test[0]]
        began = time.process_time()
        model = crfsuite.Crfsuite("ap", EPOCHS)
        model.append(crfsuite.extract(X, token_features.parts_of_speech), train[1])
        model.train()
        took = time.process_time() - began
        found = evaluate(test[1], model.predict(crfsuite.extract(X_test, token_features.parts_of_speech)))
        table.rows.append(["python-crfsuite ap, simple word features", f"{found.accuracy:.2f}", f"{took:.1f}"])
        try:
            from rivals.nltk_tagger import Nltk
        except ImportError as error:
            print(f"nltk: left out, it is not installed ({error})")
        else:
            began = time.process_time()
            nltk = Nltk().fit(*train)
            took = time.process_time() - began
            found = evaluate(test[1], nltk.predict(test[0]))
            table.rows.append(["NLTK, 5 epochs", f"{found.accuracy:.2f}", f"{took:.1f}"])
    target = Target("EWT XPOS test accuracy ≥ 94.8", spread(accuracy), mean(accuracy) >= 94.8)
    return [choice, table], [target]


def entities(data: Path, seeds: int) -> tuple[list[Table], list[Target]]:
    """Dutch names. testa is there to choose by."""
    train, dev, test = (conll.read(data / f"conll2002_ned/ned.{part}") for part in ("train", "testa", "testb"))
    chosen, choice = choose("ner", train, dev, SEGMENTS)
    results, seconds, _ = repeated("ner", chosen, train, test, seeds)
    f1 = [result.f1 for result in results]
    began = time.process_time()
    model = crfsuite.Crfsuite("ap", EPOCHS)
    model.append(crfsuite.extract(train[0], token_features.names), train[1])
    model.train()
    took = time.process_time() - began
    rival = evaluate(test[1], model.predict(crfsuite.extract(test[0], token_features.names))).f1
    table = Table(f"CoNLL-2002 Dutch entities, {seeds} seeds", ["", "F1 testb", "seconds"])
    table.rows.append([f"ner (words alone), {named(chosen)}", spread(f1), f"{mean(seconds):.1f}"])
    table.rows.append(["python-crfsuite ap, its tutorial's features (with tags)", f"{rival:.2f}", f"{took:.1f}"])
    better = mean(f1) - rival
    target = Target("Dutch entities: ≥ 1 point above python-crfsuite ap", f"{better:+.2f}", better >= 1)
    return [choice, table], [target]


# ---------------------------------------------------------------- size and memory


def model_file(train: Corpus, test: Corpus, chosen: dict[str, Any]) -> tuple[Table, list[Target]]:
    """Pruned as far as a held-out part allows; size, time to load, F1 before and after."""
    part, dev = held_out(train)
    threshold, thresholds = 0.0, (0.0, 0.002, 0.005, 0.01, 0.015, 0.02, 0.03)
    tagger = SequenceTagger(template="chunking", epochs=EPOCHS, **chosen).fit(*part)
    whole = measure(tagger, dev)
    scale = 1.0 if chosen["rule"] != "perceptron" else 100.0  # the perceptron's weights are larger
    for one in thresholds:
        tagger.prune(one * scale)
        if measure(tagger, dev) >= whole - 0.02:
            threshold = one * scale
    tagger = SequenceTagger(template="chunking", epochs=EPOCHS, **chosen).fit(*train)
    before = measure(tagger, test)
    path = Path(tempfile.mkdtemp()) / "chunking.model"
    sizes = []
    for pruned in (False, True):
        if pruned:
            tagger.prune(threshold)
        perceptive.save(tagger, path)
        sizes.append(path.stat().st_size / 1e6)
    after = measure(tagger, test)
    loads = []
    for _ in range(11):
        began = time.process_time()
        perceptive.load(path)
        loads.append(1000 * (time.process_time() - began))
    memory = training_memory(chosen)
    table = Table("The model of chunking", ["", "MB", "F1 test", "loads in ms"])
    table.rows.append(["as trained", f"{sizes[0]:.1f}", f"{before:.2f}", ""])
    table.rows.append([f"pruned at {threshold:g}", f"{sizes[1]:.1f}", f"{after:.2f}", f"{middle(loads):.1f}"])
    lost = before - after
    return table, [
        Target("model ≤ 5 MB after pruning", f"{sizes[1]:.1f} MB", sizes[1] <= 5),
        Target("… without losing 0.05 F1", f"{lost:+.2f} lost", lost <= 0.05),
        Target("loads in ≤ 10 ms", f"{middle(loads):.1f} ms", middle(loads) <= 10),
        Target("memory in training on CoNLL-2000 ≤ 250 MB", f"{memory:.0f} MB, the process in all", memory <= 250),
    ]


def training_memory(chosen: dict[str, Any]) -> float:
    """The largest resident set, in MB, of a process that reads the file and trains."""
    code = (
        "import sys\n"
        "from perceptive.learners import SequenceLearner\n"
        "from perceptive.parameters import TrainingParameters\n"
        "from perceptive.streams import conll\n"
        "from perceptive.training import InMemory, Run, train\n"
        "X, y = conll.read(sys.argv[1])\n"
        f"learner = SequenceLearner(template='chunking', **{chosen!r})\n"
        f"run = Run.of(learner, TrainingParameters(epochs={EPOCHS}))\n"
        f"train(run, InMemory(learner.dataset(X, y, epochs={EPOCHS}), True))\n"
        "status = open('/proc/self/status').read()\n"  # ru_maxrss would be that of the process that started this one
        "print(int(status.split('VmHWM:')[1].split()[0]) / 1024)\n"
    )
    train = str(folder() / "conll2000/train.txt")
    done = subprocess.run([sys.executable, "-c", code, train], check=True, capture_output=True, text=True)
    return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="two seeds, few repetitions: to try the script out")
    size.add_argument("--write", action="store_true", help="put the tables into benchmarks/README.md")
    options = parser.parse_args()
    seeds, repetitions = (2, 1) if options.quick else (SEEDS, 3)
    data = folder()
    train, test = (conll.read(data / f"conll2000/{part}.txt") for part in ("train", "test"))
    tables: list[Table] = []
    targets: list[Target] = []

    def done(some: list[Table], more: list[Target]) -> None:
        tables.extend(some)
        targets.extend(more)
        show(some, more)

    table, more, _ = same_template(data / "conll2000/train.txt", test, repetitions)
    done([table], more)
    some, more, chosen = chunking(train, test, seeds)
    done(some, more)
    table, more = model_file(train, test, chosen)
    done([table], more)
    done(*entities(data, seeds))
    done(*parts_of_speech(data, seeds, options.quick))
    done(*many_labels(data, options.quick))
    if options.write:
        write("tagger", tables, targets, machine("one core", "numpy", "python-crfsuite", "nltk"))


if __name__ == "__main__":
    main()
