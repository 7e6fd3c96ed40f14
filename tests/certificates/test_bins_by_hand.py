"""Bins and what is made of them, in numbers that can be checked by hand."""

import numpy as np
import pytest

from perceptive.certificates import margins as collecting
from perceptive.certificates.bins import RATIO, Bins, Shortfall
from perceptive.certificates.margins import Collection
from perceptive.certificates.theorems import _largest_k
from perceptive.data.dataset import Margins


def part(margins, **more):
    margins = np.asarray(margins, float)
    return Margins({"u": margins}, np.ones(len(margins)), 1.0, None, **more)


def test_nothing_falls_short_where_all_margins_reach_gamma():
    short = Bins.of(np.array([2.0, 3.0])).shortfall()
    assert short.first(0.5) == short.second(0.5) == 0.0
    assert short.first(0.0) == short.second(0.0) == 2.0  # γ = ∞: every margin lacks all of it


def test_sums_are_of_what_lies_below():
    short = Bins.of(np.array([-1.0, 1.0, 2.0]), np.array([2.0, 3.0, 5.0])).shortfall()
    assert short.first(0.5) == pytest.approx(1.5 + 0.5)
    assert short.second(0.5) == pytest.approx(1.5**2 + 0.5**2)
    weighed = Bins.of(np.array([-1.0, 1.0, 2.0]), np.array([2.0, 3.0, 5.0])).shortfall(weighed=True)
    assert weighed.first(0.5) == pytest.approx(2 * 1.5 + 3 * 0.5)
    assert weighed.second(0.5) == pytest.approx(2 * 1.5**2 + 3 * 0.5**2)


def test_bins_are_a_64th_wide():
    assert RATIO == 1.015625
    edge = 1 + 17 / 64
    below = np.nextafter(edge, 0)
    assert Bins.of(np.array([1.25, below, edge, 1.279])).coarse().lows.tolist() == [1.25, edge]
    smallest = 2.0**-1022  # what is smaller counts as 0
    assert Bins.of(np.array([-1.0, 0.0, smallest / 2, smallest])).coarse().lows.tolist() == [-1.0, smallest]


def test_coarse_bins_are_never_exact():
    assert Bins.of(np.array([1.0])).exact
    assert not Bins.of(np.array([1.0])).coarse().exact
    assert not Bins.of(np.empty(0)).coarse().exact


def tried(bins):
    """The q at which a function is looked at."""
    asked = []

    def f(q):
        asked.append(np.array(q))
        return np.asarray(q) * 0.0

    bins.minimise(f)
    return asked[0]


def test_gamma_is_looked_for_from_the_smallest_margin_to_65_times_the_largest():
    q = tried(Bins.of(np.array([-3.0, 1.25, 2.0])).coarse())
    assert q[0] == 0.0
    gamma = 1 / q[1:]
    assert gamma[0] == 1.25
    assert gamma[1] == pytest.approx(1 + 17 / 64)  # the next edge
    assert gamma[-1] == pytest.approx(2 * 64 * (1 + 3 / 64))
    assert (np.diff(gamma) > 0).all()
    huge = 1 / tried(Bins(np.array([1e308]), np.ones((3, 1)), exact=False))[1:]
    assert np.isfinite(huge).all()
    assert huge[-1] == pytest.approx(2.0**1023 * (1 + 63 / 64))


def test_no_bin_lies_across_gamma():
    edges = 2.0 ** np.repeat(np.arange(4), 64) * (1 + np.tile(np.arange(64), 4) / 64)
    bins = Bins.of(edges).coarse()
    q = tried(bins)[1:]
    assert np.searchsorted(bins.lows, 1.0 / q).tolist()[: len(edges)] == list(range(len(edges)))
    assert (1.0 / (1.0 / edges) > edges).any()  # or there is nothing to round


def test_the_smallest_value_wins_and_nan_never_does():
    bins = Bins.of(np.array([1.0, 2.0])).coarse()
    assert bins.minimise(lambda q: -q) == 1.0
    assert bins.minimise(lambda q: q) == 0.0
    assert bins.minimise(lambda q: np.where(q > 0.5, np.nan, -q)) == 0.5
    assert Bins.of(np.array([-1.0, 0.0])).minimise(lambda q: -q) == 0.0  # no margin is positive


@pytest.mark.parametrize("at", [0.0, 0.1, 0.25, 0.4999, 0.5])
def test_exact_bins_have_the_minimum_of_all(at):
    assert Bins.of(np.array([2.0, 7.0])).minimise(lambda q: (q - at) ** 2) == pytest.approx(at, abs=1e-7)


def test_margins_are_kept_one_by_one_up_to_a_limit():
    for n, exact in ((collecting.EXACT, True), (collecting.EXACT + 1, False)):
        collection = Collection([None])
        collection.add([part(np.linspace(0.5, 1.5, n))])
        [(name, bins)] = collection.finish()[0].bins()
        assert name == "u"
        assert bins.exact is exact
        assert bins.sums[0].sum() == n
    assert collecting.EXACT == 2**18


def test_the_last_parts_are_laid_in_bins_too(monkeypatch):
    monkeypatch.setattr(collecting, "EXACT", 3)
    monkeypatch.setattr(collecting, "AT_ONCE", 2)
    collection = Collection([None])
    for margins in ([1.0, 2.0, 3.0, 4.0, -1.0], [5.0]):
        collection.add([part(margins)])
    [(_, bins)] = collection.finish()[0].bins()
    assert bins.lows.tolist() == [-1.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert bins.sums[:, 0].tolist() == [1.0, -1.0, 1.0]


@pytest.mark.parametrize("parts", [1, 3])
def test_every_problem_has_a_part(parts):
    with pytest.raises(ValueError, match="argument 2 is"):
        Collection([None, None]).add([part([1.0])] * parts)


def test_what_is_known_of_the_examples_besides_their_margins():
    collection = Collection([None])
    collection.add([Margins({"u": np.ones(3)}, np.array([0.0, 4.0, 0.0]), 4.0, np.array([1.0, 1.0, 1.0]))])
    [found] = collection.finish()
    assert (found.zero_rows, found.radius2, found.weighted, found.certified) == (2, 4.0, False, True)
    collection.add([Margins({"u": np.ones(1)}, np.array([1.0]), 1.0, np.array([2.0]), certified=False)])
    assert (found.zero_rows, found.radius2, found.weighted, found.certified) == (2, 4.0, True, False)
    collection.add([Margins({"u": np.array([np.inf])}, np.array([9.0]), 9.0, None)])
    assert found.radius2 == 9.0
    assert list(found.bins()) == []
    nothing = Collection([None])
    nothing.add([Margins({"u": np.empty(0)}, np.empty(0), 7.0, None)])
    assert nothing.finish()[0].radius2 is None


def test_rows_that_can_err_with_no_difference_count_twice():
    collection = Collection([None])
    collection.add([part([1.0, 2.0, 3.0], twins=np.array([False, True, True]))])
    [found] = collection.finish()
    [(_, bins)] = found.bins()
    assert bins.lows.tolist() == [1.0, 2.0, 2.0, 3.0, 3.0]
    assert found.zero_rows == 2
    assert found.certified
    collection.add([part([1.0], twins=np.array([True]), certified=False)])
    assert not found.certified


def test_many_bounds_from_a_start_equal_each_by_itself():
    q, deviation = np.array([0.0, 1e-3, 0.5, 2.0, 40.0]), np.array([3.0, 0.0, 1.0, 0.2, 0.0])
    many = _largest_k(q, deviation, 1.5, 7.0, -2.0)
    for one, *given in zip(many, q, deviation, strict=True):
        k = float(_largest_k(*given, 1.5, 7.0, -2.0))
        assert k == pytest.approx(one, rel=1e-9)
        right = np.sqrt(k) * given[1] + 2.0 * given[0] + given[0] * np.sqrt(49.0 + k * 1.5**2)
        assert k == pytest.approx(right, rel=1e-9, abs=1e-290)


def test_the_sums_before_the_first_bin_are_nothing():
    short = Shortfall(np.array([1.0]), (np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.array([0.0, 1.0])))
    assert short.second(1.0) == 0.0
    assert short.second(0.5) == 0.25
