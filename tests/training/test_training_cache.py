"""The cache of a training run."""

import os
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_training import made, state, trained

from examples import examples
from perceptive import streams
from perceptive.streams.blocks import file_signature
from perceptive.streams.cache import Cache, signature

pytestmark = pytest.mark.core


# ---------------------------------------------------------------- the cache


def test_a_kept_cache_gives_the_same_model(file, tmp_path):
    cache = str(tmp_path / "kept.cache")
    fresh, _ = trained(file)
    first, source = trained(file, cache=cache)
    assert os.listdir(tmp_path).count("kept.cache") == 1
    second, again = trained(file, cache=cache, threads=3, holdout=0.0)
    assert state(fresh.learner) == state(first.learner) == state(second.learner)
    assert source.stream.log.bytes == file.stat().st_size
    assert again.stream.log.bytes == 0  # it was not parsed
    assert again.examples == 400
    held, _ = trained(file, cache=cache, holdout=0.2)
    parsed, _ = trained(file, holdout=0.2)
    assert state(held.learner) == state(parsed.learner)


def test_a_stale_cache_is_never_used(file, tmp_path):
    cache = str(tmp_path / "kept.cache")
    trained(file, cache=cache)
    stamp = file.stat().st_mtime_ns
    with file.open("a") as more:
        more.write("1 3:1\n")
    os.utime(file, ns=(stamp, stamp))
    assert trained(file, cache=cache)[1].examples == 401  # another size
    os.utime(file, ns=(stamp, stamp + 1))
    run, source = trained(file, cache=cache)  # another time
    assert source.stream.log.bytes == file.stat().st_size
    stream = streams.open(file, dtype="float32", bits=10)
    assert Cache.open(cache, signature(stream.files, stream.format, stream.dtype, None, skip=False)) is None
    assert run.learner.played == 3 * 401


@pytest.mark.parametrize("copies", [1, 60])
def test_a_cache_of_other_content_is_stale_whatever_size_and_time_say(tmp_path, copies):
    """Of small files all is signed; large ones (2 MB) are looked at in places, and the system knows of the change."""
    file, cache = made(tmp_path / "made.svm"), str(tmp_path / "kept.cache")
    file.write_bytes(file.read_bytes() * copies)
    trained(file, cache=cache, epochs=1)
    text, status = file.read_bytes(), file.stat()
    at = text.index(b"\n", len(text) // 2 + 40_000 * (copies > 1)) + 1
    with open(file, "r+b") as changed:
        changed.seek(at)
        changed.write(b"1" if text[at : at + 1] == b"0" else b"0")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (status.st_size, status.st_mtime_ns)
    run, _ = trained(file, cache=cache, epochs=1)
    assert state(run.learner) == state(trained(file, epochs=1)[0].learner)
    if copies == 1:
        before = file_signature(str(file))
        file.write_bytes(text)
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert file_signature(str(file)) != before


def test_a_damaged_cache_is_made_anew_or_refused(file, tmp_path):
    cache = tmp_path / "kept.cache"
    fresh, _ = trained(file, cache=str(cache))
    whole = cache.read_bytes()
    rng = random.Random(0)
    refused = 0
    for _ in range(60):
        broken = bytearray(whole)
        kind = rng.randrange(3)
        if kind == 0:
            del broken[rng.randrange(len(broken)) :]
        elif kind == 1:
            broken[rng.randrange(len(broken) - 400, len(broken))] ^= 1 << rng.randrange(8)
        else:
            at = rng.randrange(8, len(broken) - 2000)
            broken[at : at + 4] = bytes(rng.choices(range(256), k=4))
        cache.write_bytes(broken)
        try:
            run, _ = trained(file, cache=str(cache))
        except ValueError:
            refused += 1
        else:
            assert state(run.learner) == state(fresh.learner)
    assert 0 < refused < 40
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]


def test_nothing_is_left_behind_when_parsing_fails(file, tmp_path):
    with file.open("a") as more:
        more.write("1 5:x\n")
    with pytest.raises(ValueError, match="value 'x'"):
        trained(file, cache=str(tmp_path / "kept.cache"))
    assert sorted(os.listdir(tmp_path)) == ["made.svm"]


@examples(50)
@given(st.lists(st.tuples(st.sampled_from([0, 1, 2.5, "a"]), st.sets(st.integers(0, 99), max_size=5)), max_size=20))
def test_a_cache_gives_back_what_was_put_in(rows):
    from perceptive.streams.examples import Examples

    labels = sorted({label for label, _ in rows}, key=str)
    indptr = np.cumsum([0, *(len(r) for _, r in rows)]).astype(np.int32)
    indices = np.array([j for _, r in rows for j in sorted(r)], np.int32)
    data = np.arange(len(indices), dtype=np.float32)
    which = np.array([labels.index(label) for label, _ in rows], np.int32)
    cache = Cache(None, {})
    examples = Examples(labels, which, np.arange(len(rows)) + 0.5, None, indptr, indices, data)
    cache.append(examples)
    cache.append(examples)
    back, _ = cache.read([1], np.dtype(np.float32))
    assert [back.labels[i] for i in back.which] == [label for label, _ in rows]
    for name in ("weight", "indptr", "indices", "data"):
        assert np.array_equal(getattr(back, name), getattr(examples, name))
    cache.close()
