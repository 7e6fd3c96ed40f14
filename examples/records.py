"""Fields of addresses and bibliography records, by a semi-Markov tagger.

The records are made here: fields come in several orders, are left out, abbreviated, and written with more or less
punctuation; streets are named after cities. A plain chain of labels, a semi-Markov tagger, and one that looks whole
segments up in a list of cities learn from the same few of them. Run it:

    python examples/records.py [--plot trellis.png]
"""

from __future__ import annotations

import argparse
import random
import tempfile
from pathlib import Path

from perceptive import SequenceTagger
from perceptive.features.presets import PRESETS
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
PLACES = [
    "York",
    "Diego",
    "Rose",
    "Hill",
    "Paris",
    "Oak",
    "King",
    "Mary",
    "London",
    "Church",
    "Lake",
    "Mill",
    "Station",
]
BEFORE = ["San", "New", "Old", "Fort", "Saint", "Upper", "West"]
KINDS = ["Street", "St", "St.", "Road", "Rd", "Avenue", "Ave", "Lane", "Square"]
CITIES = [*PLACES, *(f"{before} {place}" for before in BEFORE for place in PLACES)]
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
    street = rng.choice(CITIES) if rng.random() < 0.6 else f"{rng.choice(PLACES)} {rng.choice(PLACES)}"
    record.append(("STREET", f"{street} {rng.choice(KINDS)}" if rng.random() < 0.6 else street))
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
    parser.add_argument("--test", type=int, default=2000, metavar="N", help="records to measure by (default: 2000)")
    options = parser.parse_args()
    X_test, y_test = records(options.test, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "cities.txt").write_text("\n".join(CITIES), encoding="utf-8")
        with_cities = Path(folder, "records.template")
        with_cities.write_text(PRESETS["records"] + "segment in(cities.txt)\n", encoding="utf-8")
        print("F1 of fields, learned from   plain chain   segments   segments and a list of cities")
        for n in (25, 50, 100, 200, 400):
            X, y = records(n, seed=0)
            taggers = [
                SequenceTagger(template="records", rule="pa1"),
                SequenceTagger(template="records", rule="pa1", segments=True),
                SequenceTagger(template=with_cities, rule="pa1", segments=True),
            ]
            chain, segments, listed = (100 * tagger.fit(X, y).score(X_test, y_test) for tagger in taggers)
            print(f"{n:>16} records  {chain:15.2f}  {segments:9.2f}  {listed:9.2f}")
        print()
        for token, label in zip(X_test[0], taggers[-1].predict(X_test[:1])[0], strict=True):
            print(f"{token:<16}{label}")
    if options.plot:
        from perceptive.plots import plot_trellis

        plot_trellis(taggers[0].learner_, ["221b", "Baker", "St", "New", "London"]).figure.savefig(options.plot)


if __name__ == "__main__":
    main()
