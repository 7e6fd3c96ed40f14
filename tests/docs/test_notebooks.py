"""The notebooks run, cell by cell, and what they assert holds: as plain code, and (slow) one in a kernel of Jupyter."""

import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples" / "notebooks").glob("*.ipynb"))


@pytest.fixture(autouse=True)
def no_screen():
    pytest.importorskip("matplotlib").use("Agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    yield
    pyplot.close("all")


def cells(path, kind="code"):
    book = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == kind]


def test_one_for_each_set_of_notes():
    assert [path.name[:3] for path in NOTEBOOKS] == ["000", "001", "002", "003", "004"]
    told = " ".join(text for path in NOTEBOOKS for text in cells(path, "markdown"))
    assert told.lower().count("slip") >= 16


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_run(path):
    names = {}
    for number, source in enumerate(cells(path)):
        exec(compile(source, f"{path.name}, cell {number}", "exec"), names)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_are_valid_and_no_output_is_kept(path):
    nbformat = pytest.importorskip("nbformat")
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in book.cells)


@pytest.mark.slow
def test_a_kernel_runs_one():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    book = nbformat.read(NOTEBOOKS[3], as_version=4)
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    assert all(cell.execution_count for cell in book.cells if cell.cell_type == "code")
