"""A pipeline of `HashedText` and an estimator as one state: the features of the texts stand beside the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from perceptive import _core
from perceptive.features.text import TextFeatures
from perceptive.state import State, below
from perceptive.streams import idf
from perceptive.streams.file_format import TEXT, FileFormat

KIND = "Pipeline"
NAMES = ("names.bucket", "names.offsets", "names.blob")


class TextPipeline(NamedTuple):
    """The parts of a pipeline."""

    steps: Sequence[str]  # what the two steps are called
    features: TextFeatures
    kind: str  # of the estimator
    state: State  # of the estimator

    def joined(self) -> State:
        """As one state."""
        meta = {"steps": list(self.steps), "text": self.features.options(), "kind": self.kind, "model": self.state.meta}
        arrays = dict(self.state.within("model.").arrays)
        if self.features.idf_ is not None:
            arrays |= idf.pack(self.features.idf_)
        if self.features.remember_names:
            arrays |= zip(NAMES, self.features.index.to_arrays(), strict=True)
        return State(meta, arrays)

    @classmethod
    def split(cls, state: State) -> TextPipeline:
        """What `joined` gave; raises ValueError where the parts do not fit together."""
        meta, arrays = state
        features = TextFeatures.from_options(meta["text"])
        if idf.IDF in arrays:
            features = TextFeatures.from_options(meta["text"], idf.unpack(arrays, features.width))
        if NAMES[0] in arrays:
            index = _core.InvertedIndex.from_arrays(*(np.ascontiguousarray(arrays[name]) for name in NAMES))
            features.remember([name for names in index.inverted(1).values() for name in names])
        return cls(meta["steps"], features, meta["kind"], State(meta["model"], below(arrays, "model.")))

    def teach_reading(self, learner: Any) -> None:
        """Let the learner of the estimator read texts, in files too, as the pipeline does."""
        text = self.features
        if not text.signed:  # those of files always are
            return
        options = {name: getattr(text, name) for name in TEXT}
        format = FileFormat(name="text", bits=text.bits, hash_seed=text.seed, text=options)
        learner.space.reads(format, text.idf_)
        learner.space.remember(text.index if text.remember_names else None)
