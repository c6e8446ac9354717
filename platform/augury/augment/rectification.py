"""Labels of generated examples, rectified by a teacher (Dong et al. 2021, section 2.1.2)."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

Rectify = Literal["requested", "teacher", "teacher_or_requested", "agreement"]
DROPPED = -1


def rectify_labels(
    requested: npt.NDArray[np.int64],
    probabilities: npt.NDArray[np.floating] | None,
    rectify: Rectify,
    threshold: float,
) -> npt.NDArray[np.int64]:
    """Return the label of every example, (n,), or DROPPED.

    `requested` (n,) are positions of labels, `probabilities` (n, labels) the teacher's, None where
    it is not used. Its label is the likeliest one, and it is confident where that has strictly
    more than `threshold`.
        requested: the requested label; teacher: the teacher's label where it is confident,
        otherwise DROPPED; teacher_or_requested: the teacher's label where it is confident,
        otherwise the requested one (TR); agreement: the requested label where it is the teacher's
        too, however confident, otherwise DROPPED.
    """
    if rectify == "requested":
        return requested
    assert probabilities is not None
    label, confident = probabilities.argmax(1), probabilities.max(1) > threshold
    if rectify == "agreement":
        return np.where(label == requested, requested, DROPPED)
    return np.where(confident, label, DROPPED if rectify == "teacher" else requested)
