"""Blocks from all over the input: every line once, in proportion, and the true line in every error."""

import contextlib
import gzip
import itertools
import math
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptive import streams
from perceptive.streams import blocks, mixing
from perceptive.streams.mixing import Source, mixed_lines, take_turns

pytestmark = pytest.mark.core

PACKED = (*blocks.ARCHIVES, blocks.GZIP, blocks.ZSTD)  # Hypothesis draws constants of the code, too
texts = st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=60).filter(
    lambda lines: not b"\n".join(lines).startswith(PACKED)
)


def lines_of(found):
    """The lines of blocks, but for empty ones."""
    return sorted(filter(None, (line for block in found for line in bytes(block.text).split(b"\n"))))


@given(st.lists(texts, min_size=1, max_size=4), st.integers(16, 400), st.booleans(), st.booleans())
def test_every_line_comes_once(tmp_path_factory, files, size, ended, marked):
    folder = tmp_path_factory.mktemp("mixed")
    paths = [str(folder / str(number)) for number in range(len(files))]
    for path, lines in zip(paths, files, strict=True):
        with open(path, "wb") as file:
            file.write(blocks.MARK * marked + b"\n".join(lines) + b"\n" * ended)
    expected = sorted(line for path in paths for line in lines_of(blocks.blocks(path)))
    assert lines_of(mixed_lines(paths, size)) == expected


def test_a_block_of_a_sorted_file_has_all_labels(tmp_path):
    path = tmp_path / "sorted"
    path.write_text("".join(f"{label} {i:06}\n" for label in "abcd" for i in range(20_000)))
    shares = []
    for block in mixed_lines([str(path)], 1 << 16):
        found = bytes(block.text)
        shares.append([found.count(b"%c " % label) / found.count(b"\n") for label in b"abcd"])
    assert len(shares) > 8
    assert np.abs(np.array(shares) - 0.25).max() < 0.05


def test_files_come_in_proportion_to_their_size(tmp_path):
    paths = []
    for name, n in (("few", 1000), ("many", 9000)):
        paths.append(tmp_path / name)
        paths[-1].write_text(f"{name}\n" * n)
    for block in mixed_lines(list(map(str, paths)), 4000):
        found = bytes(block.text)
        assert found.count(b"few") / found.count(b"\n") == pytest.approx(0.1, abs=0.07)
    zipped = []
    for path in paths:
        zipped.append(tmp_path / f"{path.name}.gz")
        zipped[-1].write_bytes(gzip.compress(path.read_bytes(), 0))
    order = [
        opened for opened, _ in mixing.mixed(list(map(str, zipped)), streams.FileFormat(), 1 << 15, lambda n, *_: n)
    ]
    assert order[:2] == [0, 1] or order[:2] == [1, 0]


def test_only_some_files_are_open(tmp_path, monkeypatch):
    paths = []
    for number in range(100):
        paths.append(str(tmp_path / f"{number:03}.svm"))
        with open(paths[-1], "w") as file:
            file.write(f"{number % 2} {number + 1}:1\n" * 50)
    most = 0

    def opened():
        """How many of them are open; other tests may have left files to the garbage collector."""
        count = 0
        for number in os.listdir("/proc/self/fd"):
            with contextlib.suppress(FileNotFoundError):  # that of the listing itself
                count += os.readlink(f"/proc/self/fd/{number}").startswith(str(tmp_path))
        return count

    def watched(real):
        def call(*arguments, **options):
            nonlocal most
            most = max(most, opened())
            return real(*arguments, **options)

        return call

    monkeypatch.setattr(mixing._core, "read_lines", watched(mixing._core.read_lines))
    y = [label for part in streams.open(paths, threads=1).blocks(mixed=True, block=3000) for label in part.y()]
    assert sorted(y) == [0] * 2500 + [1] * 2500
    assert 0 < most <= mixing.OPEN
    assert opened() == 0


def test_sources_take_turns_and_few_are_open():
    open_now, most = set(), 0

    def source(number):
        nonlocal most
        open_now.add(number)
        most = max(most, len(open_now))
        for _ in range(number % 3 + 1):
            yield f"{number},"
        open_now.remove(number)

    sources = [Source(number % 3 + 1, lambda number=number: source(number)) for number in range(100)]
    found = list(take_turns(sources, lambda item: 1))
    assert sorted(found) == sorted(f"{n}," for n in range(100) for _ in range(n % 3 + 1))
    assert most == mixing.OPEN


@pytest.mark.parametrize("line", [1, 777, 2345, 4000])
def test_errors_name_the_true_line(tmp_path, line):
    paths = [tmp_path / "a.svm", tmp_path / "b.svm"]
    for path in paths:
        path.write_text("".join(f"{i % 2} 1:{i}\n" for i in range(1, 4001)))
    lines = paths[1].read_text().splitlines(keepends=True)
    lines[line - 1] = "1 5:x\n"
    paths[1].write_text("".join(lines))
    stream = streams.open(paths, threads=2)
    byte = len("".join(lines[: line - 1])) + 4
    with pytest.raises(ValueError, match=rf"b\.svm:{line}:5: value 'x' is not a number; .*\(byte {byte}\)"):
        list(stream.blocks(mixed=True, block=5000))
    stream = streams.open(paths, threads=2, on_error="skip")
    assert sum(map(len, stream.blocks(mixed=True, block=5000))) == 7999
    assert stream.log.skipped == 1
    assert f"b.svm:{line}:5: " in stream.log.complaints[0]


def test_a_line_that_is_too_long_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "MAX_LINE", 1 << 16)
    path = tmp_path / "a.svm"
    path.write_text("1 1:1\n" * 1000 + "1 " + "1:1 " * 40_000 + "\n")
    with pytest.raises(ValueError, match="is longer than 0 MiB; break it up"):
        list(mixed_lines([str(path)], 4000))


def test_lines_longer_than_a_piece_come_whole_and_in_blocks_that_are_not_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "MAX_LINE", 1 << 16)
    path = tmp_path / "long"
    lines = sorted(b"%d %s" % (number, b"x" * 30_000) for number in range(40))
    path.write_bytes(b"\n".join(lines))
    found = list(mixed_lines([str(path)], 1 << 14))
    assert lines_of(found) == lines
    assert max(len(block.text) for block in found) < 2 << 16
    [found] = mixed_lines([str(path)], 1 << 22)
    assert lines_of([found]) == lines


def test_the_core_reads_lines_that_begin_in_spans(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"\xef\xbb\xbfab\ncd\n\nefghij\nk")
    room = bytearray(32)
    with open(path, "rb") as file:
        place = file.fileno()

        def read(*spans, filled=0, slack=4):
            return mixing._core.read_lines(room, filled, [(place, *span) for span in spans], slack)

        # A mark is no text of the first line, a line belongs to where it begins, and the last one gets its end.
        found = read((0, 1), (1, 6), (6, 7), (7, 10), (10, 18))
        assert found == (5, 16, [(0, 0, 3), (2, 3, 6), (3, 6, 9), (4, 7, 10)])
        assert room[:16] == b"ab\ncd\n\nefghij\nk\n"
        assert read((6, 7), (10, 18), filled=20) == (1, 23, [(0, 20, 6)])  # the other does not fit
        assert read((10, 18), (100, 200), filled=14) == (2, 23, [(0, 14, 10)])
        for spans, filled, slack in (([(0, 1)], 33, 4), ([(0, 1)], -1, 4), ([(0, 1)], 0, 0), ([(2, 1)], 0, 4)):
            with pytest.raises(ValueError, match=r"the room is|a span has"):
                read(*spans, filled=filled, slack=slack)
    with pytest.raises(OSError, match="Bad file descriptor"):
        read((0, 1))


def test_tables_with_line_breaks_in_quotes_are_not_cut(tmp_path):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    paths[0].write_text("label,t\n" + 'a,"one\n\na,two"\n' * 3000)
    paths[1].write_text("t,label\n" + "x,b\n" * 3000)
    stream = streams.open(paths, threads=2)
    found = list(stream.blocks(mixed=True, block=1 << 15))
    y = [label for part in found for label in part.y()]
    assert sorted(y) == ["a"] * 3000 + ["b"] * 3000
    assert y != sorted(y)


@given(st.lists(st.integers(0, 300), min_size=1, max_size=6), st.integers(1, 40), st.integers(1, 16))
def test_the_pieces_of_all_blocks_are_the_files(sizes, count, parts):
    starts = [0, *itertools.accumulate(sizes)]
    step = next(n for n in range(int(0.618 * count) + 1, 2 * count + 2) if math.gcd(n, count) == 1)
    seen = []
    for number in range(count):
        spans = mixing._core.mixed_spans(starts, number, count, parts, step)
        pieces = [part * count + (number + part) * step % count for part in range(parts)]
        bounds = [[place * starts[-1] // (parts * count) for place in (piece, piece + 1)] for piece in pieces]
        assert sum(stop - begin for _, begin, stop in spans) == sum(end - begin for begin, end in bounds)
        assert all(0 <= begin < stop <= sizes[file] for file, begin, stop in spans)
        seen += [starts[file] + at for file, begin, stop in spans for at in range(begin, stop)]
    assert sorted(seen) == list(range(starts[-1]))  # every byte once


@pytest.mark.parametrize(
    ("starts", "number", "blocks", "parts", "step"),
    [([0], 0, 1, 1, 1), ([1, 2], 0, 1, 1, 1), ([0, 5, 3], 0, 1, 1, 1), ([0, 5], 2, 2, 1, 1), ([0, 5], -1, 2, 1, 1),
     ([0, 5], 0, 0, 1, 1), ([0, 5], 0, 1, 0, 1), ([0, 5], 0, 1, 1, 0), ([0, 2**62], 0, 1, 1, 1)],
)  # fmt: skip
def test_blocks_that_do_not_exist_are_refused(starts, number, blocks, parts, step):
    with pytest.raises(ValueError, match=r"files begin one behind|no such block"):
        mixing._core.mixed_spans(starts, number, blocks, parts, step)
