"""Fields of addresses and bibliography records, by a semi-Markov tagger.

The records are made here: fields come in several orders, are left out, abbreviated, and written with more or less
punctuation. A plain chain of labels and a semi-Markov tagger learn from the same few of them. Run it:

    python examples/records.py [--plot trellis.png]
"""

from __future__ import annotations

import argparse
import random

from perceptive import SequenceTagger
from perceptive.features.tokens import tokenise

FIRST = ["Ada", "Grace", "Alan", "Emmy", "Kurt", "Sofia", "Blaise", "Carl", "Rosalind", "John", "Mary", "Henri"]
LAST = [
    "Lovelace",
    "Hopper",
    "Turing",
    "Noether",
    "Gödel",
    "Kovalevskaya",
    "Pascal",
    "Gauss",
    "Franklin",
    "Rose",
    "Hill",
]
STREETS = ["Oak", "Mill", "Church", "High", "King", "Rose", "Hill", "Lake", "Mary", "Park", "Station", "New London"]
KINDS = ["Street", "St", "St.", "Road", "Rd", "Avenue", "Ave", "Lane", "Square"]
CITIES = ["London", "New York", "Rose Hill", "Oak Park", "San Diego", "Paris", "King Lake", "Church Hill", "Rome"]
STATES = ["NY", "CA", "TX", "MA", "IL"]
TOPICS = ["Protein", "Solvent", "Engineering", "Lakes", "Kernels", "Perceptrons", "Streets", "Anhydrous", "Media"]
LINKS = ["of", "in", "and", "for", "on", "with"]
JOURNALS = [
    "J. Amer. Chem. Soc.",
    "Annals of Mathematics",
    "Mind",
    "Nature",
    "J. Mach. Learn. Res.",
    "Proc. Royal Soc.",
]

Record = list[tuple[str, str]]  # field, text


def address(rng: random.Random) -> Record:
    """Name, house number, street, flat, city, state and code; some are missing."""
    record = []
    if rng.random() < 0.5:
        record.append(("NAME", f"{rng.choice(FIRST)} {rng.choice(LAST)}"))
    record.append(("NUMBER", str(rng.randint(1, 999)) + rng.choice(["", "", "a", "b"])))
    record.append(("STREET", f"{rng.choice(STREETS)} {rng.choice(KINDS)}"))
    if rng.random() < 0.4:
        record.append(("FLAT", rng.choice(["Apt", "Flat", "#", "Suite"]) + f" {rng.randint(1, 60)}"))
    record.append(("CITY", rng.choice(CITIES)))
    if rng.random() < 0.7:
        record.append(("STATE", rng.choice(STATES)))
    if rng.random() < 0.7:
        record.append(("CODE", f"{rng.randint(10000, 99999)}"))
    return record


def bibliography(rng: random.Random) -> Record:
    """Authors, year, title, journal, volume and pages, the year in one of two places."""
    authors = ", ".join(
        f"{rng.choice(FIRST)[0]}. {rng.choice(LAST)}"
        if rng.random() < 0.7
        else f"{rng.choice(LAST)} {rng.choice(FIRST)}"
        for _ in range(rng.randint(1, 4))
    )
    words = [rng.choice(TOPICS)]
    for _ in range(rng.randint(1, 4)):
        words += [rng.choice(LINKS), rng.choice(TOPICS)]
    year = ("YEAR", rng.choice(["({})", "{}", "{}."]).format(rng.randint(1900, 2025)))
    first = rng.random() < 0.6
    record = [("AUTHOR", authors), *([year] if first else []), ("TITLE", " ".join(words))]
    record.append(("JOURNAL", rng.choice(JOURNALS)))
    if rng.random() < 0.8:
        record.append(("VOLUME", str(rng.randint(1, 200))))
    if rng.random() < 0.8:
        begin = rng.randint(1, 900)
        record.append(("PAGES", f"{begin}-{begin + rng.randint(2, 30)}"))
    return record if first else [*record, year]


def labelled(record: Record, rng: random.Random) -> tuple[list[str], list[str]]:
    """Tokens and BIO labels; a comma may stand between fields, and belongs to none."""
    tokens: list[str] = []
    labels: list[str] = []
    for i, (name, text) in enumerate(record):
        if i and rng.random() < 0.3:
            tokens.append(",")
            labels.append("O")
        words = tokenise(text)
        tokens += map(str, words)
        labels += [f"{'B' if t == 0 else 'I'}-{name}" for t in range(len(words))]
    return tokens, labels


def records(n: int, seed: int) -> tuple[list[list[str]], list[list[str]]]:
    """Sentences and labels of n records, half of them addresses."""
    rng = random.Random(seed)
    pairs = [labelled((address if rng.random() < 0.5 else bibliography)(rng), rng) for _ in range(n)]
    return [tokens for tokens, _ in pairs], [labels for _, labels in pairs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", metavar="FILE", help="draw the trellis of one address")
    options = parser.parse_args()
    X_test, y_test = records(2000, seed=1)
    print("records learned from   plain chain F1   semi-Markov F1")
    for n in (25, 50, 100, 200, 400):
        X, y = records(n, seed=0)
        chain = SequenceTagger(template="records", rule="pa1").fit(X, y)
        segments = SequenceTagger(template="records", rule="pa1", segments=True).fit(X, y)
        print(f"{n:>21}  {100 * chain.score(X_test, y_test):15.2f}  {100 * segments.score(X_test, y_test):15.2f}")
    print()
    for token, label in zip(X_test[0], segments.predict(X_test[:1])[0], strict=True):
        print(f"{token:<16}{label}")
    if options.plot:
        from perceptive.plots import plot_trellis

        X, y = [["221b", "Baker", "St", "London"]], [["B-NUMBER", "B-STREET", "I-STREET", "B-CITY"]]
        tagger = SequenceTagger(template="records", rule="pa1").fit(X + X_test[:50], y + y_test[:50])
        plot_trellis(tagger.learner_, X[0]).figure.savefig(options.plot)


if __name__ == "__main__":
    main()
