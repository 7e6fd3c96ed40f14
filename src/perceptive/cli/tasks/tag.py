"""Tagging sentences in columns; and what rerankers share with that."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from perceptive.cli import pruning
from perceptive.cli.console import breaks_line, table
from perceptive.cli.options import given_to_learner, option_of
from perceptive.cli.tasks import Evaluation, Opened
from perceptive.cli.tasks.explained import Explained
from perceptive.cli.tasks.files import connected
from perceptive.cli.tasks.memory import Bools, MemoryJob, held_out
from perceptive.cli.tasks.rows import changed_options, count, note_strange, refuse_changed
from perceptive.cli.tasks.sentences import batches, files_of, located, placed, read, remember, threads_of, tokens_of
from perceptive.cli.tasks.tagged import tagged, tagged_documents, words_of, writes_documents
from perceptive.data.dataset import Dataset
from perceptive.data.documents import count_texts, joined_labels, parts_of
from perceptive.data.sentence_files import Annotated, SentenceFiles, is_answered, without_count
from perceptive.errors import UsageError, plural
from perceptive.evaluation.tags import TagEvaluation
from perceptive.features import schemes
from perceptive.learners.calibration import calibrate
from perceptive.learners.sequence import SequenceLearner
from perceptive.parameters import SequenceParameters, TrainingParameters
from perceptive.streams.blocks import expand
from perceptive.streams.columns import LAST, Columns
from perceptive.streams.parsing import Log, in_order
from perceptive.streams.sentence import Place, Sentence
from perceptive.training.loop import InMemory

if TYPE_CHECKING:
    from perceptive.training.cluster import Cluster
    from perceptive.training.cluster_sentences import ClusterSentences

OF_LABELS = ("@label[-1]", "@label[-2]")  # weights that look at labels alone


class Tag:
    unit, tells_epochs = "sentences", True

    def __init__(self) -> None:
        self._read: Annotated | None = None  # a pipe gives its sentences once
        self._elsewhere: tuple[Cluster, ClusterSentences] | None = None  # what workers have read

    # ------------------------------------------------------------ training

    def labels(self, options: argparse.Namespace, opened: ExitStack) -> tuple[list[Any], list[Any]]:
        """Return what chooses a preset: a first sentence, perhaps with more, and the labels of all.

        ``opened`` closes the cluster.
        """
        if options.cluster:
            files = files_of(options, None)
            shards = TrainingParameters.shards if options.shards is None else options.shards
            with self._cluster(options, shards, files) as (cluster, source):
                opened.push(cluster)
                return [source.first], source.y
        X, y, *_ = self._sentences(options, None)
        return X, y

    @contextmanager
    def _cluster(
        self, options: argparse.Namespace, shards: int, files: SentenceFiles
    ) -> Iterator[tuple[Cluster, ClusterSentences]]:
        """The cluster, whose workers have read the files: once, even if it is asked for again."""
        refuse_on_cluster(options, "weight")
        paths = expand(options.data)
        with connected(options, shards, paths, self._elsewhere and self._elsewhere[0]) as cluster:
            if self._elsewhere is None:
                from perceptive.training.cluster_sentences import ClusterSentences

                with located([]):
                    self._elsewhere = cluster, ClusterSentences.of_files(cluster, files, paths, shards)
            yield self._elsewhere

    def _sentences(self, options: argparse.Namespace, learner: Any) -> Annotated:
        if self._read is None:
            self._read = read(options.data, files_of(options, learner))
        return self._read

    def open(self, options: argparse.Namespace, training: TrainingParameters, learner: Any) -> MemoryJob:
        if options.dev and options.validation_fraction:
            raise UsageError("--dev and --holdout both choose the sentences for early stopping; give one of them")
        resumed = learner is not None and not options.model
        learner = self._begun(options, learner)
        if resumed:  # a file holds the lines of templates; they were asked for by another name, perhaps
            learner.parameters = replace(learner.parameters, template=options.template or SequenceParameters.template)
        pruning.check(options, learner)  # before many sentences are read
        files = files_of(options, learner)
        if options.cluster:
            return self._on_cluster(options, training, learner, files, resumed)
        X, y, places, columns, weights, unanswered, _ = self._sentences(options, learner)
        counts = count(len(X), Log(), unanswered, tokens=sum(map(len, X)))
        if options.dev:
            X_held, y_held, held_places, *_ = read([options.dev], replace(files, weight=None))
        else:
            held = self._held_out(training, learner, places)
            X_held, y_held, held_places = _take(held, X, y, places)
            X, y, places = _take(~held, X, y, places)
            weights = None if weights is None else _take(~held, weights)[0]
        with located(places):
            dataset = learner.dataset(X, y, weights, epochs=training.epochs, resumed=resumed)
        source = InMemory(dataset, training.shuffle, self._scored(learner, X_held, y_held, held_places))
        remember(learner, columns, X[0])

        def look(learner: Any) -> Dataset:
            return self.looked_at(learner, X, y, weights)

        how = look, partial(calibrate, X=X_held, y=y_held) if X_held else None
        return MemoryJob(learner, source, _metric(learner, y_held), expand(options.data), Log(), counts, *how)

    def _on_cluster(
        self,
        options: argparse.Namespace,
        training: TrainingParameters,
        learner: Any,
        files: SentenceFiles,
        resumed: bool,
    ) -> MemoryJob:
        """Let workers read the files."""
        with self._cluster(options, training.shards, files) as (cluster, source):
            if options.dev:
                X_held, y_held, held_places, *_ = read([options.dev], files)
                held = np.zeros(len(source.places), bool)
            else:
                held = self._held_out(training, learner, source.places)
                X_held, y_held = source.held_out(held) if held.any() else ([], [])
                [held_places] = _take(held, source.places)
            with located(_take(~held, source.places)[0]):
                source.begin(learner, ~held, resumed or learner.rounds == 0)
            source.scored = self._scored(learner, X_held, y_held, held_places)
            remember(learner, source.columns, source.first)
            counts = count(len(source.y), Log(), source.unanswered, tokens=sum(map(len, source.y)))

        def look(learner: Any) -> Dataset:
            return learner.dataset(*_take(~held, *read(options.data, files)[:2]), grow=False)  # type: ignore[no-any-return]

        how = look, partial(calibrate, X=X_held, y=y_held) if X_held else None, cluster
        return MemoryJob(learner, source, _metric(learner, y_held), expand(options.data), Log(), counts, *how)

    def _held_out(self, training: TrainingParameters, learner: Any, places: Sequence[Place]) -> Bools:
        """Which sentences are held out: a part of each file."""
        which = np.cumsum([a.path != b.path for a, b in itertools.pairwise([places[0], *places])])
        return held_out(training.validation_fraction, learner.parameters.random_state, which, unit="sentences")

    def _scored(self, learner: Any, X: list[Any], y: list[Any], places: Sequence[Place]) -> Callable[[], float] | None:
        """The score on sentences that are held out; None where there are none."""
        with located(places):
            learner.predict_many(X, "last")  # raises for what cannot be read, before anything is learned
        return (lambda: score(learner, y, learner.predict_many(X))) if X else None

    def _begun(self, options: argparse.Namespace, learner: Any) -> Any:
        if options.model:
            if options.repair:  # it is about the files at hand
                learner.parameters = replace(learner.parameters, repair=options.repair)
                learner.labelling.repair = options.repair
            refuse_changed(options, changed_options(options, learner.parameters))
        return SequenceLearner(**given_to_learner(options, SequenceParameters)) if learner is None else learner

    def follow(self, options: argparse.Namespace, learner: Any) -> tuple[Any, Iterator[Dataset]]:
        """Sentences as they arrive: each ends with an empty line."""
        tagger = self._begun(options, learner)
        files = files_of(options, tagger)

        def datasets() -> Iterator[Dataset]:
            columns: Columns | None = None
            for sentence in itertools.chain.from_iterable(files.blocks(options.data, live=True)):
                if columns is None:
                    with located([]):
                        columns = without_count(files.columns, [sentence])
                x, y = columns.split(sentence)
                if not is_answered(y):
                    continue
                weight = None if files.weight is None else sentence.weight(files.weight)
                with located([sentence.place]):
                    dataset = tagger.dataset([x], [y], None if weight is None else [weight])
                remember(tagger, columns.settled(sentence), x)
                yield dataset

        return tagger, datasets()

    # ------------------------------------------------------------ using a model

    def check(self, learner: Any, path: str) -> None:
        """Do nothing: every tagger can be used on files."""

    def predict(self, learner: Any, options: argparse.Namespace) -> Opened:
        """The columns as they came, with the labels behind them."""
        learner = learner.reader()
        if bool(options.data) == (options.text is not None):
            raise UsageError("give files, or --text")
        if options.raw and (options.text is not None or options.format):
            raise UsageError("--raw is about files that are texts; leave out --text and --format")
        if options.spans and (options.kbest or options.margin):
            raise UsageError("--spans does not go with --kbest and --margin")
        log = Log()
        asked = " and ".join(f"--{name}" for name in ("margin", "proba") if getattr(options, name))
        if options.kbest and options.kbest > 1 and asked:
            log.remark("kbest", f"{asked} with --kbest: only the first sequence of each sentence has these numbers")
        broken = [label for label in learner.classes if breaks_line(label)]
        if broken and not options.json:
            raise UsageError(f"the label {broken[0]!r} would break the lines of the output; ask for --json")

        files = files_of(options, learner)
        paths = expand(options.data) if options.data else []
        if not (options.spans or options.kbest or options.margin or options.json) and writes_documents(files, paths):
            return Opened(paths, log, tagged_documents(options, learner, files, paths))

        def parts() -> Iterator[tuple[int, bytes]]:
            every = batches(options, learner)
            first = next(every, [])
            # one for the whole output, so that it can be read again
            spaced = any(" " in str(label) for label in learner.classes)
            separator = "\t" if spaced or not first else first[0].separator

            def written(batch: list[Sentence]) -> tuple[int, bytes]:
                with placed([sentence.place for sentence in batch]):
                    return len(batch), "".join(tagged(options, learner, batch, separator)).encode()

            threads = threads_of(options, learner, paths)
            yield from in_order(written, itertools.chain([first] if first else [], every), threads)

        return Opened(paths, log, parts())

    def explain(self, learner: Any, options: argparse.Namespace) -> Opened:
        learner = learner.reader()

        def parts() -> Iterator[tuple[int, list[Explained]]]:
            for batch in batches(options, learner):
                with located([sentence.place for sentence in batch]):
                    X = [tokens_of(options, learner, sentence) for sentence in batch]
                    yield len(batch), self.explained(learner, X, options)

        return Opened(expand(options.data), Log(), parts())

    def explained(self, learner: Any, X: list[Any], options: argparse.Namespace) -> list[Explained]:
        """What made the label of each token."""
        from perceptive.explanation import explain_tokens

        told = []
        for x, found in zip(X, explain_tokens(learner, X, options.top, options.hypothesis), strict=True):
            words = words_of(x)
            told.append(Explained(found, words, {"tokens": words, "labels": [one.label for one in found]}))
        return told

    def evaluate(self, learner: Any, options: argparse.Namespace) -> Evaluation:
        """What conlleval counts; of labels that mark no segments what is right tag by tag."""
        found = read(options.data, files_of(options, learner), keep_texts=True)
        X, y, places, columns, _, unanswered, texts = found
        predicted = _as_tagged(learner, X, places, options.hypothesis)
        result, names = learner.compare(y, predicted, X), ("precision", "recall", "f1")
        scheme, unreachable = learner.given or learner.scheme, None
        if scheme is not None and any(texts):
            unreachable = count_texts(result, y, predicted, texts, scheme)
        segments = not isinstance(result, TagEvaluation)
        counts = {"phrases" if segments else "tokens": result.there, "found": result.found, "correct": result.right}
        kinds = {
            kind: dict(zip(names, result.measures(kind), strict=True)) | {name: n[kind] for name, n in counts.items()}
            for kind in sorted({*result.there, *result.found})
        }
        metrics: dict[str, Any] = {"accuracy": result.accuracy}
        details: dict[str, Any] = {"types": kinds}
        if isinstance(result, TagEvaluation):
            metrics |= {"unknown_accuracy": result.unknown_accuracy, "unknown": result.unknown}
            pairs = result.most_confused()
            details["confusion"] = [{"label": tag, "predicted": other, "tokens": n} for tag, other, n in pairs]
        else:
            metrics |= dict(zip(names, result.measures(), strict=True))
            metrics |= {name: n.total() for name, n in counts.items()}
        log = Log()
        n, learned = 1 + len(X[0][0]), learner.n_columns
        if learned not in (None, n) and not (learner.columns or options.columns or options.label_column is not None):
            which = n - 1 if columns.label == LAST else columns.label
            log.remark(
                "columns",
                f"the data have {n} columns, the model has learned from {learned}; column {which} is taken for the "
                "labels; --label-column says another",
            )
        if unreachable is not None:
            details["unreachable"] = unreachable
        if unreachable:
            log.remark(
                "spans",
                f"spans are scored by their places in the text; {unreachable:,} of {result.there.total():,} do not "
                "begin and end at token boundaries, or overlap others, and cannot be found",
            )
        met, known = _kinds(y), _kinds([learner.classes])
        if met and not met & known:
            note_strange(log, sorted(met), sorted(known))
        if segments and (other := schemes.other_scheme(y, scheme)) is not None:
            told = f"the labels follow the scheme {other!r}, those of the model {scheme!r}: compare segments (F1), "
            log.remark("scheme", told + "not accuracy, which counts labels as they are written")
        counted = count(len(X), Log(), unanswered, tokens=result.tokens)
        text = str(result)
        if unanswered:
            text += f"\nwithout answer: {unanswered:,} {plural(unanswered, 'sentence')}"
        return Evaluation(counted, metrics, details, text, log)

    def examine(self, learner: Any, options: argparse.Namespace) -> Opened:
        X, y, places, _, weights, *_ = read(options.data, files_of(options, learner))

        def parts() -> Iterator[tuple[int, Dataset]]:
            with located(places):
                dataset = self.looked_at(learner, X, y, weights)
            yield len(X), dataset

        return Opened(expand(options.data), Log(), parts())

    def looked_at(self, learner: Any, X: list[Any], y: list[Any], weights: list[float] | None) -> Dataset:
        """Sentences as the learner's own, to be looked at."""
        return learner.dataset(X, y, weights, grow=False)  # type: ignore[no-any-return]

    def weights(self, learner: Any, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
        """Weights by template, by pair of labels, and by feature."""
        everything = _of_class(learner, getattr(options, "class"), learner.heaviest(-1, options.hypothesis))
        templates: dict[str, tuple[int, float]] = {}
        for name, _, weight in everything:
            template = name.partition(" = ")[0]
            n, total = templates.get(template, (0, 0.0))
            templates[template] = n + 1, total + abs(weight)
        by_template = sorted(templates.items(), key=lambda one: -one[1][1])
        transitions = [one for one in everything if one[0] in OF_LABELS][: options.top]
        features = [one for one in everything if one[0] not in OF_LABELS][: options.top]
        told = {
            "weights": [
                {"class": None, "features": [{"name": name, "class": c, "weight": w} for name, c, w in features]}
            ],
            "transitions": [{"classes": classes, "weight": weight} for _, classes, weight in transitions],
            "templates": [{"template": name, "weights": n, "sum": total} for name, (n, total) in by_template],
        }
        rows = [[name, n, f"{total:.5g}"] for name, (n, total) in by_template[: options.top]]
        tables = [
            table(rows, ["template", "weights", "Σ|weight|"]),
            table([[classes, f"{w:+.5g}"] for _, classes, w in transitions], ["pair of labels", "weight"]),
            table([[name, c, f"{w:+.5g}"] for name, c, w in features], ["feature", "label", "weight"]),
        ]
        return told, "\n\n".join(tables)


def refuse_on_cluster(options: argparse.Namespace, *names: str) -> None:
    """Raise for options that the workers of a cluster do not know."""
    for name in names:
        if getattr(options, name):
            raise UsageError(f"{option_of(name)} does not go with --cluster; leave it out, or train here")


def _of_class(learner: Any, wanted: str | None, everything: list[Any]) -> list[Any]:
    """The weights of a class, whatever it is called within."""
    if wanted is None:
        return everything
    called = zip(learner.labels, learner.labelling.names(learner.labels), strict=True)
    within = {str(label) for label, name in called if wanted in (str(label), str(name))}
    if not within:
        raise UsageError(f"no class {wanted!r}; there are {', '.join(map(str, learner.classes))}")
    return [one for one in everything if not within.isdisjoint(one[1].split(" → "))]


def _as_tagged(learner: Any, X: list[Any], places: Sequence[Place], hypothesis: str | None) -> list[Any]:
    """The labels that `tag` gives, which knows of no spans: a text is cut where its sentences end."""
    parts = [parts_of(x, place) for x, place in zip(X, places, strict=True)]
    with located([place for place, some in zip(places, parts, strict=True) for _ in some]):
        found = iter(learner.predict_many([part for some in parts for part in some], hypothesis))
    scheme = learner.given or learner.scheme
    return [joined_labels(list(itertools.islice(found, len(some))), scheme) for some in parts]


def _kinds(y: Sequence[Sequence[Any]]) -> set[str]:
    """What labels say, whatever the scheme: the types of segments, or labels that are none of these."""
    found = set()
    for label in {label for some in y for label in some if label is not None and label != "O"}:
        in_segments = any(schemes.belongs(label, scheme) for scheme in schemes.SCHEMES)
        found.add((schemes.split(label)[1] if in_segments else "") or str(label))
    return found


def _metric(learner: Any, y: list[Any]) -> str:
    return "F1" if learner.labelling.in_segments(y) else "accuracy"


def _take(chosen: Any, *lists: list[Any]) -> tuple[list[Any], ...]:
    return tuple([one for one, wanted in zip(of, chosen, strict=True) if wanted] for of in lists)


def score(learner: Any, truth: list[Any], predicted: list[Any]) -> float:
    """F of segments, or accuracy of tokens where labels mark none; between 0 and 1."""
    return float(learner.compare(truth, predicted).measure) / 100.0
