"""Speech recognition by any checkpoint of `transformers`: transcripts of audio files.

SciPy reads WAV; other formats need the package `soundfile`, the extra `speech`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from augury.core import config
from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora.files import find
from augury.decoding.settings import Decoding, Sampler, Translator
from augury.models import pretrained

if TYPE_CHECKING:
    from transformers import Pipeline


@dataclass(frozen=True)
class SpeechModel:
    """A speech model (CTC, or encoder-decoder such as Whisper), by hub name or directory."""

    checkpoint: str
    revision: str | None
    directory: str
    """The directory of relative paths of audio files."""
    audio: str
    """Hashes of the contents of the audio files, from `content`."""
    allow_pickle: bool = False
    """Whether weights may be read from pickle files."""

    on_gpu: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """Return the identity of the transcripts: the model and the recordings."""
        return config.address(
            {"model": pretrained.identity(self.checkpoint, self.revision), "audio": self.audio}
        )

    def translator(self, store: Store, threads: int = 1) -> Translator:
        """Return the model, loaded once, as a function from paths to transcripts, on a GPU if there
        is one."""
        model = _loaded(self.checkpoint, self.revision, self.allow_pickle)
        rate = model.feature_extractor.sampling_rate
        directory = Path(self.directory)

        def recognise(paths: Sequence[str], view: str, decoding: Decoding) -> list[str | None]:
            # One by one: with some models the padding of a batch changes what is recognised.
            recordings = (samples(directory / path, rate) for path in paths)
            return [
                model({"raw": wave, "sampling_rate": rate})["text"].strip() for wave in recordings
            ]

        return recognise

    def sampler(self, store: Store, whole: bool = False) -> Sampler:
        """Raise UserError: speech is recognised, and not drawn."""
        raise UserError(f"'{self.checkpoint}' recognises speech, and draws nothing")


def content(paths: Sequence[str], directory: str) -> str:
    """Return the identity of the content of audio files; UserError where one is missing."""
    digest = hashlib.blake2b(digest_size=8)
    for path in paths:
        with find(str(Path(directory) / path)).open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def samples(path: Path, rate: int) -> np.ndarray:
    """Return the samples of an audio file at `rate` a second, (samples,) float32 in [-1, 1].

    Channels are averaged. UserError where the file cannot be read.
    """
    from scipy.io import wavfile
    from scipy.signal import resample_poly

    if path.suffix.lower() != ".wav" and find_spec("soundfile") is None:
        raise UserError(
            f"{path} is no WAV file, and others are read by soundfile: pip install 'augury[speech]'"
        )
    try:
        if path.suffix.lower() == ".wav":
            own_rate, wave = wavfile.read(path)
        else:
            wave, own_rate = import_module("soundfile").read(path, dtype="float32")
    except (OSError, ValueError, RuntimeError) as error:
        raise UserError(f"{path} cannot be read as audio: {error}") from error
    if wave.dtype == np.uint8:
        wave = (wave.astype(np.float32) - 128) / 128
    elif wave.dtype.kind == "i":
        wave = wave.astype(np.float32) / -float(np.iinfo(wave.dtype).min)
    wave = np.asarray(wave if wave.ndim == 1 else wave.mean(1), np.float32)
    if own_rate == rate or not len(wave):
        return wave
    return np.asarray(resample_poly(wave, rate, own_rate), np.float32)


@cache
def _loaded(checkpoint: str, revision: str | None, allow_pickle: bool) -> Pipeline:
    import torch
    from transformers import pipeline

    device = 0 if torch.cuda.is_available() else -1

    def load(name: str, use_safetensors: bool = False, **settings: object) -> Pipeline:
        weights = {"use_safetensors": True} if use_safetensors else {}
        task = "automatic-speech-recognition"
        return pipeline(
            task, model=name, device=device, dtype=torch.float32, model_kwargs=weights, **settings
        )

    return pretrained.load_model(load, checkpoint, revision, allow_pickle=allow_pickle)
