"""Every command and task: which steps a case has."""

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "commands"


@dataclass
class Case:
    """Commands that follow each other in one folder.

    Attributes
    ----------
    steps : list of str
        Command lines; "!" before one means that it fails, so that only the exit code counts.
    exact : bool
        Whether every bit must be the same: no BLAS, exp or log is involved.
    holdout : bool
        Whether a part of the data is held out, so that another way to draw it gives other values.
    """

    steps: list[str]
    exact: bool = True
    holdout: bool = False


def twice(*steps):
    """Each command as text and as JSON."""
    return [line for step in steps for line in (step, f"{step} --json")]


def rows(train, test, options="", predict="", certify=True):
    """All that can be done with a classifier."""
    trained = f"train {train} -o m.model {options}".strip()
    return [
        *twice(trained),
        f"predict m.model {test} {predict}".strip(),
        *twice(f"predict m.model {test} {predict} --scores".replace("  ", " ")),
        *twice(f"eval m.model {test}", "inspect m.model --top 5"),
        *(twice(f"{trained} --certify", f"certify m.model {train}", f"certify m.model {test}") if certify else []),
    ]


def ranks(train, test, options=""):
    """All that can be done with a ranker."""
    trained = f"train {train} --task rank -o m.model {options}".strip()
    return [
        *twice(f"{trained} --certify"),
        f"rank m.model {test}",
        *twice(f"rank m.model {test} --scores"),
        *twice(f"eval m.model {test}", "inspect m.model --top 5", f"certify m.model {train}"),
    ]


def tags(options=""):
    """All that can be done with a tagger."""
    train, test = "sentences.conll", "sentences-test.conll"
    trained = f"train {train} --task tag -o m.model --epochs 3 {options}".strip()
    return [
        *twice(trained),
        *twice(f"tag m.model {test}", f"tag m.model {test} --kbest 2 --margin", f"tag m.model {test} --spans"),
        *twice('tag m.model --text "will Ada tell per William Cohen the way" --spans'),
        *twice(f"eval m.model {test}", "inspect m.model --top 5"),
        *twice(f"{trained} --certify", f"certify m.model {train}"),
    ]


PLAIN = "--rule perceptron --bias 1"
DEV = "--patience 2 --prune 0.1"
PLAIN_TAGS = "--rule perceptron --encoding none"
OVR = "--multiclass ovr --ignore f5"
TEXT = "--text --bits 8 --epochs 2 --words 1 --rule perceptron"
VOTED = "--epochs 3 --bits 6 --hypothesis voted --pairs best"
KERNEL = "--kernel poly(2) --epochs 3"
OBJECTS = "--kernel 0.5*spectrum(2)@text+subsequence(2)@text --epochs 3"
CASES = {
    "svmlight": Case(rows("two.svm", "two-test.svm", f"--epochs 3 {PLAIN}")),
    "svmlight-default": Case(rows("two.svm", "two-test.svm", "--epochs 3")),
    "csv-default": Case(rows("four.csv", "four-test.csv", "--epochs 3 --bits 8")),
    "text-default": Case(rows("words.txt", "words-test.txt", "--text --epochs 2 --bits 8"), exact=False),
    "svmlight-pa1-voted": Case(
        rows("two.svm", "two-test.svm", "--epochs 3 --rule pa1 --C 0.25 --hypothesis voted --bias 1")
    ),
    "svmlight-delta": Case(rows("two.svm", "two-test.svm", f"--epochs 1 --delta 1 --no-shuffle {PLAIN}")),
    "svmlight-keep": Case(
        [
            f"train two.svm -o m.model --epochs 3 --keep all --quiet {PLAIN}",
            *(f"predict m.model two-test.svm --scores --hypothesis {h}" for h in ("last", "best", "voted", "random")),
            "predict m.model two-test.svm --proba --hypothesis voted --json",
            "eval m.model two-test.svm --hypothesis best --json",
            "inspect m.model --hypothesis last --json",
        ]
    ),
    "svmlight-continue": Case(
        [
            *twice(f"train two.svm -o first.model --epochs 1 --classes=-1,1 {PLAIN}"),
            *twice("train two-test.svm --continue first.model -o m.model --epochs 2"),
            "predict m.model two-test.svm --scores --json",
        ]
    ),
    "svmlight-skip": Case(twice(f"train broken.svm -o m.model --on-error skip --epochs 2 {PLAIN}")),
    "svmlight-cache": Case(
        twice(f"train two.svm -o m.model --epochs 3 --cache two.cache --checkpoint two.point {PLAIN}")
    ),
    "svmlight-follow": Case(
        [f"train two.svm -o m.model --follow {PLAIN}", "predict m.model two-test.svm --scores --json"]
    ),
    "svmlight-holdout": Case(
        [
            *twice(f"train two.svm -o m.model --epochs 6 --holdout 0.25 --patience 2 {PLAIN}"),
            *twice("predict m.model two-test.svm --proba"),
        ],
        exact=False,
        holdout=True,
    ),
    "svmlight-parts": Case(
        [
            *twice("train two.*.svm -o m.model --epochs 3 --rule pa1 --bias 1"),
            "predict m.model two-test.svm --scores --json",
        ]
    ),
    "rank-blocks": Case(
        [
            "train large-lists.svm --task rank --pairs best -o m.model --epochs 2 --json",
            "rank m.model lists-test.svm --json",
            "eval m.model large-lists.svm --json",
        ]
    ),
    "vw": Case(rows("four.vw", "four-test.vw", f"--epochs 3 --bits 6 --interactions a:b {PLAIN}")),
    "vw-names": Case(rows("four.vw", "four-test.vw", f"--epochs 3 --bits 8 --invert-hash {PLAIN}")),
    "csv": Case(rows("four.csv", "four-test.csv", "--epochs 3 --bits 8 --invert-hash --scale none --bias 1")),
    "csv-ovr": Case(rows("four.csv", "four-test.csv", f"--epochs 3 --bits 6 {OVR} --scale none --bias 1")),
    "json": Case(
        rows("four.jsonl", "four-test.jsonl", "--epochs 3 --bits 8 --invert-hash --rule arow --scale none --bias 1")
    ),
    "json-ovo": Case(
        rows("four.jsonl", "four-test.jsonl", "--epochs 3 --bits 6 --multiclass ovo --scale none --bias 1")
    ),
    "csv-scaled": Case(rows("four.csv", "four-test.csv", f"--epochs 3 --bits 6 {OVR} --bias 1")),
    "json-scaled": Case(rows("four.jsonl", "four-test.jsonl", "--epochs 3 --bits 6 --scale max --bias auto")),
    "text": Case(rows("words.txt", "words-test.txt", f"{TEXT} --no-idf --chars 2-3 --invert-hash")),
    "text-idf": Case(
        rows("words.txt", "words-test.txt", f"{TEXT} --idf --weighting log-tf"), exact=False
    ),
    "kernel": Case(rows("two.svm", "two-test.svm", KERNEL), exact=False),
    "kernel-gaussian": Case(
        rows("two.svm", "two-test.svm", "--kernel gaussian(gamma=0.2) --rule pa1 --epochs 3"), exact=False
    ),
    "kernel-csv": Case(
        rows("four.csv", "four-test.csv", f"{KERNEL} --bits 6 --scale none", certify=False), exact=False
    ),
    "kernel-budget": Case(
        rows("two.svm", "two-test.svm", f"{KERNEL} --budget 8 --hypothesis last --forget oldest", certify=False),
        exact=False,
    ),
    "kernel-continue": Case(
        [
            "train two.svm -o first.model --kernel poly(2) --epochs 2 --json",
            *twice("train two-test.svm --continue first.model -o m.model --epochs 2"),
            "predict m.model two-test.svm --scores --json",
        ],
        exact=False,
    ),
    "kernel-strings": Case(rows("objects.jsonl", "objects-test.jsonl", OBJECTS), exact=False),
    "kernel-strings-numbers": Case(
        rows("objects.jsonl", "objects-test.jsonl", "--kernel poly(2)+spectrum(2)@text --epochs 3"), exact=False
    ),
    "kernel-holdout": Case(
        [*twice(f"train two.svm -o m.model {KERNEL} --holdout 0.25"), "eval m.model two-test.svm --json"],
        exact=False,
        holdout=True,
    ),
    "rank": Case(ranks("lists.svm", "lists-test.svm", "--epochs 3 --pairs best")),
    "rank-all-pa1": Case(
        ranks("lists.svm", "lists-test.svm", "--epochs 3 --pairs all --pair-cost grade --rule pa1 --C 0.1")
    ),
    "rank-json": Case(ranks("lists.jsonl", "lists.jsonl", f"{VOTED} --scale none")),
    "rank-json-scaled": Case(ranks("lists.jsonl", "lists.jsonl", VOTED)),
    "rank-continue": Case(
        [
            "train lists.svm --task rank --pairs best -o first.model --epochs 1 --json",
            *twice("train lists-test.svm --task rank --continue first.model -o m.model --epochs 2"),
            "rank m.model lists-test.svm --json",
        ]
    ),
    "rank-holdout": Case(
        [
            *twice("train lists.svm --task rank --pairs best -o m.model --holdout 0.3"),
            "rank m.model lists-test.svm --json",
        ],
        holdout=True,
    ),
    "kernel-rank": Case(ranks("lists.svm", "lists-test.svm", f"{KERNEL} --pairs worst"), exact=False),
    "kernel-rank-strings": Case(
        ranks("strings.jsonl", "strings-test.jsonl", "--kernel spectrum(2) --epochs 3 --rule pa1"), exact=False
    ),
    "kernel-rank-holdout": Case(
        [
            f"train lists.svm --task rank --pairs best -o m.model {KERNEL} --holdout 0.3 --json",
            "rank m.model lists-test.svm --json",
        ],
        exact=False,
        holdout=True,
    ),
    "tag": Case(tags(PLAIN_TAGS)),
    "tag-default": Case(tags()),
    "tag-bioes-pa1": Case(tags("--encoding bioes --rule pa1 --C 1 --min-count 2")),
    "tag-segments": Case(tags("--segments --rule perceptron")),
    "tag-voted": Case(
        [
            *twice(f"train sentences.conll --task tag -o m.model --epochs 1 --hypothesis voted {PLAIN_TAGS}"),
            *twice("tag m.model sentences-test.conll", "eval m.model sentences-test.conll --hypothesis last"),
        ]
    ),
    "tag-continue": Case(
        [
            f"train sentences.conll --task tag -o first.model --epochs 1 --json {PLAIN_TAGS}",
            *twice("train sentences-test.conll --task tag --continue first.model -o m.model --epochs 2"),
            "tag m.model sentences-test.conll --kbest 2 --json",
        ]
    ),
    "tag-dev": Case(
        twice(f"train sentences.conll {PLAIN_TAGS} --task tag -o m.model --dev sentences-test.conll {DEV}"),
        holdout=True,
    ),
    "tag-holdout": Case(
        [
            *twice(f"train sentences.conll --task tag -o m.model --holdout 0.2 --patience 2 {PLAIN_TAGS}"),
            "tag m.model sentences-test.conll --json",
        ],
        holdout=True,
    ),
    "rerank": Case(
        [
            f"train sentences.conll --task tag -o base.model --epochs 2 --quiet {PLAIN_TAGS}",
            *twice("train sentences.conll --task rerank --base base.model --candidates 3 --folds 2 -o m.model"),
            *twice("tag m.model sentences-test.conll", "tag m.model sentences-test.conll --kbest 2"),
            *twice("eval m.model sentences-test.conll", "inspect m.model --top 5"),
        ]
    ),
    "demo": Case(["demo --seed 3"], exact=False),
    "completion": Case([f"completion {shell}" for shell in ("bash", "zsh", "fish")]),
    "bad": Case(
        [
            "!",
            "!sing",
            "!train two.svm",
            "!train absent.svm -o m.model",
            "!train empty.svm -o m.model",
            "!train broken.svm -o m.model",
            "!train two.svm -o absent/m.model",
            "!train two.svm -o two.svm",
            "!train two.svm -o m.model --rule nonsense",
            "!train two.svm -o m.model --epochs 0",
            "!train two.svm -o m.model --holdout 1.5",
            "!train two.svm -o m.model --margin 1 --rule pa",
            "!train two.svm -o m.model --delta 1 --rule arow",
            "!train two.svm -o m.model --budget 5",
            "!train two.svm -o m.model --kernel nonsense(3)",
            "!train two.svm -o m.model --kernel precomputed",
            "!train two.svm -o m.model --kernel poly(2) --rule arow",
            "!train two.svm -o m.model --kernel poly(2) --bits 5 --cache c",
            "!train two.svm -o m.model --pairs all",
            "!train two.svm -o m.model --segments",
            "!train two.svm -o m.model --folds 3",
            "!train two.svm -o m.model --task rank",
            "!train two.svm -o m.model --continue absent.model",
            "!train two.svm -o m.model --continue not.model",
            "!train broken.jsonl -o m.model --kernel spectrum(2)@text",
            "!train strings.jsonl -o m.model --task rank",
            "!train lists.svm -o m.model --task rank --multiclass ovr",
            "!train lists.svm -o m.model --task rank --follow --epochs 2",
            "!train broken.conll -o m.model --task tag",
            "!train sentences.conll -o m.model --task tag --bits 5",
            "!train sentences.conll -o m.model --task tag --dev absent.conll",
            "!train sentences.conll -o m.model --task rerank",
            "!train sentences.conll -o m.model --task rerank --base not.model",
            "!predict not.model two.svm",
            "!predict absent.model two.svm",
            "train two.svm -o rows.model --epochs 1 --quiet",
            "train lists.svm --task rank -o lists.model --epochs 1 --quiet",
            f"train sentences.conll --task tag -o tags.model --epochs 1 --quiet {PLAIN_TAGS}",
            "train two.svm -o kernel.model --kernel poly(2) --epochs 1 --quiet",
            "!train two.svm -o m.model --continue rows.model --rule pa",
            "!train two.svm -o m.model --continue rows.model --certify",
            "!train two.svm -o m.model --continue kernel.model --kernel poly(3)",
            "!predict rows.model absent.svm",
            "!predict rows.model empty.svm --proba",
            "!predict rows.model two.svm --hypothesis voted",
            "!predict rows.model four.csv",
            "!predict lists.model lists.svm",
            "!predict tags.model two.svm",
            "!predict kernel.model two.svm --proba",
            "!tag rows.model sentences.conll",
            "!tag lists.model sentences.conll",
            "!tag tags.model",
            "!tag tags.model sentences.conll --spans --margin",
            "!rank rows.model lists.svm",
            "!rank tags.model lists.svm",
            "!eval rows.model empty.svm",
            "!eval tags.model broken.conll",
            "!eval tags.model sentences.conll --threads 2",
            "!eval rows.model two.svm --label-column 1",
            "!inspect not.model",
            "!inspect rows.model --class nobody",
            "!inspect lists.model --class nobody",
            "!inspect kernel.model --class nobody",
            "!certify rows.model four.csv",
            "!certify lists.model empty.svm",
            "!completion powershell",
        ]
    ),
}  # fmt: skip
