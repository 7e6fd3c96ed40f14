"""Tables of Hugging Face and pyarrow, and what is refused with a cure."""

import collections.abc

import numpy as np
import pytest

from perceptive import HashedText, LinearClassifier, load, save

pa = pytest.importorskip("pyarrow")

TABLE = {"colour": ["red", "blue"] * 10, "size": [1.0, 2.0] * 10, "label": ["a", "b"] * 10}
X, y = pa.table({name: TABLE[name] for name in ("colour", "size")}), TABLE["label"]


class Column(collections.abc.Sequence):
    """A column, as the package datasets has it."""

    def __init__(self, values):
        self.source, self.column_name, self._values = None, "label", values

    def __len__(self):
        return len(self._values)

    def __getitem__(self, i):
        return self._values[i]


class Dataset:
    """The part of a dataset that is asked for; as arrow it gives tables, else dicts of lists."""

    def __init__(self, table, arrow=False):
        self._table, self._arrow = table, arrow
        self.column_names, self.shape, self.features = (
            table.column_names,
            table.shape,
            dict.fromkeys(table.column_names),
        )

    def __len__(self):
        return len(self._table)

    def __getitem__(self, key):
        if isinstance(key, str):
            return Column(self._table[key].to_pylist())
        return self._table[key] if self._arrow else self._table[key].to_pydict()

    def with_format(self, kind):
        return Dataset(self._table, kind == "arrow")


def test_datasets_of_hugging_face(tmp_path):
    data = Dataset(X)
    model = LinearClassifier(epochs=5).fit(data, Column(y))
    assert model.predict(data).tolist() == y
    assert LinearClassifier(epochs=5).fit(X, pa.chunked_array([y])).predict(data).tolist() == y
    assert LinearClassifier(epochs=5, validation_fraction=0.2).fit(data, pa.array(y)).predict(data).tolist() == y
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").predict(data).tolist() == y


def test_models_of_files_take_them(tmp_path):
    (tmp_path / "t.csv").write_text("colour,size,label\n" + "red,1,a\nblue,2,b\n" * 10)
    model = LinearClassifier(epochs=5).fit_stream(tmp_path / "t.csv")
    assert model.predict(Dataset(X)).tolist() == y
    assert model.fit(Dataset(X), Column(y)).predict(Dataset(X)).tolist() == y


def test_columns_of_texts():
    texts = ["spam spam", "ham", "eggs"]
    for how in ({}, {"idf": True}):
        expected = HashedText(**how).fit_transform(texts).toarray()
        for given in (pa.array(texts), pa.chunked_array([texts]), Column(texts), Dataset(pa.table({"text": texts}))):
            assert np.array_equal(HashedText(**how).fit_transform(given).toarray(), expected)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"size": [1, 2], "weight": [2, 3]}, r"X is a dict of columns; give a data frame, pandas\.DataFrame\(X\)"),
        ({"size": 1.0}, "X is one dict; give a list of dicts, or use predict_one and learn_one"),
        (np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]), "X is a structured array; give a data frame"),
        (type("LazyFrame", (), {})(), r"X is a LazyFrame, which holds no rows yet; give X\.collect\(\)"),
        (type("Stream", (), {"column_names": ["colour"]})(), "X is a Stream, whose rows come one by one; give a table"),
    ],
)
def test_other_tables_are_refused_with_a_cure(given, said, tmp_path):
    (tmp_path / "t.csv").write_text("colour,size,label\n" + "red,1,a\nblue,2,b\n" * 10)
    of_file = LinearClassifier().fit_stream(tmp_path / "t.csv")
    of_array = LinearClassifier().fit([[1.0], [2.0]], [0, 1])
    for call in (
        lambda: LinearClassifier().fit(given, [0, 1]),
        lambda: of_file.predict(given),
        lambda: of_array.predict(given),
    ):
        with pytest.raises(ValueError, match=said):
            call()
