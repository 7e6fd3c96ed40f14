"""The tagger as a spaCy pipeline component: ``nlp.add_pipe("perceptive_tagger")``.

Needs spaCy (``pip install "perceptive[spacy]"``), which finds the component through an entry point of the package.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sklearn.exceptions import NotFittedError
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.scorer import Scorer
from spacy.tokens import Doc, Span, Token
from spacy.training import Example
from spacy.util import minibatch

from perceptive.errors import Parameter, ParameterError
from perceptive.estimators.tagger import SequenceTagger
from perceptive.features import schemes
from perceptive.models.registry import load, save

ANNOTATIONS = ("tags", "entities")
MODEL = "tagger.model"  # in the component's folder


@Language.factory(
    "perceptive_tagger",
    assigns=["token.tag", "doc.ents", "token.ent_iob", "token.ent_type"],
    default_config={"model": None, "annotates": None, "columns": ["text"], "parameters": {}},
)
def make_tagger(
    nlp: Language, name: str, model: str | None, annotates: str | None, columns: list[str], parameters: dict[str, Any]
) -> SpacyTagger:
    """Make the component that ``nlp.add_pipe("perceptive_tagger", config=…)`` adds."""
    return SpacyTagger(name, model, annotates=annotates, columns=columns, parameters=parameters)


class SpacyTagger(Pipe):
    """A `SequenceTagger` that writes tags (``token.tag_``) or entities (``doc.ents``) into documents.

    A document is tagged sentence by sentence if it has sentences, else as a whole; white-space tokens are skipped.
    Existing entities of a document stay, and new ones do not overlap them. It learns through ``nlp.initialize`` and
    ``nlp.update`` like other components, or through `fit` in one call.

    Parameters
    ----------
    name : str
        Its name in the pipeline.
    model : path, optional
        A model file of this package: from `perceptive.save`, or from ``perceptive train --task tag``.
    annotates : one of "tags", "entities", optional
        What to learn and write. Default: entities if the labels follow a scheme (BIO, …) or if the training documents
        have entities; else tags.
    columns : list of str
        Attributes of spaCy's tokens that the tagger reads: ``["text"]``, or for example ``["text", "tag_"]``.
    parameters : dict
        Parameters of `SequenceTagger`, for training.

    Examples
    --------
    >>> import spacy
    >>> nlp = spacy.blank("en")
    >>> tagger = nlp.add_pipe("perceptive_tagger")
    >>> doc = nlp.make_doc("prof Cohen posts the notes")
    >>> doc.ents = [spacy.tokens.Span(doc, 0, 2, "PERSON")]
    >>> tagger = tagger.fit([doc])
    >>> nlp("prof Cohen posts the notes").ents
    (prof Cohen,)
    """

    def __init__(
        self,
        name: str = "perceptive_tagger",
        model: str | os.PathLike[str] | None = None,
        *,
        annotates: str | None = None,
        columns: Sequence[str] = ("text",),
        parameters: dict[str, Any] | None = None,
    ) -> None:
        if annotates is not None and annotates not in ANNOTATIONS:
            raise ParameterError("{}: choose 'tags' or 'entities'", Parameter("annotates", annotates))
        unknown = [column for column in columns if not hasattr(Token, column)]
        if unknown or not columns:
            raise ParameterError(
                "{}: name attributes of spaCy's tokens, such as 'text' or 'tag_'", Parameter("columns", list(columns))
            )
        self.name, self.columns, self._annotates = name, list(columns), annotates
        self.tagger = SequenceTagger(**(parameters or {}))
        if model is not None:
            self._take(load(model), os.fspath(model))

    @property
    def labels(self) -> tuple[str, ...]:
        """The known labels."""
        return tuple(map(str, self.tagger.classes_)) if self._fitted else ()

    @property
    def annotates(self) -> str | None:
        """What it writes: ``"tags"`` or ``"entities"``; None before it has learned."""
        if self._annotates is None and self._fitted:
            return "tags" if self.tagger.scheme_ is None else "entities"
        return self._annotates

    @property
    def _fitted(self) -> bool:
        return self.tagger.__sklearn_is_fitted__()

    # ------------------------------------------------------------ learning

    def fit(self, docs: Iterable[Doc]) -> SpacyTagger:
        """Learn from documents with tags or entities, from scratch, as `SequenceTagger.fit` does."""
        docs = list(docs)
        self._choose(docs)
        X, y = self._sentences(docs)
        if X and all(label is None for labels in y for label in labels):
            cure = "set doc.ents or token.tag_ of some" if self.annotates == "tags" else "set doc.ents of some"
            raise ValueError(f"the documents have no {self.annotates} to learn from; {cure}")
        self.tagger.fit(X, y)
        return self

    def initialize(self, get_examples: Callable[[], Iterable[Example]], *, nlp: Language | None = None) -> None:
        """Forget everything learned, and decide from the examples what to annotate."""
        self.tagger = SequenceTagger(**self.tagger.get_params())
        self._choose([example.reference for example in get_examples()])

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from examples, once; the loss is the number of wrongly tagged sentences."""
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        docs = [example.reference for example in examples]
        if self._annotates is None and not self._fitted:
            self._choose(docs)
        X, y = self._sentences(docs)
        if X:
            before = self.tagger.learner_.mistakes if self._fitted else 0
            self.tagger.partial_fit(X, y)
            losses[self.name] += self.tagger.learner_.mistakes - before
        return losses

    def _choose(self, docs: list[Doc]) -> None:
        """Entities where some document has one."""
        if self._annotates is None:
            self._annotates = "entities" if any(doc.ents for doc in docs) else "tags"

    def _sentences(self, docs: Iterable[Doc]) -> tuple[list[Any], list[list[str | None]]]:
        X, y = [], []
        for doc in docs:
            for tokens in sentences(doc):
                X.append([self._columns(token) for token in tokens])
                y.append([self._label(token) for token in tokens])
        return X, y

    def _label(self, token: Token) -> str | None:
        """What is said of a token; None where nothing is."""
        if self.annotates == "tags":
            return token.tag_ or None
        if not token.ent_iob:
            return None
        return "O" if token.ent_iob_ == "O" else f"{token.ent_iob_}-{token.ent_type_}"

    def _columns(self, token: Token) -> Any:
        values = tuple(str(getattr(token, column)) for column in self.columns)
        return values[0] if len(values) == 1 else values

    # ------------------------------------------------------------ predicting

    def __call__(self, doc: Doc) -> Doc:
        """Annotate a document."""
        return next(iter(self.pipe([doc], batch_size=1)))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Annotate documents, many at a time."""
        self._check_fitted()
        for batch in minibatch(stream, batch_size):  # type: ignore[no-untyped-call]
            yield from self._annotated(batch)

    def _check_fitted(self) -> None:
        if not self._fitted:
            raise NotFittedError(
                f"the component {self.name!r} has not learned anything; fit it, train the pipeline, or give it a model"
            )

    def _annotated(self, docs: list[Doc]) -> list[Doc]:
        found = [list(sentences(doc)) for doc in docs]
        X = [[self._columns(token) for token in tokens] for doc in found for tokens in doc]
        labels = iter(self.tagger.predict(X) if X else [])
        for doc, parts in zip(docs, found, strict=True):
            spans: list[Span] = []
            for tokens in parts:
                mine = [str(label) for label in next(labels)]
                if self.annotates == "tags":
                    for token, label in zip(tokens, mine, strict=True):
                        token.tag_ = label
                else:
                    spans += [
                        Span(doc, tokens[begin].i, tokens[end - 1].i + 1, label=kind)
                        for begin, end, kind in schemes.spans(mine, self.tagger.scheme_ or "bio")
                    ]
            if self.annotates == "entities":
                there = list(doc.ents)  # they stay, as those before spaCy's own component do
                taken = {token.i for span in there for token in span}
                doc.set_ents(there + [one for one in spans if taken.isdisjoint(range(one.start, one.end))])
        return docs

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Return the scores of the annotations, as spaCy computes them."""
        if self.annotates == "tags":
            return Scorer.score_token_attr(examples, "tag", **kwargs)
        return Scorer.score_spans(examples, "ents", **kwargs)

    # ------------------------------------------------------------ files

    def to_disk(self, path: str | os.PathLike[str], *, exclude: Iterable[str] = ()) -> None:
        """Write the tagger into a folder, as a model file."""
        self._check_fitted()
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        save(self.tagger, folder / MODEL)

    def from_disk(self, path: str | os.PathLike[str], *, exclude: Iterable[str] = ()) -> SpacyTagger:
        """Read what `to_disk` wrote."""
        self._take(load(Path(path) / MODEL), os.fspath(path))
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the model file as bytes."""
        with tempfile.TemporaryDirectory() as folder:
            self.to_disk(folder)
            return (Path(folder) / MODEL).read_bytes()

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> SpacyTagger:
        """Read what `to_bytes` returned."""
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / MODEL).write_bytes(data)
            return self.from_disk(folder)

    def _take(self, model: Any, where: str) -> None:
        if not isinstance(model, SequenceTagger):
            raise ValueError(f"{where} holds a {type(model).__name__}; give the model of a tagger")
        self.tagger = model


def sentences(doc: Doc) -> Iterator[list[Token]]:
    """Return the tokens of each sentence, or of a document without sentences; skip white space."""
    for part in doc.sents if doc.has_annotation("SENT_START") else (doc,):
        tokens = [token for token in part if not token.is_space]
        if tokens:
            yield tokens
