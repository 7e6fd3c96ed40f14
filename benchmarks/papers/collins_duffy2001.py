"""Collins & Duffy 2001, convolution kernels: parses reranked by the trees that they have in common."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from statistics import mean
from typing import Any

from papers.paper import Claim, Paper, larger, spread
from perceptive import KernelRanker
from perceptive.kernels import Linear, SubsetTree
from report import Table

VERBS, NOUNS = ("saw", "met", "ate", "bought"), ("man", "soup", "hat", "spoon", "dog", "book")
PREPOSITIONS = ("with", "on", "of", "in")
DECAYS = (0.1, 0.3, 0.5, 0.7, 0.9)
# Their tables 1 and 2: parse scores and by how many per cent errors are fewer than the PCFG's, each with its deviation.
THEIR_PCFG, THEIR_RULES, THEIR_DEPTH_3 = 74, (73, 1), (80, 1)
THEIRS = {0.1: (77, 1, 11, 6), 0.3: (79, 1, 20, 4), 0.5: (79, 1, 21, 4), 0.7: (79, 1, 21, 4), 0.9: (78, 1, 17, 5)}


def phrase(noun: str, attached: str = "") -> str:
    """A noun phrase, perhaps with a prepositional phrase within."""
    plain = f"(NP (D the) (N {noun}))"
    return f"(NP {plain} {attached})" if attached else plain


def sentence(rng: random.Random, likes: dict[tuple[str, str], float]) -> tuple[list[str], int]:
    """All parses of "the N V the N P the N [P the N]", and the right one: who likes the preposition more has it."""
    subject, verb, thing = rng.choice(NOUNS), rng.choice(VERBS), rng.choice(NOUNS)
    tails = [(rng.choice(PREPOSITIONS), rng.choice(NOUNS)) for _ in range(rng.choice((1, 1, 2)))]
    parses = []
    for code in range(2 ** len(tails)):
        to_verb = [f"(PP (P {p}) {phrase(n)})" for i, (p, n) in enumerate(tails) if code >> i & 1]
        to_noun = [f"(PP (P {p}) {phrase(n)})" for i, (p, n) in enumerate(tails) if not code >> i & 1]
        object_ = phrase(thing)
        for attached in to_noun:
            object_ = f"(NP {object_} {attached})"
        predicate = f"(VP (V {verb}) {object_})"
        for attached in to_verb:
            predicate = f"(VP {predicate} {attached})"
        parses.append(f"(S {phrase(subject)} {predicate})")
    right = 0
    for i, (p, _) in enumerate(tails):
        to_the_verb = (likes[verb, p] > likes[thing, p]) ^ (rng.random() < 0.05)
        right |= to_the_verb << i
    return parses, right


def rules(tree: str) -> Counter[str]:
    """The context-free rules that a tree uses."""
    found: Counter[str] = Counter()
    stack: list[list[str]] = []
    for token in re.findall(r"\(|\)|[^\s()]+", tree):
        if token == "(":
            stack.append([])
        elif token == ")":
            node = stack.pop()
            found[" ".join(node)] += 1
            if stack:
                stack[-1].append(node[0])
        else:
            stack[-1].append(token)
    return found


def grammar(trees: list[str]) -> dict[str, float]:
    """Log probabilities of the rules, by their relative frequency."""
    counts: Counter[str] = Counter()
    for tree in trees:
        counts.update(rules(tree))
    heads: Counter[str] = Counter()
    for rule, n in counts.items():
        heads[rule.split()[0]] += n
    return {rule: math.log(n / heads[rule.split()[0]]) for rule, n in counts.items()}


def reproduce(quick: bool = False) -> Paper:
    """Prepositional phrases that belong to the verb or to the noun before them."""
    n, seeds = (60, 2) if quick else (400, 5)
    found: dict[str, list[float]] = {}
    for seed in range(seeds):
        rng = random.Random(seed)
        likes = {(word, p): rng.gauss(0, 1) for word in (*VERBS, *NOUNS) for p in PREPOSITIONS}
        lists = [sentence(rng, likes) for _ in range(2 * n)]
        (X, y), (X_test, y_test) = (tuple(zip(*part, strict=True)) for part in (lists[:n], lists[n:]))
        known = grammar([trees[best] for trees, best in zip(X, y, strict=True)])
        likely = [
            max(range(len(t)), key=lambda i, t=t: sum(k * known.get(r, -20) for r, k in rules(t[i]).items()))
            for t in X_test
        ]
        found.setdefault("PCFG", []).append(100 * mean(a == b for a, b in zip(likely, y_test, strict=True)))
        names = sorted({rule for trees in (*X, *X_test) for tree in trees for rule in rules(tree)})

        def bag(trees: Any, names: list[str] = names) -> list[list[float]]:
            return [[float(rules(tree)[name]) for name in names] for tree in trees]

        linear = KernelRanker(kernel=Linear(), random_state=seed).fit([bag(t) for t in X], list(y))
        found.setdefault("counts of rules", []).append(100 * linear.score([bag(t) for t in X_test], list(y_test)))
        for decay in DECAYS:
            for hypothesis in ("averaged", "voted"):
                ranker = KernelRanker(kernel=SubsetTree(decay), hypothesis=hypothesis, random_state=seed)
                score = 100 * ranker.fit([list(t) for t in X], list(y)).score([list(t) for t in X_test], list(y_test))
                found.setdefault(f"trees, decay {decay:g}, {hypothesis}", []).append(score)
    table = Table(
        f"The right parse on top, %: {n} sentences to learn from, {n} to test on, {seeds} seeds",
        ["", "right"],
        [(name, spread(values)) for name, values in found.items()],
    )
    voted = {decay: mean(found[f"trees, decay {decay:g}, voted"]) for decay in DECAYS}
    averaged = {decay: mean(found[f"trees, decay {decay:g}, averaged"]) for decay in DECAYS}
    best = max(voted, key=lambda decay: voted[decay])
    pcfg, rules_alone = mean(found["PCFG"]), mean(found["counts of rules"])
    fewer = {decay: 100 * (voted[decay] - pcfg) / (100 - pcfg) for decay in DECAYS}
    beside = Table(
        "Beside the paper's figures",
        ["", "paper: parse score", "here: right, %", "paper: errors fewer, %", "here: errors fewer, %"],
        [
            ("PCFG", str(THEIR_PCFG), f"{pcfg:.1f}", "", ""),
            ("rules alone (depth 1)", "{} ± {}".format(*THEIR_RULES), f"{rules_alone:.1f}", "", ""),
            *(
                (f"trees, decay {d:g}, voted", f"{a} ± {b}", f"{voted[d]:.1f}", f"{c} ± {e}", f"{fewer[d]:.0f}")
                for d, (a, b, c, e) in THEIRS.items()
            ),
        ],
    )
    no_better = larger(found["counts of rules"], found["PCFG"])
    apart = max(voted[d] for d in DECAYS[1:]) - min(voted[d] for d in DECAYS[1:])
    claims = [
        Claim(
            f"subtrees rank better than the PCFG ({THEIRS[best][0]} and {THEIR_PCFG})",
            f"{voted[best]:.1f} and {pcfg:.1f}",
            voted[best] > pcfg,
        ),
        Claim(
            f"subtrees rank better than rules alone ({THEIR_DEPTH_3[0]} at depth 3, {THEIR_RULES[0]})",
            f"{voted[best]:.1f} and {rules_alone:.1f}",
            voted[best] > rules_alone,
        ),
        Claim(
            f"rules alone rank no better than the PCFG ({THEIR_RULES[0]} and {THEIR_PCFG})",
            f"{rules_alone:.1f} and {pcfg:.1f}",
            None if no_better is None else not no_better,
        ),
        Claim(
            "the smallest decay, 0.1, is the worst (77)",
            f"{voted[0.1]:.1f}, others {min(voted[d] for d in DECAYS[1:]):.1f} or more",
            min(voted, key=lambda decay: voted[decay]) == 0.1,
        ),
        Claim("from 0.3 on the decay matters little (78 to 79)", f"{apart:.1f} apart", apart < 2),
    ]

    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        left.plot(DECAYS, list(voted.values()), "o-", color="tab:purple", label="all subtrees, voted")
        left.plot(DECAYS, list(averaged.values()), "s--", color="tab:green", label="all subtrees, averaged")
        left.axhline(rules_alone, color="0.4", linestyle="-.", label="counts of rules")
        left.axhline(pcfg, color="0.6", linestyle=":", label="PCFG")
        left.set(xlabel="decay of large trees", ylabel="right parse on top, %")
        theirs = [each[2] for each in THEIRS.values()]
        right.errorbar(DECAYS, theirs, [each[3] for each in THEIRS.values()], fmt="o-", color="0.5", label="paper")
        right.plot(DECAYS, list(fewer.values()), "o-", color="tab:purple", label="here, voted")
        right.set(xlabel="decay of large trees", ylabel="errors fewer than the PCFG's, %", ylim=(0, None))
        left.legend(fontsize="small")
        right.legend(fontsize="small")

    return Paper(
        "Tree kernels that rank parses",
        "Collins & Duffy (2001), Convolution kernels for natural language; its tables 1 and 2",
        """A grammar proposes parses of a sentence. Does a perceptron that compares trees by all their subtrees choose
        better among them? And how much should large subtrees count? Their weight falls by the decay with each rule.""",
        """The paper reranks the 100 most likely parses of the ATIS part of the Penn Treebank, which is not free, learns
        for one epoch, and scores the brackets of a parse (the mean of precision and recall), on ten development sets.
        Here the sentences are synthetic: a prepositional phrase belongs to the verb or to the noun before it, depending
        on which of them prefers the preposition (with 5 % noise). No rule of a context-free grammar sees both words; a
        subtree does. All parses of a sentence are its candidates, only the right one counts, and there are ten epochs.
        So compare the effects of rules, subtrees and decay, not the scores. For the averaged hypothesis the paper has
        no figures.""",
        [beside, table],
        claims,
        draw,
        "Sentences with the right parse on top, and errors fewer than the grammar's, by the decay of large trees",
    )
