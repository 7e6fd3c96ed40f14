"""Other files than models are refused, and a model is written as a whole or not at all."""

import io
import os
import pickle
import re
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from test_model_file import small

from perceptive import model_file
from perceptive.model_file import ModelFileError, read, write


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.model"


# ---------------------------------------------------------------- other files


def zipped():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("a", "b")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"x", "something else, or cut short"),
        (safetensors.numpy.save({"w": np.zeros(3)}), "a safetensors file of another program"),
        (
            safetensors.numpy.save({"w": np.zeros(3)}, {"format": "np"}),
            "a safetensors file of another program",
        ),
        (pickle.dumps(list(range(100))), "a pickle, which perceptive never opens"),
        (zipped(), "a zip archive"),
        (b"# a text\n" * 20, "something else"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "something else"),
    ],
)
def test_other_files(path, content, message):
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=message):
        read(path)


def test_what_is_not_a_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "nothing")
    with pytest.raises(ModelFileError, match="not a file"):
        read(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not a file"):
        read(tmp_path / "pipe")
    (tmp_path / "file").touch()
    with pytest.raises(ModelFileError, match="cannot be read"):
        read(tmp_path / "file" / "within")
    with pytest.raises(ModelFileError, match="null"):
        read("a\0b")


def test_what_must_not_be_read(path, monkeypatch):
    small(path)

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)  # chmod does not stop root
    with pytest.raises(ModelFileError, match=r"cannot be read \(Permission denied\); check"):
        read(path)


# ---------------------------------------------------------------- whole or not at all


@pytest.mark.parametrize("failing", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()])
def test_a_failure_leaves_the_old_file(path, monkeypatch, failing, error):
    before = small(path)

    def fail(*_):
        raise error

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(type(error)):
        write(path, "new", {}, {"w": np.ones(1000)})
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_failure_amid_the_data_leaves_the_old_file(path, monkeypatch):
    before = small(path)
    chunks = model_file._chunks

    def interrupted(array):
        yield from list(chunks(array))[:1]
        raise KeyboardInterrupt

    monkeypatch.setattr(model_file, "_chunks", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(path, "new", {}, {"w": np.ones(1000)})
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_on_disk_before_it_takes_the_name(path, monkeypatch):
    calls = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *args, name=name, real=real: (calls.append(name), real(*args)))
    small(path)
    assert calls == ["fsync", "replace", "fsync"]  # the file, its name, the folder


def test_a_folder_that_is_missing_or_in_the_way(tmp_path):
    with pytest.raises(FileNotFoundError):
        write(tmp_path / "no" / "a.model", "toy", {}, {})
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write(tmp_path / "folder", "toy", {}, {})
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_mode_as_of_any_new_file(path, mask):
    old = os.umask(mask)
    try:
        small(path)
        (path.parent / "plain").touch()
    finally:
        os.umask(old)
    assert path.stat().st_mode == (path.parent / "plain").stat().st_mode


def test_through_a_symbolic_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "a.model")
    small(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert read(tmp_path / "real" / "a.model")[0] == "toy"


def test_names_of_any_length_and_kind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("x" * 255, "ü", "-"):
        write(name, "toy", {}, {})
        assert read(name)[0] == "toy"
        assert read(Path(name))[0] == "toy"


def test_writers_at_once_leave_one_whole_file(path):
    def save(kind):
        for _ in range(20):
            write(path, kind, {}, {"w": np.full(1000, ord(kind))})

    threads = [threading.Thread(target=save, args=(kind,)) for kind in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kind, _, arrays = read(path)
    assert np.all(arrays["w"] == ord(kind))
    assert list(path.parent.iterdir()) == [path]


def test_no_pickle():
    source = Path(model_file.__file__).read_text()
    imports = set(re.findall(r"^(?:import|from) (\w+)", source, re.MULTILINE))
    assert imports - set(sys.stdlib_module_names) == {"numpy", "perceptive"}
    assert not {"pickle", "marshal", "shelve", "copyreg"} & imports
    assert "np.load" not in source
    assert "eval(" not in source
