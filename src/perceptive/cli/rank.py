"""``perceptive rank``: every list of some files, from best to worst."""

from __future__ import annotations

import argparse

from perceptive.cli.options import add_files, add_json, as_json

EXAMPLE = """\
examples:
  perceptive rank letor.model test.svm > orders.txt
  perceptive rank answers.model questions.jsonl --scores
  cat new.jsonl | perceptive rank answers.model - --json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.description = (
        "Order the candidates of each list: a line for each list, with the places of its candidates (counted from 0) "
        "from best to worst. Lists are svmlight lines with one qid:, or JSON lines with candidates; rankers with a "
        "kernel of strings or trees take the latter. "
        "Lists that are skipped have an empty line (null with --json)."
    )
    parser.epilog = EXAMPLE
    parser.add_argument("model", metavar="MODEL", help="a model file, of train --task rank")
    add_files(parser, "lists to order")
    parser.add_argument("-o", "--output", metavar="FILE", help="instead of standard output")
    parser.add_argument("--scores", action="store_true", help="add the score of each candidate")
    parser.add_argument("--hypothesis", help="another one than the model was trained with, where it was kept")
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Rank."""
    import numpy as np

    from perceptive.cli.predict import output
    from perceptive.cli.ranking import load_ranker, scored_lists, tell
    from perceptive.streams.parsing import Log

    learner = load_ranker(options.model)
    log = Log()
    with output(options.output, [options.model, *options.data]) as file:
        for part, scores, latest in scored_lists(learner, options, options.output is not None):
            log = latest
            lines = []
            for t, name in enumerate([*part.names, None]):
                lines += ["null" if options.json else ""] * part.skipped.count(t)  # a line for every list
                if t == len(part):
                    break
                mine = scores[part.starts[t] : part.starts[t + 1]]
                order = np.argsort(-mine, kind="stable").tolist()
                if options.json:
                    told = {"order": order, "scores": [round(float(mine[j]), 9) for j in order]}
                    lines.append(as_json(told if name is None else {"qid": name, **told}))
                elif options.scores:
                    lines.append(" ".join(f"{j}:{mine[j]:.6g}" for j in order))
                else:
                    lines.append(" ".join(map(str, order)))
            file.write("".join(line + "\n" for line in lines).encode())
    tell(log)
