"""Sentences that the tests of taggers share."""

import numpy as np

NAMES = ["Ziv", "William", "Cohen", "Ada", "Grace"]
WORDS = ["tell", "will", "post", "the", "notes", "is", "on", "way", "when"]


def sentences(n, seed=0, kinds=("PER",)):
    """Sentences in which a capitalised word begins a name, and "prof" one that goes on."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        words, labels = [], []
        while len(words) < 7:
            if rng.random() < 0.3:
                kind = str(rng.choice(kinds))
                parts = [kind.lower(), *rng.choice(NAMES, rng.integers(1, 3)).tolist()]
                words += parts
                labels += [f"B-{kind}"] + [f"I-{kind}"] * (len(parts) - 1)
            else:
                words.append(str(rng.choice(WORDS)))
                labels.append("O")
        X.append(words)
        y.append(labels)
    return X, y


X, Y = sentences(200, kinds=("PER", "ORG"))
X_TEST, Y_TEST = sentences(50, seed=1, kinds=("PER", "ORG"))


def records(n, seed=0):
    """Addresses whose fields have typical lengths."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        number, street = [str(rng.integers(1, 99))], [*rng.choice(["Oak", "Elm", "High", "Mill"], 1).tolist(), "Street"]
        city = rng.choice(["New York", "San Diego", "Rome", "Oak Park"]).split()
        parts = [("NUMBER", number), ("STREET", street), ("CITY", city)]
        X.append([word for _, words in parts for word in words])
        y.append([f"{'B' if i == 0 else 'I'}-{kind}" for kind, words in parts for i in range(len(words))])
    return X, y


def ambiguous_names(n):
    """Names are of one or two words; whether a name goes on can be told from the word behind it alone."""
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(n):
        words, labels = ["so"], ["O"]
        for _ in range(rng.integers(1, 4)):
            if rng.random() < 0.5:
                words += [f"N{rng.integers(6)}", f"N{rng.integers(6)}", "together"]
                labels += ["B-P", "I-P", "O"]
            else:
                words += [f"N{rng.integers(6)}", f"N{rng.integers(6)}", "apart"]
                labels += ["B-P", "B-P", "O"]
        X.append(words)
        y.append(labels)
    return X, y
