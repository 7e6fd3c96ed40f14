"""`conlleval`: the script's counts and its table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptive.evaluation.conlleval import evaluate, segments

pytestmark = pytest.mark.core


def test_conlleval_reads_broken_sequences_as_the_script_does():
    # I after O and a change of type begin a segment; both ends and the type must agree
    truth = [["O", "I-A", "I-B", "I-B", "B-B", "O"], ["I-A"]]
    guess = [["O", "B-A", "B-B", "I-B", "B-B", "O"], ["I-B"]]
    result = evaluate(truth, guess)
    assert (result.there.total(), result.found.total(), result.right.total()) == (4, 4, 3)
    assert result.accuracy == pytest.approx(100 * 4 / 7)
    assert str(result).splitlines() == [
        "processed 7 tokens with 4 phrases; found: 4 phrases; correct: 3.",
        "accuracy:  57.14%; precision:  75.00%; recall:  75.00%; FB1:  75.00",
        "                A: precision: 100.00%; recall:  50.00%; FB1:  66.67  1",
        "                B: precision:  66.67%; recall: 100.00%; FB1:  80.00  3",
    ]
    with pytest.raises(ValueError, match="sentence 0 has 2 labels"):
        evaluate([["O", "O"]], [["O"]])


@pytest.mark.parametrize(
    ("truth", "guess", "table"),
    [
        (  # nothing at all: no accuracy line
            [],
            [],
            ["processed 0 tokens with 0 phrases; found: 0 phrases; correct: 0."],
        ),
        (  # no phrases: what would be divided by zero is 0
            [["O", "O", "O"]],
            [["O", "O", "O"]],
            [
                "processed 3 tokens with 0 phrases; found: 0 phrases; correct: 0.",
                "accuracy: 100.00%; precision:   0.00%; recall:   0.00%; FB1:   0.00",
            ],
        ),
        (  # types of one side only, in the order of their characters; hyphens belong to the type
            [["B-b", "O", "B-A-x"]],
            [["B-B", "O", "B-A-x"]],
            [
                "processed 3 tokens with 2 phrases; found: 2 phrases; correct: 1.",
                "accuracy:  66.67%; precision:  50.00%; recall:  50.00%; FB1:  50.00",
                "              A-x: precision: 100.00%; recall: 100.00%; FB1: 100.00  1",
                "                B: precision:   0.00%; recall:   0.00%; FB1:   0.00  1",
                "                b: precision:   0.00%; recall:   0.00%; FB1:   0.00  0",
            ],
        ),
        (  # a sentence ends every segment: I goes on within one, and begins anew in the next
            [["B-X", "I-X"], ["I-X"]],
            [["I-X", "I-X"], ["B-X"]],
            [
                "processed 3 tokens with 2 phrases; found: 2 phrases; correct: 2.",
                "accuracy:  33.33%; precision: 100.00%; recall: 100.00%; FB1: 100.00",
                "                X: precision: 100.00%; recall: 100.00%; FB1: 100.00  2",
            ],
        ),
        (  # a segment that begins alike and goes on longer is wrong, and so is one that begins later
            [["B-X", "I-X", "O", "B-X", "I-X"]],
            [["B-X", "I-X", "I-X", "O", "B-X"]],
            [
                "processed 5 tokens with 2 phrases; found: 2 phrases; correct: 0.",
                "accuracy:  40.00%; precision:   0.00%; recall:   0.00%; FB1:   0.00",
                "                X: precision:   0.00%; recall:   0.00%; FB1:   0.00  2",
            ],
        ),
        (  # IOE: E ends a segment where another follows
            [["I-X", "E-X", "I-X", "O"]],
            [["I-X", "E-X", "E-X", "O"]],
            [
                "processed 4 tokens with 2 phrases; found: 2 phrases; correct: 2.",
                "accuracy:  75.00%; precision: 100.00%; recall: 100.00%; FB1: 100.00",
                "                X: precision: 100.00%; recall: 100.00%; FB1: 100.00  2",
            ],
        ),
        (  # the type without a name is shown twice where both have it: to the script an empty name is none
            [["B", "I", "O"]],
            [["B", "O", "O"]],
            [
                "processed 3 tokens with 1 phrases; found: 1 phrases; correct: 0.",
                "accuracy:  66.67%; precision:   0.00%; recall:   0.00%; FB1:   0.00",
                *["                 : precision:   0.00%; recall:   0.00%; FB1:   0.00  1"] * 2,
            ],
        ),
        (  # parts of speech are no segments
            [["NN", "VB"]],
            [["NN", "NN"]],
            [
                "processed 2 tokens with 0 phrases; found: 0 phrases; correct: 0.",
                "accuracy:  50.00%; precision:   0.00%; recall:   0.00%; FB1:   0.00",
            ],
        ),
        (  # nor are those with hyphens
            [["-LRB-", "NN", "-RRB-", "NP-TL"]],
            [["-LRB-", "NN", "-LRB-", "NP"]],
            [
                "processed 4 tokens with 0 phrases; found: 0 phrases; correct: 0.",
                "accuracy:  50.00%; precision:   0.00%; recall:   0.00%; FB1:   0.00",
            ],
        ),
        (  # among labels that mark segments, the script's reading
            [["B-X", "-LRB-"]],
            [["B-X", "O"]],
            [
                "processed 2 tokens with 2 phrases; found: 1 phrases; correct: 1.",
                "accuracy:  50.00%; precision: 100.00%; recall:  50.00%; FB1:  66.67",
                "             LRB-: precision:   0.00%; recall:   0.00%; FB1:   0.00  0",
                "                X: precision: 100.00%; recall: 100.00%; FB1: 100.00  1",
            ],
        ),
    ],
)
def test_tables_of_conlleval_worked_by_hand(truth, guess, table):
    assert str(evaluate(truth, guess)).splitlines() == table


tag_lists = st.lists(st.sampled_from(["B-X", "I-X", "B-Y", "I-Y", "O"]), min_size=1, max_size=6)


@given(st.lists(st.tuples(tag_lists, st.randoms(use_true_random=False)), max_size=4))
def test_right_segments_are_those_of_both(data):
    truth = [labels for labels, _ in data]
    guess = [[label if rng.random() < 0.7 else "O" for label in labels] for labels, rng in data]
    result = evaluate(truth, guess)
    mine = [(set(segments(a)), set(segments(b))) for a, b in zip(truth, guess, strict=True)]
    assert result.there.total() == sum(len(a) for a, _ in mine)
    assert result.found.total() == sum(len(b) for _, b in mine)
    assert result.right.total() == sum(len(a & b) for a, b in mine)
