"""Files behind URLs, in the memory of fsspec: what they are known by."""

import fsspec
import pytest

from perceptive.cli import main
from perceptive.errors import told
from perceptive.streams.blocks import content_signature, file_signature
from perceptive.streams.remote import open_url, url_signature


@pytest.fixture
def put(tmp_path):
    """Write a file of the folder that belongs to this test."""
    system = fsspec.filesystem("memory")

    def write(content, name="rows.svm"):
        url = f"memory://{tmp_path.name}/{name}"
        system.pipe(url, content)
        return url

    yield write
    system.rm(f"memory://{tmp_path.name}", recursive=True)


def test_the_same_file_has_the_same_signature(put):
    url = put(b"1 1:1\n0 2:1\n")
    assert url_signature(url) == url_signature(url)
    assert url_signature(url)[:2] == [url, 12]


@pytest.mark.parametrize("content", [b"1 1:1\n0 2:2\n", b"1 1:1\n"])
def test_another_content_has_another_signature(put, content):
    """Of the same size, too."""
    before = url_signature(put(b"1 1:1\n0 2:1\n"))
    assert url_signature(put(content)) != before


def test_another_name_has_another_signature(put):
    assert url_signature(put(b"1 1:1\n")) != url_signature(put(b"1 1:1\n", "others.svm"))


def test_what_is_behind_a_url_is_known_by_its_server(put):
    url = put(b"1 1:1\n0 2:1\n")
    assert file_signature(url) == content_signature(url) == url_signature(url)


def test_a_file_that_is_gone(put):
    url = put(b"1 1:1\n").replace("rows", "gone")
    for use in (url_signature, open_url):
        with pytest.raises(FileNotFoundError) as raised:
            use(url)
        assert told(raised.value) == f"{url}: No such file or directory"


def test_the_command_line_names_the_url_of_a_file_that_is_not_there(tmp_path, capsys):
    assert main(["train", "memory://nowhere/a.svm", "-o", str(tmp_path / "m")]) == 1
    assert capsys.readouterr().err == "perceptive: memory://nowhere/a.svm: No such file or directory\n"


def test_a_protocol_that_nobody_knows():
    with pytest.raises(ValueError, match=r"nowhere://rows\.svm: cannot be opened .* install the package"):
        url_signature("nowhere://rows.svm")
