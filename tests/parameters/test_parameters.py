"""Parameters are declared once; values are checked, frozen and compared."""

import copy
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest

from perceptive import KernelClassifier, KernelRanker, LinearClassifier, LinearRanker, SequenceTagger, parameter_groups
from perceptive import parameters as p
from perceptive.declarations import Checked, Declaration, Group, one_of, parameter, whole
from perceptive.errors import ParameterError

CLASSES = [cls for cls in vars(p).values() if isinstance(cls, type) and issubclass(cls, Checked) and cls is not Checked]
AUTO = {LinearClassifier: ["bias"], SequenceTagger: ["rule", "C", "min_count", "encoding", "epochs", "tol"]}


@pytest.mark.parametrize("value", [None, np.random.RandomState(0), np.random.default_rng(0), -1, 0.5])
def test_a_seed_is_a_number_and_errors_say_how_to_draw_one(value):
    for parameters in CLASSES:
        if "random_state" in parameters.defaults:
            with pytest.raises(ParameterError, match=r"2³¹ − 1, which repeats .* give random\.randrange\(2\*\*31\)"):
                parameters(random_state=value)
            assert parameters(random_state=np.int64(3)).random_state == 3


def test_each_parameter_is_declared_in_one_group():
    """A default, a check or a help of its own may differ from task to task; a name comes from one group."""
    groups = [cls for cls in vars(parameter_groups).values() if isinstance(cls, type) and issubclass(cls, Group)]
    whole_ones = {}
    for group in groups:
        for name, one in vars(group).items():
            if isinstance(one, Declaration) and {"default", "help", "check"} <= one.facts.keys():
                whole_ones.setdefault(name, []).append(group.__name__)
    twice = {name: owners for name, owners in whole_ones.items() if len(owners) > 1}
    assert twice == {"cost": ["LinearRuleGroup", "PairGroup", "SequenceGroup"]}  # three different things


def test_a_difference_keeps_the_rest():
    class Base(Group):
        C: float = parameter(1.0, "help", whole(0), doc="More.", kind="a number")

    class Other(Base):
        C: float = parameter(2)

    class Third(Base):
        C: float = parameter(help="another help")

    class OtherValues(Checked, Other):
        pass

    class ThirdValues(Checked, Third):
        pass

    [two], [three] = fields(OtherValues), fields(ThirdValues)
    assert (two.default, two.metadata["help"], two.metadata["doc"]) == (2, "help", "More.")
    assert (three.default, three.metadata["help"], three.metadata["doc"]) == (1.0, "another help", None)
    with pytest.raises(ParameterError, match="C=-1: it must be a whole number from 0"):
        OtherValues(C=-1)


@pytest.mark.parametrize("cls", CLASSES)
def test_defaults_pass_their_checks(cls):
    """Values that are not given are not checked again."""
    assert [name for name, check in cls.checks.items() if check(cls.defaults[name])] == []


@pytest.mark.parametrize("cls", CLASSES)
def test_values_are_frozen_compared_and_copied(cls):
    values = cls()
    name = fields(cls)[0].name
    for change in (lambda: setattr(values, name, 1), lambda: setattr(values, "x", 1), lambda: delattr(values, name)):
        with pytest.raises(FrozenInstanceError):
            change()
    assert values == cls() == replace(values) == copy.deepcopy(values) == pickle.loads(pickle.dumps(values))
    assert hash(values) == hash(cls())
    assert eval(repr(values), {cls.__name__: cls}) == values
    assert values != object()
    with pytest.raises(TypeError, match="nonsense"):
        cls(nonsense=1)


def test_none_is_named_as_a_parameter():
    with pytest.raises(ParameterError, match=r"max_voters=0: it must be .*, or max_voters=None \(all\)"):
        p.LinearParameters(max_voters=0)
    with pytest.raises(ParameterError, match=r"one of 'all', or keep=None"):
        p.LinearParameters(keep="some")


def test_a_choice_is_of_its_own_type():
    check = one_of(True, "all", None)
    assert check(True) is check("all") is check(None) is None
    assert check(1) == check("none") == "one of True, 'all', or {}"


@pytest.mark.parametrize(
    ("estimator", "kinds"),
    [
        (LinearClassifier, (p.LinearParameters, p.TrainingParameters, p.EstimatorParameters)),
        (KernelClassifier, (p.KernelParameters, p.TrainingParameters)),
        (LinearRanker, (p.RankingParameters, p.TrainingParameters)),
        (KernelRanker, (p.KernelRankingParameters, p.TrainingParameters)),
        (SequenceTagger, (p.SequenceParameters, p.TrainingParameters)),
    ],
)
def test_estimators_take_and_describe_what_is_declared(estimator, kinds):
    made = estimator()
    for kind in kinds:
        for f in fields(kind):
            default = "auto" if f.name in AUTO.get(estimator, ()) else f.default
            assert getattr(made, f.name) == getattr(estimator, f.name) == default
            assert f"\n    {f.name} : " in estimator.__doc__
    assert "{parameters}" not in estimator.__doc__
    assert "{run}" not in estimator.__doc__
    assert estimator.__init__.__qualname__ == f"{estimator.__name__}.__init__"
    with pytest.raises(TypeError, match="nonsense"):
        estimator(nonsense=1)


def test_importing_parameters_is_light():
    code = "import sys, perceptive.parameters; print({'numpy', 'sklearn', 'scipy', 'rich'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"
