"""The Viterbi trellis of a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from perceptive.estimators.tagger import SequenceTagger
from perceptive.learners.sequence import SequenceLearner
from perceptive.plots.pyplot import plain, pyplot


def plot_trellis(
    learner: SequenceLearner | SequenceTagger, sentence: Sequence[Any], *, ax: Any = None, second: bool = True
) -> Any:
    """Draw every label of every token as a node, and the best path through them.

    A node is darker if the best path through it is closer to the best of all (its max-marginal). Transitions that the
    scheme forbids are not drawn.

    Parameters
    ----------
    learner : SequenceLearner or SequenceTagger
        A trained one.
    sentence : sequence of tokens
    ax : matplotlib Axes, optional
        Where to draw.
    second : bool
        Also draw the second best path, dotted.

    Returns
    -------
    matplotlib Axes
    """
    plt = pyplot()
    if isinstance(learner, SequenceTagger):
        check_is_fitted(learner)
        learner = learner.learner_
    n, labels = len(sentence), learner.classes
    if learner.given is not None:
        raise ValueError("a trellis has the labels within; draw that of a learner without encoding")
    if n == 0:
        raise ValueError("an empty sentence has no trellis; give at least one token")
    _, edges = learner.trellis(sentence)
    order = [learner.index[label] for label in labels]
    edges = edges[:, order][:, :, order]
    [(path, through)] = learner.max_marginals([sentence])
    if ax is None:
        _, ax = plt.subplots(figsize=(1.2 * n + 1.5, 0.5 * len(labels) + 1.2), layout="constrained")
    lost = through.max() - through
    finite = lost[np.isfinite(lost)]
    scale = float(np.median(finite[finite > 0])) if (finite > 0).any() else 1.0
    shade = np.where(np.isfinite(lost), np.exp(-lost / scale), 0.0)
    for t in range(n - 1):
        for p in range(len(labels)):
            for y in range(len(labels)):
                if np.isfinite(edges[t, p, y]):
                    ax.plot([t, t + 1], [p, y], color="0.88", linewidth=0.6, zorder=1)
    if second:
        best = learner.k_best([sentence], 2)[0]
        if len(best) > 1:
            other = [labels.index(label) for label in best[1][0]]
            ax.plot(range(n), other, color="tab:orange", linestyle=":", linewidth=2, zorder=2, label="second best")
    ax.plot(range(n), path, color="tab:red", linewidth=2.5, zorder=3, label="best")
    grid = np.array([(t, y) for t in range(n) for y in range(len(labels))])
    ax.scatter(grid[:, 0], grid[:, 1], s=160, c=shade.ravel(), cmap="Blues", vmin=0, vmax=1, edgecolors="0.4", zorder=4)
    ax.set_xticks(range(n), [plain(token[0] if isinstance(token, tuple | list) else token) for token in sentence])
    ax.set_yticks(range(len(labels)), [plain(label) for label in labels])
    ax.invert_yaxis()
    ax.legend(loc="upper right", frameon=False)
    margin = float(learner.margins([sentence])[0].min())
    ax.set_title(f"score {float(through.max()):.3g}, the second best {margin:.3g} less")
    return ax
