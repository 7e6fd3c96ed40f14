"""The commands that use a model: ``predict``, ``rank``, ``tag``, ``explain``, ``eval``, ``inspect``, ``certify``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from perceptive.cli import groups as g
from perceptive.cli.options import add_json, whole
from perceptive.cli.tasks import Entry, Opened, Task, of_model, options_of

if TYPE_CHECKING:
    from perceptive.streams.parsing import Log

PICTURES = (".pdf", ".png", ".svg")
Use = Callable[[argparse.Namespace, Any, Entry, Task], None]  # of options, a learner and its task


@dataclass(frozen=True)
class Command:
    """A command that is given a model, and the files to use it on."""

    name: str
    use: Use
    description: str
    examples: Sequence[str]
    data: str | None = None  # what the files hold; None where it takes none
    needs_data: bool = True
    model: str = "a model file"

    @property
    def EXAMPLE(self) -> str:
        return "\n  ".join(["examples:", *self.examples])

    def configure(self, parser: argparse.ArgumentParser) -> None:
        parser.description = self.description
        if self.name == "predict":
            shown = parser.add_mutually_exclusive_group()
            g.add_options(shown, g.SCORES)
            g.add_options(shown, g.PROBABILITIES.only("proba"))
        parser.add_argument("model", metavar="MODEL", help=self.model)
        if self.data is None:
            top = "features to show for each class (default: 20)"
            parser.add_argument("--top", type=whole(1), default=20, help=top)
        else:
            files = f"{self.data}, globs, or - for standard input"
            data = parser.add_argument("data", nargs="+", metavar="DATA", default=[], help=files)
            data.required = self.needs_data  # nargs="*" would take none where options stand before the files
        if self.use in (_predict, _explain):
            parser.add_argument("-o", "--output", metavar="FILE", help="write to this file, not to standard output")
        g.add_groups(parser, options_of(self.name))
        add_json(parser)

    def run(self, options: argparse.Namespace) -> None:
        learner, entry, task = of_model(options)
        if self.data is not None:
            task.check(learner, options.model)
        self.use(options, learner, entry, task)


def _predict(options: argparse.Namespace, learner: Any, entry: Entry, task: Task) -> None:
    log = _write(options, lambda: task.predict(learner, options))
    if log.skipped and entry.name == "classify":
        lines = "line: it is" if log.skipped == 1 else "lines: they are"
        print(f"skipped {log.skipped:,} {lines} empty in the output", file=sys.stderr)


def _explain(options: argparse.Namespace, learner: Any, entry: Entry, task: Task) -> None:
    if options.plot is not None:
        _plot(options, task.explain(learner, options))
        return

    def opened() -> Opened:
        found = task.explain(learner, options)
        parts = ((n, "".join(one.json() if options.json else one.text() for one in told)) for n, told in found.parts)
        return found._replace(parts=((n, text.encode()) for n, text in parts))

    _write(options, opened)


def _plot(options: argparse.Namespace, opened: Opened) -> None:
    from perceptive.cli.console import tell_log, watched
    from perceptive.cli.paths import output
    from perceptive.cli.tasks.explained import MOST_BARS, draw
    from perceptive.errors import UsageError

    if options.json or options.output is not None:
        raise UsageError("--plot writes bars instead of text; leave out --json and --output")
    if not options.plot.endswith(PICTURES):
        raise UsageError(f"--plot {options.plot}: no kind of picture; name it {', '.join(PICTURES)}")
    with output(options.plot, [options.model, *options.data], sys.stdout.buffer) as file:
        more = draw((one for told in watched(opened, True) for one in told), file, options.plot[-3:])
    tell_log(opened.log)
    if more:
        print(f"{options.plot}: shows the first {MOST_BARS} explanations", file=sys.stderr)


def _write(options: argparse.Namespace, opened: Callable[[], Opened]) -> Log:
    from perceptive.cli.console import tell_log, watched
    from perceptive.cli.paths import output
    from perceptive.streams.blocks import STDIN

    with output(options.output, [options.model, *options.data], sys.stdout.buffer) as file:
        found = opened()
        for lines in watched(found, options.output is not None):
            file.write(lines)
            if STDIN in options.data:  # whoever waits for it gets it at once
                file.flush()
    tell_log(found.log)
    return found.log


def _evaluate(options: argparse.Namespace, learner: Any, entry: Entry, task: Task) -> None:
    from perceptive.cli.console import tell_log
    from perceptive.cli.report import tell

    found = task.evaluate(learner, options)
    tell_log(found.log)
    tell(options, entry, {"data": found.counts, "metrics": found.metrics, **found.details}, found.text)


def _inspect(options: argparse.Namespace, learner: Any, entry: Entry, task: Task) -> None:
    from perceptive.cli.console import pairs
    from perceptive.cli.report import rows_of, tell
    from perceptive.inspection import describe

    learner.finish()
    (weights, text), facts = task.weights(learner, options), describe(learner)
    tell(options, entry, {"learner": facts, **weights}, pairs(rows_of(facts)) + (f"\n\n{text}" if text else ""))


def _certify(options: argparse.Namespace, learner: Any, entry: Entry, task: Task) -> None:
    from perceptive.certificates import certify_datasets
    from perceptive.cli.console import tell_log, watched
    from perceptive.cli.report import certificate_json, tell

    opened = task.examine(learner, options)
    sizes: list[int] = []

    def datasets() -> Iterator[Any]:
        for dataset in watched(opened, not options.json):
            sizes.append(dataset.n_played)
            yield dataset

    certificate = certify_datasets(learner, datasets())
    first, _ = learner.first_epoch or (learner.rounds, 0)
    if certificate.hypothetical and getattr(learner, "temperature", None) is not None:
        said = "these are not the examples of the run; if part of them was held out, train with --certify"
        opened.log.remark("other data", said)
    elif certificate.hypothetical and sum(sizes) == first:
        said = "these are as many examples as the run had, but differ from them, or in their weights; if classes had "
        opened.log.remark("other data", f"{said}weights (--class-weight), train with --certify")
    tell_log(opened.log)
    tell(options, entry, {"certificate": certificate_json(certificate)}, str(certificate))


COMMANDS = {
    command.name: command
    for command in [
        Command(
            "predict", _predict,
            "Label the examples of files: one line for each line of input, the label first. The line is empty if "
            "the input line holds no example, or was skipped.",
            [
                "perceptive predict a9a.model test.svm > labels.txt",
                "perceptive predict a9a.model test.svm --scores -o scores.tsv",
                "perceptive predict cut.model new.csv --proba --header | paste new.csv -",
                "perceptive predict news.model inbox.txt --unlabelled --top 3",
                "cat new.svm | perceptive predict a9a.model - --json",
                "perceptive predict spam.model inbox.txt --unlabelled --proba",
            ],
            "examples to label: files",
        ),
        Command(
            "rank", _predict,
            "Order the candidates of each list: a line for each list, with the numbers of its candidates (counted from "
            "0) from best to worst. Lists are svmlight lines with one qid:, or JSON lines with candidates; rankers "
            "with a kernel of strings or trees take only JSON lines. "
            "Lists that are skipped have an empty line (null with --json).",
            [
                "perceptive rank letor.model test.svm > orders.txt",
                "perceptive rank answers.model questions.jsonl --scores",
                "cat new.jsonl | perceptive rank answers.model - --json",
            ],
            "lists to order: files",
            model="a model file, of train --task rank",
        ),
        Command(
            "tag", _predict,
            "Label the tokens of files in columns: one token per line, an empty line after each sentence. The columns "
            "are written unchanged, followed by the label, separated by tabs if those of the first file are, else "
            "by spaces; CoNLL-U gets the label in its column, texts with spans (doccano, Prodigy, spaCy, "
            "brat) get the spans that were found, and --raw text becomes tokens in columns. Standard input is "
            "tagged as it arrives. With --kbest each sentence is written k times, after a line with rank and score; "
            "with --margin a last column says how much lower the best path through another label scores. A label "
            "column is ignored: that of training, if there are as many columns, or --label-column.",
            [
                "perceptive tag chunk.model new.conll > tagged.conll",
                'perceptive tag ner.model --text "Ada Lovelace met Charles Babbage in London." --spans',
                "cat new.conll | perceptive tag chunk.model - --kbest 5 --margin",
                "perceptive tag rerank.model new.conll > tagged.conll",
                "perceptive tag upos.model new.conllu > tagged.conllu",
                "perceptive tag ner.model notes.jsonl > tagged.jsonl",
                "tail -f news.txt | perceptive tag ner.model - --raw --spans",
            ],
            "files of sentences or texts", False, "a model file, of train --task tag or rerank",
        ),
        Command(
            "explain", _explain,
            "Show what made each prediction: the features of the example, and what each adds to the score of its "
            "label; for kernels the supports, for taggers the features of each token, for rankers those of each "
            "candidate, the best first, for rerankers those of the label sequence that was chosen.",
            [
                "perceptive explain spam.model inbox.txt --unlabelled --top 5",
                "perceptive explain cut.model new.csv --class Ideal",
                "perceptive explain chunk.model test.conll --json",
                "head -2 new.csv > one.csv; perceptive explain cut.model one.csv --plot why.png",
            ],
            "examples to explain: files",
        ),
        Command(
            "eval", _evaluate,
            "Show accuracy, macro F1, precision, recall and F1 of each class, the confusion matrix, for two classes "
            "the area under the ROC curve, and log loss if the model has probabilities; for taggers and rerankers the "
            "table of conlleval; for rankers top-1, MRR, MAP and NDCG. Labels that the model has never seen count as "
            "mistakes; examples without an answer are left out.",
            [
                "perceptive eval a9a.model test.svm",
                "perceptive eval a9a.model test.svm --json",
                "perceptive eval letor.model letor-test.svm",
            ],
            "examples with answers: files",
        ),
        Command(
            "inspect", _inspect,
            "Show facts about a model, and its heaviest features. Those of tables have names, other hashed features if "
            "the model was trained with --invert-hash; several names in one bucket share its weight.",
            [
                "perceptive inspect a9a.model --top 10",
                "perceptive inspect news.model --class sport --json",
                "perceptive inspect letor.model --top 5",
            ],
        ),
        Command(
            "certify", _certify,
            "Show how many mistakes training made and how many the theorem allows, with witness, margin and radius. On "
            "files other than the training files the certificate is hypothetical, and says so.",
            [
                "perceptive certify a9a.model train.svm",
                "perceptive certify letor.model letor-train.svm",
                "perceptive certify chunk.model train.conll",
            ],
            "the examples it learned from: files",
        ),
    ]
}  # fmt: skip
