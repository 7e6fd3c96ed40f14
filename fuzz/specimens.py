"""Files of every kind of model and checkpoint, and caches, each with a way to open it and to use what comes out.

Models are those of tests/golden (what every build ever wrote) and of the contract suite (what this one writes).
"""

from __future__ import annotations

import json
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / name) for name in ("golden", "contracts", "support")]

import running  # noqa: E402
from golden_cases import CASES as GOLDEN  # noqa: E402
from golden_models import FOLDER  # noqa: E402

from perceptive import model_file  # noqa: E402
from perceptive.learners import LinearLearner, RankingLearner  # noqa: E402
from perceptive.model_file import ModelFileError  # noqa: E402
from perceptive.models.registry import LEARNERS, load, load_learner, save  # noqa: E402
from perceptive.parameters import TrainingParameters  # noqa: E402
from perceptive.streams import open as open_stream  # noqa: E402
from perceptive.streams.cache import MAGIC  # noqa: E402
from perceptive.training.blocks import ListBlocks, RowBlocks  # noqa: E402
from perceptive.training.checkpoint import Checkpoint  # noqa: E402
from perceptive.training.loop import InMemory, Run, train  # noqa: E402
from perceptive.training.source import FileSource  # noqa: E402
from test_resuming import IN_MEMORY, Stop, StopAfter, halved  # noqa: E402
from zoo import CASES, Case  # noqa: E402

TRAINING = TrainingParameters(epochs=3)
MOST_EPOCHS = 20


@dataclass(frozen=True)
class Specimen:
    """A sound file.

    Attributes
    ----------
    name, kind : str
        What it is called here, and what the file says it is.
    meta, arrays : dict
        Its contents.
    open : callable
        Gets a path; raises `refusal`, or gives what is in the file.
    use : callable
        Gets what `open` gave; may raise ValueError.
    write : callable
        Gets a path, kind, meta and arrays; writes a file with a sound checksum.
    refusal : type
        The error that says that a file is not sound.
    """

    name: str
    kind: str
    meta: dict[str, Any]
    arrays: dict[str, Any]
    open: Callable[[str], Any]
    use: Callable[[Any], Any]
    write: Callable[[str, str, dict[str, Any], dict[str, Any]], None] = model_file.write
    refusal: type[Exception] = ModelFileError


def specimens(folder: str, like: str = "") -> list[Specimen]:
    """Those whose name has ``like`` in it; the folder may be written to."""
    made = (*_golden(), *_commands(), *_learners(folder, like), *_checkpoints(folder, like), *_caches(folder))
    return [one for one in made if like in one.name]


# ---------------------------------------------------------------- models


def _golden() -> Iterator[Specimen]:
    for name, case in GOLDEN.items():
        contents = model_file.read(FOLDER / f"{name}.model")
        yield Specimen(f"golden {name}", *contents, _loader(contents[0], case.functions), case.ask)


def _loader(kind: str, functions: Any = None) -> Callable[[str], Any]:
    read = load_learner if kind in LEARNERS else load
    return lambda path: read(path, functions=functions)


def _commands() -> Iterator[Specimen]:
    """Models that commands made; these also read the files that they predict. They lie in the working directory."""
    for recording in sorted(FOLDER.glob("cli-*.json")):
        steps = [step["step"] for step in json.loads(recording.read_text("utf-8"))["steps"]]
        for model in running.models_of([{"step": step} for step in steps]):
            path = FOLDER / f"{recording.stem}.{model}"
            if path.exists():
                mine = [step for step in steps if step.split()[1] == model and "large" not in step]
                contents = model_file.read(path)
                yield Specimen(f"command {path.stem}", *contents, _path_of_sound, _commander(model, mine))


def _path_of_sound(path: str) -> str:
    load_learner(path)
    return path


def _commander(model: str, steps: list[str]) -> Callable[[str], Any]:
    def use(path: str) -> None:
        for step in (*steps[:3], f"inspect {model}"):
            code, _, said = running.run(step.replace(model, path), Path.cwd())
            if code not in (0, 1, 2) or "not enough memory" in said:
                raise AssertionError(f"{step}: exit code {code}: {said}")

    return use


def _cases(cases: Iterable[Case], group: str, like: str) -> list[Case]:
    """Those that are wanted: it takes a second to make all."""
    return [case for case in cases if like in f"{group} {case.name}"]


def _learners(folder: str, like: str) -> Iterator[Specimen]:
    path = os.path.join(folder, "learner.model")
    for case in _cases(CASES, "learner", like):
        learner = case.make()
        learner.learn_many(case.X, case.y)
        learner.finish()
        save(learner, path)
        kind, meta, arrays = model_file.read(path)
        held = {name: np.array(array) for name, array in arrays.items()}
        yield Specimen(f"learner {case.name}", kind, meta, held, load_learner, _predictor(case))


def _predictor(case: Case) -> Callable[[Any], Any]:
    def use(learner: Any) -> None:
        learner.predict_many(case.X)
        learner.predict(case.X[0])
        if not case.name.startswith("reranking"):
            learner.learn_many(*case.part(0, 6))

    return use


# ---------------------------------------------------------------- checkpoints


def _checkpoints(folder: str, like: str) -> Iterator[Specimen]:
    path = os.path.join(folder, "checkpoint")
    for case in _cases(IN_MEMORY, "checkpoint", like):
        learner = case.make()
        try:
            train(Run.of(learner, TRAINING), _in_memory(case, learner), checkpoint=StopAfter(path, 6))
        except Stop:
            kind, meta, arrays = model_file.read(path)
            held = {name: np.array(array) for name, array in arrays.items()}
            yield Specimen(f"checkpoint {case.name}", kind, meta, held, _resumed, _finisher(case))


def _in_memory(case: Case, learner: Any) -> InMemory:
    return InMemory(halved(learner.dataset(case.X, case.y, epochs=3)), shuffle=True)


def _resumed(path: str) -> Run:
    run = Checkpoint(path, {}).resume()
    assert run is not None
    return run


def _finisher(case: Case) -> Callable[[Run], Any]:
    def use(run: Run) -> None:
        run.training = replace(run.training, epochs=min(run.training.epochs, MOST_EPOCHS))  # many take long, as asked
        train(run, _in_memory(case, run.learner))
        run.learner.predict_many(case.X)

    return use


# ---------------------------------------------------------------- caches


def _caches(folder: str) -> Iterator[Specimen]:
    data, path = os.path.join(folder, "rows.svm"), os.path.join(folder, "cache")
    with open(data, "w", encoding="utf-8") as file:
        file.writelines(f"{i % 3} qid:{i // 4} {1 + i % 5}:{i % 7} 6:1\n" for i in range(48))
    for blocks, make in ((RowBlocks(), LinearLearner), (ListBlocks(), RankingLearner)):
        if os.path.exists(path):
            os.unlink(path)
        with _source(data, blocks, path) as source:
            learner = _reader(make, source)
            train(Run.of(learner, TrainingParameters(epochs=2)), source)
        yield _cache_specimen(path, data, blocks, make)


def _source(data: str, blocks: Any, cache: str, holdout: float = 0.0) -> FileSource:
    stream = open_stream(data, format="svmlight", n_features=8, dtype=np.float32, threads=1)
    return FileSource(stream, blocks, epochs=2, cache=cache, holdout=holdout)


def _reader(make: Any, source: FileSource) -> Any:
    learner = make()
    learner.space.reads(source.stream.format, None)
    return learner


def _cache_specimen(path: str, data: str, blocks: Any, make: Any) -> Specimen:
    with open(path, "rb") as file:
        content = file.read()
    length = int.from_bytes(content[-20:-12], "little")
    index = json.loads(content[-20 - length : -20])
    begins = [block[0] for block in index["blocks"]]
    parts = zip(begins, [*begins[1:], len(content) - 20 - length], strict=True)
    arrays = {f"block{i}": np.frombuffer(content[a:b], np.uint8) for i, (a, b) in enumerate(parts)}

    def use(path: str) -> None:
        for holdout in (0.0, 0.25):
            with _source(data, blocks, path, holdout) as source:
                train(Run.of(_reader(make, source), TrainingParameters(epochs=2)), source)

    return Specimen(f"cache {blocks.unit}", "cache", index, arrays, lambda path: path, use, write_cache, ValueError)


def write_cache(path: str, kind: str, index: dict[str, Any], arrays: dict[str, Any]) -> None:
    """A cache with these contents; the checksums of its blocks are set, where there is a place for them."""
    blocks = b"".join(np.ascontiguousarray(array).tobytes() for _, array in sorted(arrays.items()))
    for block, array in zip(index.get("blocks") or (), arrays.values(), strict=False):
        if isinstance(block, list) and len(block) == 6 and block[4] != 0:
            block[4] = zlib.crc32(np.ascontiguousarray(array).tobytes())
    text = json.dumps(index).encode()
    end = len(text).to_bytes(8, "little") + zlib.crc32(text).to_bytes(4, "little") + MAGIC
    Path(path).write_bytes(MAGIC + blocks + text + end)
