"""The data of the golden files: small, and the same everywhere, since only `random.Random.random` draws it.

``X, y`` are learned from, ``X_TEST`` and so on are asked about.
"""

import functools
import json
import random

import numpy as np
import scipy.sparse as sp


def numbers(n, width, seed):
    """n rows of numbers in [-2, 2], all multiples of 1/16; a third of them are 0."""
    rng = random.Random(seed)
    return [[0.0 if rng.random() < 1 / 3 else int(rng.random() * 65 - 32) / 16 for _ in range(width)] for _ in range(n)]


def labels(rows, classes, seed):
    """The class of the largest number, one in eight at random."""
    rng = random.Random(seed)
    found = []
    for row in rows:
        noisy = rng.random() < 1 / 8
        best = int(rng.random() * len(classes)) if noisy else max(range(len(classes)), key=lambda j: row[j])
        found.append(classes[best])
    return found


WIDTH = 6
ROWS, ROWS_TEST = numbers(48, WIDTH, 1), numbers(16, WIDTH, 2)
X, X_TEST = np.array(ROWS), np.array(ROWS_TEST)
TWO = np.array(labels(ROWS, [-1, 1], 3))
FOUR = np.array(labels(ROWS, ["ash", "beech", "cedar", "oak"], 4))
SPARSE, SPARSE_TEST = sp.csr_array(X), sp.csr_array(X_TEST)
WEIGHTS = [1 + (i % 3) / 2 for i in range(len(ROWS))]


def as_dict(row):
    """A row by the names of its features; one of them is a word."""
    named = {f"f{j}": value for j, value in enumerate(row) if value}
    return {**named, "sign": "plus" if sum(row) > 0 else "minus"}


DICTS, DICTS_TEST = [as_dict(row) for row in ROWS], [as_dict(row) for row in ROWS_TEST]


# ------------------------------------------------------------ strings and trees

SYLLABLES = {"ash": ["ka", "ri", "to"], "oak": ["mul", "den", "bor"]}


def words(n, seed):
    """Strings of the syllables of a class, some of the other one."""
    rng = random.Random(seed)
    found, which = [], []
    for _ in range(n):
        kind = "ash" if rng.random() < 0.5 else "oak"
        parts = []
        for _ in range(3):
            of = kind if rng.random() < 0.75 else ("oak" if kind == "ash" else "ash")
            parts.append(SYLLABLES[of][int(rng.random() * 3)])
        found.append("".join(parts))
        which.append(kind)
    return found, which


def trees(n, seed):
    """Parses of a verb, a noun and a phrase that hangs on one of the two."""
    rng = random.Random(seed)
    found, which = [], []
    for _ in range(n):
        verb, noun = ["eat", "see", "cut"][int(rng.random() * 3)], ["soup", "stars", "bread"][int(rng.random() * 3)]
        high = rng.random() < 0.5
        found.append(
            f"(S (VP (V {verb}) (NP {noun}) (PP with it)))"
            if high
            else f"(S (VP (V {verb}) (NP (NP {noun}) (PP with it))))"
        )
        which.append("high" if high == (rng.random() < 0.875) else "low")
    return found, which


WORDS, WORDS_Y = words(30, 5)
WORDS_TEST, _ = words(10, 6)
TREES, TREES_Y = trees(30, 7)
TREES_TEST, _ = trees(10, 8)
OBJECTS = [{"text": word, "size": row[0], "weight": row[1]} for word, row in zip(WORDS, ROWS, strict=False)]
OBJECTS_TEST = [
    {"text": word, "size": row[0], "weight": row[1]} for word, row in zip(WORDS_TEST, ROWS_TEST, strict=False)
]


# ------------------------------------------------------------ lists


def lists(n, seed):
    """n lists of 3 to 5 rows, and their grades: the sum of the first two numbers, cut into 0, 1 and 2."""
    rng = random.Random(seed)
    found, grades = [], []
    for i in range(n):
        part = numbers(3 + int(rng.random() * 3), WIDTH, 1000 * seed + i)
        found.append(part)
        grades.append([0 if s < -0.5 else 1 if s < 1 else 2 for s in (row[0] + row[1] + rng.random() for row in part)])
        if len(set(grades[-1])) == 1:
            grades[-1][int(rng.random() * len(part))] += 1
    return found, grades


LISTS, GRADES = lists(20, 9)
LISTS_TEST, GRADES_TEST = lists(6, 10)
BEST = [grades.index(max(grades)) for grades in GRADES]
QID = [t for t, part in enumerate(LISTS) for _ in part]
FLAT = np.array([row for part in LISTS for row in part])
FLAT_GRADES = [grade for grades in GRADES for grade in grades]
FLAT_TEST = np.array([row for part in LISTS_TEST for row in part])
QID_TEST = [t for t, part in enumerate(LISTS_TEST) for _ in part]
STRING_LISTS = [[WORDS[(3 * t + j) % 30] for j in range(3)] for t in range(20)]
STRING_BEST = [max(range(3), key=lambda j: (part[j].count("a"), -j)) for part in STRING_LISTS]
STRING_LISTS_TEST = [WORDS_TEST[i : i + 3] for i in range(0, 9, 3)]


# ------------------------------------------------------------ sentences

NAMES = ["Ziv", "William", "Cohen", "Ada", "Grace"]
PLAIN = ["tell", "will", "post", "the", "notes", "is", "on", "way", "when"]


def sentences(n, seed):
    """Sentences with people and organisations, in BIO; one label in twenty is wrong (O)."""
    rng = random.Random(seed)
    found, tags = [], []
    for _ in range(n):
        tokens, y = [], []
        while len(tokens) < 6:
            if rng.random() < 0.35:
                kind = "PER" if rng.random() < 0.5 else "ORG"
                parts = [kind.lower()] + [NAMES[int(rng.random() * 5)] for _ in range(1 + int(rng.random() * 2))]
                tokens += parts
                y += [f"B-{kind}"] + [f"I-{kind}"] * (len(parts) - 1) if rng.random() > 0.05 else ["O"] * len(parts)
            else:
                tokens.append(PLAIN[int(rng.random() * 9)])
                y.append("O")
        found.append(tokens)
        tags.append(y)
    return found, tags


SENTENCES, TAGS = sentences(30, 11)
SENTENCES_TEST, TAGS_TEST = sentences(8, 12)


# ------------------------------------------------------------ files


def svmlight(rows, y, qid=None):
    """Lines of svmlight."""
    lines = []
    for i, (row, label) in enumerate(zip(rows, y, strict=True)):
        query = [] if qid is None else [f"qid:{qid[i]}"]
        lines.append(" ".join([str(label), *query, *(f"{j + 1}:{v:g}" for j, v in enumerate(row) if v)]))
    return "\n".join(lines) + "\n"


def vw(rows, y):
    """Lines of Vowpal Wabbit, in two namespaces."""
    lines = []
    for row, label in zip(rows, y, strict=True):
        first = " ".join(f"f{j}:{v:g}" for j, v in enumerate(row[:3]) if v)
        second = " ".join(f"g{j}:{v:g}" for j, v in enumerate(row[3:]) if v)
        lines.append(f"{label} |a {first} |b {second}")
    return "\n".join(lines) + "\n"


def csv(rows, y):
    """A table with a header; the last column is a word."""
    head = ",".join([*(f"f{j}" for j in range(WIDTH)), "sign", "label"])
    body = [",".join([*(f"{v:g}" for v in row), as_dict(row)["sign"], str(y[i])]) for i, row in enumerate(rows)]
    return "\n".join([head, *body]) + "\n"


def json_lines(objects):
    """A line of JSON for each object."""
    return "".join(json.dumps(one) + "\n" for one in objects)


def text(n, seed):
    """label TAB text."""
    found, which = words(3 * n, seed)
    rng = random.Random(seed)
    lines = []
    for i in range(n):
        kind = which[3 * i]
        some = [found[3 * i], *(w for w, k in zip(found, which, strict=True) if k == kind and rng.random() < 0.1)]
        lines.append(f"{kind}\t{' '.join(some)}")
    return "\n".join(lines) + "\n"


def conll(found, tags):
    """A token and its label to a line."""
    return "".join(
        "".join(f"{token} {label}\n" for token, label in zip(x, y, strict=True)) + "\n"
        for x, y in zip(found, tags, strict=True)
    )


@functools.cache
def files():
    """Every file that a command reads, by name."""
    y_test, two_test = labels(ROWS_TEST, ["ash", "beech", "cedar", "oak"], 13), labels(ROWS_TEST, [-1, 1], 14)
    objects = [{**x, "label": y} for x, y in zip(OBJECTS, WORDS_Y, strict=True)]
    named = [{**x, "label": str(y)} for x, y in zip(DICTS, FOUR, strict=True)]
    string_lists = [{"candidates": x, "best": b} for x, b in zip(STRING_LISTS, STRING_BEST, strict=True)]
    dict_lists = [
        {"candidates": [as_dict(row) for row in part], "grades": grades}
        for part, grades in zip(LISTS, GRADES, strict=True)
    ]
    return {
        "two.svm": svmlight(ROWS, TWO),
        "two-test.svm": svmlight(ROWS_TEST, two_test),
        "four.vw": vw(ROWS, [1 + sorted(set(FOUR)).index(y) for y in FOUR]),
        "four-test.vw": vw(ROWS_TEST, [1 + ["ash", "beech", "cedar", "oak"].index(y) for y in y_test]),
        "four.csv": csv(ROWS, FOUR),
        "four-test.csv": csv(ROWS_TEST, y_test),
        "four.jsonl": json_lines(named),
        "four-test.jsonl": json_lines([{**x, "label": y} for x, y in zip(DICTS_TEST, y_test, strict=True)]),
        "words.txt": text(24, 15),
        "words-test.txt": text(8, 16),
        "objects.jsonl": json_lines(objects),
        "objects-test.jsonl": json_lines([{**x, "label": "oak"} for x in OBJECTS_TEST]),
        "lists.svm": svmlight(FLAT.tolist(), FLAT_GRADES, QID),
        "lists-test.svm": svmlight(FLAT_TEST.tolist(), [g for grades in GRADES_TEST for g in grades], QID_TEST),
        "lists.jsonl": json_lines(dict_lists),
        "strings.jsonl": json_lines(string_lists),
        "strings-test.jsonl": json_lines([{"candidates": x, "best": 0} for x in STRING_LISTS_TEST]),
        "sentences.conll": conll(SENTENCES, TAGS),
        "sentences-test.conll": conll(SENTENCES_TEST, TAGS_TEST),
        "broken.svm": "1 1:1 2:2\n-1 1:x\n1 2:1\n-1 1:1\n",
        "broken.jsonl": '{"label": "a", "text": "x"}\nnot JSON\n',
        "broken.conll": "one O\ntwo\n\n",
        "empty.svm": "",
        "not.model": "this is no model\n",
    }


def parts(name, n):
    """A file of lines in n parts, by name."""
    stem, _, ending = name.rpartition(".")
    lines = files()[name].splitlines(keepends=True)
    return {f"{stem}.{i}.{ending}": "".join(lines[i::n]) for i in range(n)}


def large_rows():
    """A file of several blocks (of 1 MB): the small one again and again."""
    return files()["two.svm"] * 1000


def large_lists():
    """The same of lists; each time the queries have new numbers."""
    lines = files()["lists.svm"]
    return "".join(lines.replace("qid:", f"qid:{i}00") for i in range(1, 400))
