"""Options as declarations: the parser adds what a group declares, and a task takes what its groups declare."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import Field, dataclass, fields
from typing import Any

from perceptive.cli.options import (
    ABOUT_FILES,
    amount,
    class_weight,
    columns,
    duration,
    number,
    option_of,
    or_word,
    span,
    whole,
    words,
)
from perceptive.parameters import (
    PRECISIONS,
    KernelParameters,
    KernelRankingParameters,
    LinearParameters,
    RankingParameters,
    SequenceParameters,
    TrainingParameters,
)

Arguments = Mapping[str, Any]  # the arguments of add_argument


@dataclass(frozen=True)
class OptionGroup:
    """Some options: the arguments of add_argument, by the name of each in the namespace."""

    title: str
    options: Mapping[str, Arguments]

    def only(self, *names: str) -> OptionGroup:
        return OptionGroup(self.title, {name: self.options[name] for name in names})

    def saying(self, **defaults: str) -> OptionGroup:
        """The same options; what they are by default is said otherwise."""
        options = dict(self.options)
        for name, default in defaults.items():
            help = options[name]["help"].partition(" (default")[0]
            options[name] = {**options[name], "help": f"{help} (default: {default})"}
        return OptionGroup(self.title, options)

    def without(self, *names: str) -> OptionGroup:
        return OptionGroup(self.title, {name: how for name, how in self.options.items() if name not in names})


def names_of(groups: Iterable[OptionGroup]) -> set[str]:
    return {name for group in groups for name in group.options}


def add_groups(parser: argparse.ArgumentParser, groups: Iterable[OptionGroup]) -> None:
    """Add options, each once, under the title where it comes first."""
    titled: dict[str, Any] = {}
    taken = {action.dest for action in parser._actions}
    for group in groups:
        new = {name: how for name, how in group.options.items() if name not in taken}
        taken |= new.keys()
        if new:
            if group.title not in titled:
                titled[group.title] = parser.add_argument_group(group.title)
            add_options(titled[group.title], OptionGroup(group.title, new))


def add_options(container: Any, group: OptionGroup) -> None:
    """Add the options of a group to a parser, or to a group of one."""
    for name, how in group.options.items():
        container.add_argument(option_of(name), dest=name, **how)


def parameters(title: str, kind: type, *without: str) -> OptionGroup:
    """Options of declared parameters; one that is not given is None, so that a model's own value can stand."""
    return OptionGroup(title, {f.name: _declared(f) for f in fields(kind) if f.name not in {*without, *ABOUT_FILES}})


def _declared(f: Field[Any]) -> Arguments:
    kind, help = str(f.type).removesuffix(" | None"), f.metadata["help"].replace("%", "%%")
    if kind == "bool":
        shown = "yes" if f.default else "no"
        return {"action": argparse.BooleanOptionalAction, "default": None, "help": f"{help} (default: {shown})"}
    choices = [c for c in f.metadata["choices"] or () if c is not None] or None
    return {
        "type": {"float": float, "int": int, "float | str": or_word(float), "int | str": or_word(int)}.get(kind, str),
        "choices": choices,
        "metavar": None if choices else kind.removesuffix(" | str").upper(),
        "help": help if f.default is None else f"{help} (default: {f.default})",
    }


def _flag(help: str) -> Arguments:
    return {"action": "store_true", "help": help}


def _switch(help: str) -> Arguments:
    return {"action": argparse.BooleanOptionalAction, "default": None, "help": help}


def _value(help: str, metavar: str | None = None, type: Any = None, default: Any = None) -> Arguments:
    return {"help": help, "metavar": metavar, "type": type, "default": default}


def _choice(help: str, *choices: str, default: str | None = None) -> Arguments:
    return {"help": help, "choices": list(choices), "default": default}


FILES = OptionGroup(
    "files",
    {
        "format": _value("format of the files, if names and first bytes do not show it"),
        "on_error": _choice("on a broken line (default: stop)", "stop", "skip", default="stop"),
        "threads": _value(
            "threads that parse, tag and play shards; results do not depend on it (default: all)", type=whole(1)
        ),
    },
)
FEATURES = OptionGroup(
    "features",
    {
        "bits": _value("hash the features into 2^BITS columns", type=whole(1)),
        "hash_seed": _value("seed of the hash (default: 0)", type=whole(0)),
        "invert_hash": _flag(
            "remember the names of hashed features, for inspect; tables without --cache always remember some thousands"
        ),
        "interactions": _value("products of features: all, or pairs of namespaces a:b,a:c", "PAIRS", words),
        "scale": _choice(
            "scale by column: to mean 0 and variance 1, or to at most 1 (default: auto, standard for csv, JSON and "
            "parquet, else none); the model remembers it",
            "auto", "standard", "max", "none",
        ),
        "zero_based": {"action": "store_const", "const": True, "help": "svmlight: the first feature is 0, not 1"},
        "n_features": _value("svmlight: number of features, if known", type=whole(1)),
    },
)  # fmt: skip
TABLES = OptionGroup(
    "tables (csv, tsv, parquet) and JSON lines",
    {
        "label": _value("column or key of the label (default: label)"),
        "categorical": _value(
            "columns whose numbers are categories; names with commas in double quotes", "A,B,…", words
        ),
        "ignore": _value("columns to leave out; names with commas in double quotes", "A,B,…", columns),
        "delimiter": _value("column separator (default: comma, tab or semicolon, as in the header)"),
        "quote": _choice(
            "csv: values may be in double quotes; none: quotes mean nothing (default: double)", "double", "none"
        ),
        "text_column": _value("column or key whose value is a text", "NAME"),
        "weight": _value(
            "column or key of the weight (default: JSON's key weight, of a line or a list); for sentences a key, or a "
            "comment # NAME = 2 before the tokens (default: none)",
            "NAME",
        ),
        "missing": _choice("give missing values a feature column=missing (default: none)", "indicator"),
    },
)
TEXT = OptionGroup(
    "text",
    {
        "text": _flag("the files are texts: label TAB text, or __label__x text"),
        "words": _value("n-grams of words, e.g. 1-2 (default: 1-2 to classify, else 1); 0 for none", "N[-M]", span),
        "chars": _value("n-grams of characters within words, e.g. 3-5", "N[-M]", span),
        "weighting": _choice("weight of repeated features (default: tf)", "binary", "tf", "log-tf"),
        "idf": _switch("give rare features more weight; reads the files twice (default: yes to classify, else no)"),
        "lowercase": _switch("convert to lower case (default: yes)"),
        "normalize_text": _switch("scale texts to length 1 (default: yes)"),
    },
)
# How features become columns: what is given of it the model remembers.
ROWS = (FEATURES.without("invert_hash"), TABLES, TEXT)
LISTS = (FEATURES.without("invert_hash"), TABLES.only("text_column", "weight", "missing"), TEXT.without("text"))

# What --rule and --bias are by default hangs on the files: see `perceptive.cli.defaults`.
LEARNER = parameters("learner", LinearParameters, "cost").saying(
    rule="arow to classify texts, svmlight and vw; pa1 to rerank, and to tag with the presets chunking, ner and pos; "
    "else perceptron",
    C="1.0; 0.03 to tag; 0.01 to rerank",
    r="0.1 for texts, else 1.0",
    bias="auto to classify numbers, else 1.0",
)
CLASSES = OptionGroup(
    "learner",
    {
        "reference": _value("ovr: the class without a problem of its own"),
        "classes": _value("all classes, if they are known in advance", "A,B,…", words),
        "class_weight": _value(
            "weights of the classes: balanced, which reads the files once more, or a=2,b=0.5",
            "WEIGHTS",
            class_weight,
        ),
    },
)
KERNEL_LEARNER = LEARNER.only(*(f.name for f in fields(KernelParameters) if f.name in LEARNER.options))
KERNEL = OptionGroup(
    "kernels",
    {
        "kernel": _value(
            "classify or rank in the dual: poly(4), gaussian(sigma=2), 0.5*gaussian+spectrum(3)@text (of JSON lines: "
            "the numbers of each, and its text), …",
            "TEXT",
        ),
        "budget": _value("kernels: keep at most this many supports", type=whole(1)),
        "forget": _choice("kernels: how to make room in the budget", "projectron", "oldest", "random"),
    },
)
TRAINING = parameters("training", TrainingParameters, "progress", "n_jobs").saying(
    epochs="10; 40 to tag by a rule other than perceptron", tol="0; 0.005 to tag by a rule other than perceptron"
)
CONTINUE = OptionGroup("training", {"model": _value("continue training this model", "MODEL")})
CACHE = OptionGroup(
    "training",
    {
        "cache": _value("keep the parsed examples, for this and later runs", "FILE"),
        "memory": _value(
            "memory for examples; if all fit, they are shuffled together; e.g. 32M (default), 2G", "SIZE", amount
        ),
    },
)
EVERY, TIME_LIMIT = 60.0, 600.0  # seconds, where nothing is said
CHECKPOINT = OptionGroup(
    "training",
    {
        "checkpoint": _value("save the state from time to time, and resume from it", "FILE"),
        "every": _value("time between two checkpoints, e.g. 60s (default), 5m", "TIME", duration),
    },
)
TUNE = OptionGroup(
    "training", {"tune": _flag("try several rules, text features and pairs of lists on held-out data; use the best")}
)
CLUSTER = OptionGroup(
    "cluster (Dask; needs perceptive[dask])",
    {
        "cluster": _value("address of the scheduler whose workers play the shards, or local", "ADDRESS"),
        "time_limit": _value(
            "time limit for an epoch, or for a tagger of cross-fitting, on the cluster, e.g. 10m (default)",
            "TIME",
            duration,
        ),
    },
)
FOLLOW = OptionGroup("training", {"follow": _flag("learn as examples arrive, until the input ends or Ctrl-C")})
CERTIFY = OptionGroup("training", {"certify": _flag("make the certificate, which reads the files once more")})
# What a tagger's preset brings stands in `perceptive.features.presets`.
TAGGER = parameters("tagging (--task tag)", SequenceParameters).saying(
    min_count="1; auto with the presets chunking and pos",
    encoding="bioes with the presets chunking and ner, else none",
)
SENTENCES = OptionGroup(
    "tagging (--task tag)",
    {
        "label_column": _value(
            "column of the label: a number from 0 (default: -1, the last), or a name of CoNLL-U (default: upos); the "
            "model remembers it",
            "COLUMN",
        ),
        "columns": _value(
            "columns of a token: numbers, or CoNLL-U names such as form,lemma,feats.Case (default: all but the label; "
            "of CoNLL-U the form); the model remembers them",
            "C,…",
            words,
        ),
        "input_encoding": _value("encoding of the files, such as latin-1 (default: utf-8)", "NAME", default="utf-8"),
    },
)
STOPPING = OptionGroup(
    "tagging (--task tag)", {"dev": _value("sentences for early stopping, instead of --holdout", "FILE")}
)
PRUNE = OptionGroup(
    "training",
    {
        "prune": _value("keep only the final weights above W", "W", number(float, 0)),
        "precision": _choice("round the final weights to two bytes or to one", *PRECISIONS),
    },
)
_LISTS = "ranking (--task rank): svmlight with qid:, or JSON lines with candidates"
[_COST] = [f for f in fields(RankingParameters) if f.name == "cost"]
RANKER = parameters(_LISTS, RankingParameters, "cost")
KERNEL_RANKER = parameters(_LISTS, KernelRankingParameters, "cost", "cache_size")
PAIR_COST = OptionGroup(
    _LISTS,
    {
        "pair_cost": _choice(
            f"{_COST.metadata['help']} (default: all alike; grade to rerank)", *filter(None, _COST.metadata["choices"])
        )
    },
)
RERANKER = OptionGroup(
    "reranking (--task rerank): sentences in columns, and a tagger that proposes",
    {
        "base": _value("the tagger, which has learned from the same files", "MODEL"),
        "candidates": _value("label sequences it proposes (default: 20)", "K", whole(2)),
        "folds": _value("number of folds for cross-fitting (default: 5)", type=whole(2)),
        "base_epochs": _value("epochs of each fold's tagger (default: as many as the base made)", type=whole(1)),
        "target": _choice("grade candidates by wrong segments, or only by being exact", "f1", "exact"),
        "lookback": _value(
            "in how many sentences before it the labels of a sentence's words are looked up: the files are one text "
            "(default: 1000; 0: each sentence by itself)",
            "SENTENCES",
            whole(0),
        ),
    },
)
HYPOTHESIS = OptionGroup(
    "prediction", {"hypothesis": _value("a hypothesis other than the trained one, if the model kept it")}
)
SCORES = OptionGroup("prediction", {"scores": _flag("add the score, or one for each class or candidate")})
PROBABILITIES = OptionGroup(
    "prediction",
    {
        "proba": _flag("add the probability of each class"),
        "unlabelled": _flag("text: lines are texts, without a label before them"),
    },
)
CLASS_TABLE = OptionGroup(
    "prediction",
    {
        "top": _value("the K best classes, each with its score or probability", "K", whole(1)),
        "header": _flag("a first line that names the fields: label, and the classes of scores"),
    },
)
PARTS = OptionGroup(
    "prediction",
    {
        "top": _value("features to show for each (default: 10)", "K", whole(1), default=10),
        "plot": _value("draw bars into a picture (.png, .svg, .pdf), not text: the first 20", "FILE"),
    },
)
PATHS = OptionGroup(
    "prediction",
    {
        "text": _value("tag this text instead of files; it is split into sentences and tokens", "TEXT"),
        "raw": _flag("files are raw text, one paragraph per line, to be split into sentences and tokens"),
        "kbest": _value("the k best label sequences, with their scores", "K", whole(1)),
        "margin": _flag(
            "how sure each label is, with --kbest for the first sequence only; with an encoding, IOB1 labels are "
            "treated as BIO, IOE1 as IOE2"
        ),
        "proba": _flag(
            "probability of each label, with --kbest for the first sequence only; for a span, of its least "
            "likely label; needs training with --holdout"
        ),
        "spans": _flag("segments instead of tokens: start, end, type, text"),
    },
)
CLASS = OptionGroup("weights", {"class": _value("show this class only", "CLASS")})
