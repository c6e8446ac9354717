"""A finished run's model, as `transformers` and as CTranslate2 have it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from transformers import MarianMTModel

from augury.decoding.conversion import to_ctranslate2
from augury.store import Folder
from augury.text.vocabulary import Vocabulary
from augury.training.trained import load_weights
from trainables.nmt.config import Config
from trainables.nmt.model import build


def trained_model(run: Folder, experiment: Config, vocabulary: Vocabulary) -> MarianMTModel:
    """Return a finished run's model with the weights that it reports on; UserError where training has not ended."""
    model = build(experiment.model, len(vocabulary.pieces), pad=vocabulary.pad, eos=vocabulary.eos, seed=0)
    return load_weights(run, model)


def converted(run: Folder, experiment: Config, vocabulary: Vocabulary) -> Path:
    """Return a new directory with the run's model in CTranslate2's format."""
    directory = Path(tempfile.mkdtemp(prefix="augury-ctranslate2-"))
    model = trained_model(run, experiment, vocabulary)
    to_ctranslate2(model, directory, vocabulary.pieces, unk=vocabulary.unk)
    return directory
