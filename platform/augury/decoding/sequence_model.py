"""Trained models from text to text: finished runs, and checkpoints of `transformers`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from augury.core.directories import temporary_directory
from augury.core.errors import is_read_only
from augury.core.locks import lock_incomplete
from augury.core.store import Folder
from augury.decoding.search import Hypothesis, Search, of_readable
from augury.decoding.settings import PLAIN, Decoding, Sampler, Sampling, Translator

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from augury.decoding.ctranslate import Device


class SequenceModel(ABC):
    """A trained encoder-decoder, whose weights are loaded where they are needed.

    Torch is imported only where a CTranslate2 model must still be made, or outputs are sampled.
    """

    vocabulary: Any
    """As `text.pieces.vocabulary.Vocabulary`, or with the members that are read here."""
    positions: int
    """The number of subwords that it reads or writes, the end included."""

    @abstractmethod
    def read(self, texts: Sequence[str], view: str = PLAIN) -> list[list[int]]:
        """Return texts in a view as the ids that the encoder reads, without the end of sentence; no
        ids for an empty text."""

    @abstractmethod
    def model(self) -> PreTrainedModel:
        """Return the model of `transformers`, its embeddings in tables."""

    @abstractmethod
    def conversion(self) -> tuple[Folder, str]:
        """Return where its CTranslate2 model is kept: a folder, and the name of one in it."""

    def converted(self) -> Folder:
        """Return the folder of its CTranslate2 model, made at the first call; where the storage
        cannot be written, one that lasts as long as this process."""
        parent, name = self.conversion()
        folder = parent.sub(name)
        with lock_incomplete([folder]) as missing:  # many workers may want it at once
            if missing:
                from augury.decoding.conversion import to_ctranslate2

                directory = temporary_directory("ctranslate2")
                to_ctranslate2(self.model(), directory)
                try:
                    parent.put(directory, name)
                except OSError as error:
                    if not is_read_only(error):
                        raise
                    return Folder(str(directory.parent), directory.name)
        return folder

    def search(self, threads: int, device: Device = "cpu") -> Search:
        """Return the search of this process, by CTranslate2 on `threads` or a GPU."""
        from augury.decoding.ctranslate import CTranslateDecoder

        vocabulary, directory = self.vocabulary, self.converted().local()
        return CTranslateDecoder(
            directory, vocabulary.never, vocabulary.first, threads=threads, device=device
        ).search

    def translator(self, threads: int, device: Device = "cpu") -> Translator:
        """Return the model as a function that translates; None for too long texts."""
        search = self.search(threads, device)

        def translate(texts: Sequence[str], view: str, decoding: Decoding) -> list[str | None]:
            sources, most = self.read(texts, view), min(decoding.max_length, self.positions)
            within = decoding.model_copy(update={"max_length": most})
            return self._written(
                sources, lambda rows: search([sources[row] for row in rows], within)
            )

        return translate

    def sampler(self, device: str) -> Sampler:
        """Return the model as a function that samples outputs; None for too long texts."""
        from augury.decoding.sampling import sample

        model, eos = self.model().to(device), self.vocabulary.eos
        model.generation_config.min_new_tokens = 1  # no output is empty, as in search
        never, first = self.vocabulary.never, next(iter(self.vocabulary.first), None)

        def draw(texts: Sequence[str], keys: Sequence[int], sampling: Sampling) -> list[str | None]:
            sources, most = self.read(texts), min(sampling.max_length, self.positions)
            within = sampling.model_copy(update={"max_length": most})

            def drawn(rows: Sequence[int]) -> list[list[int]]:
                ids, chosen = [[*sources[row], eos] for row in rows], [keys[row] for row in rows]
                return sample(model, ids, chosen, within, suppress=never, first=first)

            return self._written(sources, drawn)

        return draw

    def _written(
        self,
        sources: Sequence[Sequence[int]],
        write: Callable[[list[int]], Sequence[Hypothesis] | list[list[int]]],
    ) -> list[str | None]:
        """Return the texts that `write` gives the ids of, for the rows of readable sources."""

        def texts(rows: list[int]) -> list[str]:
            return [text.strip() for text in self.vocabulary.decode(write(rows))]

        return of_readable(sources, self.positions - 1, texts)
