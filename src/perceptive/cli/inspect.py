"""``perceptive inspect``: the heaviest features of a model, by name."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from perceptive.cli.options import add_json, as_json, whole

if TYPE_CHECKING:
    from perceptive.inspection import Feature

EXAMPLE = """\
examples:
  perceptive inspect a9a.model --top 10
  perceptive inspect news.model --class sport --json
  perceptive inspect letor.model --top 5
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.description = (
        "What a model is, and its heaviest features. Hashed features have names where the model was trained with "
        "--invert-hash; several names in one bucket share its weight."
    )
    parser.epilog = EXAMPLE
    parser.add_argument("model", metavar="MODEL", help="a model file")
    parser.add_argument("--top", type=whole(1), default=20, help="features to show for each class (default: 20)")
    parser.add_argument("--class", dest="label", metavar="CLASS", help="show this class only")
    parser.add_argument("--hypothesis", help="another one than the model was trained with, where it was kept")
    add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Inspect."""
    from perceptive.inspection import describe, heaviest
    from perceptive.learners.linear import LinearLearner
    from perceptive.persistence import load_learner

    learner = load_learner(options.model)
    if not isinstance(learner, LinearLearner):
        return _inspect_other(options, learner)
    learner.finish()
    _show(options, describe(learner), heaviest(learner, options.top, options.hypothesis))


def _inspect_other(options: argparse.Namespace, learner: Any) -> None:
    from perceptive.cli.tagging import inspect_tagger
    from perceptive.inspection import describe_kernel, describe_ranker, heaviest
    from perceptive.learners.kernel import KernelLearner
    from perceptive.learners.ranking import RankingLearner
    from perceptive.learners.reranking import RerankingLearner
    from perceptive.learners.sequence import SequenceLearner

    if isinstance(learner, SequenceLearner):
        return inspect_tagger(options, learner)
    if options.label is not None:
        kernel = isinstance(learner, KernelLearner)
        what = "kernel model, which has no weights of features" if kernel else "ranker, which has no classes"
        raise ValueError(f"{options.model}: is a {what}; leave --class out")
    about: dict[str, Any] = {}
    if isinstance(learner, RerankingLearner):
        about = {"k": learner.k, "oracle": learner.oracle, "labels": learner.tagger.classes}
        learner = learner.ranker
    if isinstance(learner, RankingLearner):
        learner.finish()
        tops = heaviest(learner, options.top, options.hypothesis)
        _show(options, {**about, **describe_ranker(learner)}, tops)
    else:
        told = describe_kernel(learner) if isinstance(learner, KernelLearner) else describe_ranker(learner)
        _show(options, {**about, **told}, {})


def _show(options: argparse.Namespace, about: dict[str, Any], tops: dict[Any, list[Feature]]) -> None:
    if options.label is not None:
        wanted = [label for label in tops if str(label) == options.label]
        if not wanted:
            raise ValueError(f"no class {options.label!r}; there are {', '.join(map(str, tops))}")
        tops = {label: tops[label] for label in wanted}
    if options.json:
        classes: list[dict[str, Any]] = [
            {"class": label, "features": [f._asdict() for f in top]} for label, top in tops.items()
        ]
        print(as_json({**about, "classes": classes} if tops else about))
        return
    from perceptive.cli.console import pairs, table

    print(pairs([(name, value) for name, value in about.items() if value is not None]))
    for label, top in tops.items():
        print(f"\n{label}")
        rows = [[f.name or f"#{f.column}", f"{f.weight:+.5g}", _shares(f)] for f in top]
        print(table(rows) if rows else "no feature has a weight")


def _shares(feature: Feature) -> str:
    return f"shares #{feature.column} with {feature.sharing - 1} more" if feature.sharing > 1 else ""
