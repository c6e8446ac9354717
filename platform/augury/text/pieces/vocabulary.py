"""Vocabularies of subword pieces, special symbols and tags, shared by all views of a corpus."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from augury.core.errors import unknown
from augury.core.store import Folder
from augury.text.pieces import sentencepieces
from augury.text.pieces.resegmentation import Resegmenter
from augury.text.pieces.sentencepieces import UNCOVERED
from augury.text.pieces.settings import SPACE, SPECIALS, Moses
from augury.text.tokens import Encode, Encoded

PAD, UNK, EOS = range(3)
UNKNOWN_TEXT = " ⁇ "
"""Text of the unknown piece, as in sentencepiece."""


class Vocabulary:
    """A mapping of pieces to ids: `<pad>` 0, `<unk>` 1, `</s>` 2, then tags, then learned pieces.

    Text never encodes to tags: `__en__` in a text is ordinary characters. There is no start symbol,
    since decoders start with `</s>`.
    """

    pad, unk, eos = PAD, UNK, EOS
    before: tuple[int, ...] = ()
    """The ids before every source; tags are told apart."""
    first: tuple[int, ...] = ()
    """The ids that every target begins with."""

    def __init__(
        self,
        models: Sequence[bytes],
        views: Mapping[str, int],
        tags: Sequence[str],
        moses: Moses | None = None,
        letters: Mapping[str, Mapping[str, str]] = {},
    ):
        """`models` are serialised sentencepiece models, and `views` has the index of the model of
        each view.

        Views in `letters`, whose indices follow, are segmented as the plain source is: they have
        its pieces, with each character replaced by another one.
        """
        self.moses = moses
        self._models = [*map(sentencepieces.load, models)]
        self._views = dict(views)
        learned = [sentencepieces.pieces(model) for model in self._models]
        self._plain: dict[str, dict[int, str]] = {}
        """The letters that those of mirrored views stand for."""
        for view in sorted(letters, key=views.__getitem__):
            pairs = {" ": " ", SPACE: SPACE, **letters[view]}
            # Letters that no text has are unknown.
            letter_of = {ord(new): old for old, new in pairs.items()}
            self._plain[view] = defaultdict(lambda: UNCOVERED, letter_of)
            renamed = {ord(old): new for old, new in pairs.items()}
            # Pieces with other characters, which the text does not have, are left out.
            table = [
                piece.translate(renamed) if set(map(ord, piece)) <= renamed.keys() else ""
                for piece in learned[0]
            ]
            self._models.append(self._models[0])
            learned.append(table)
        symbols = (*SPECIALS, *tags)
        distinct = dict.fromkeys(chain(symbols, *learned))
        self.pieces: tuple[str, ...] = tuple(filter(None, distinct))
        ids = {piece: index for index, piece in enumerate(self.pieces)}
        self.tags: Mapping[str, int] = {tag: ids[tag] for tag in tags}
        self._ids: list[npt.NDArray[np.int32]] = []
        self._learned: list[list[str]] = []
        for table in learned:
            numbers = [ids.get(piece, UNK) for piece in table]
            self._ids.append(np.array([UNK, *numbers], np.int32))
            self._learned.append([piece for piece in table if piece])
        self._resegmenters: dict[int, Resegmenter] = {}
        self._surfaces = dict.fromkeys(symbols, "") | {SPECIALS[UNK]: UNKNOWN_TEXT}

    @classmethod
    def load(cls, folder: Folder) -> Vocabulary:
        """Load a vocabulary saved by `training.train`; raise UserError if it is incomplete."""
        manifest = folder.manifest()
        moses = Moses(**manifest["moses"]) if "moses" in manifest else None
        models = [folder.read(name) for name in manifest["models"]]
        letters = manifest.get("letters", {})
        return cls(models, manifest["views"], manifest["tags"], moses, letters)

    def __len__(self) -> int:
        return len(self.pieces)

    @property
    def never(self) -> tuple[int, ...]:
        """The ids that no output has: tags."""
        return tuple(self.tags.values())

    @property
    def ordinary(self) -> npt.NDArray[np.integer]:
        """The ids of learned pieces, in order."""
        special = [self.pad, self.unk, self.eos, *self.tags.values()]
        return np.setdiff1d(np.arange(len(self)), special)

    def model(self, view: str = "source") -> bytes:
        """Return the serialised sentencepiece model of a view, whose ids differ from those of
        the vocabulary."""
        return bytes(self._models[self._views[view]].serialized_model_proto())

    def resegmenter(self, view: str = "source") -> Resegmenter:
        """Return the resegmenter of a view."""
        index = self._views[view]
        if index not in self._resegmenters:
            self._resegmenters[index] = Resegmenter(self.pieces, self._learned[index])
        return self._resegmenters[index]

    def encode(
        self, texts: Sequence[str] | pa.Array | pa.ChunkedArray, view: str = "source"
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """Return the concatenated ids of all texts, without tags and `</s>`, and their n + 1
        offsets.

        Without Moses tokenisation, decoding is lossless except for characters that were not seen in
        training, U+2585 and NUL, which become `<unk>`, and U+2581, which sentencepiece treats as a
        space.
        """
        assert not isinstance(texts, str)
        if view not in self._views:
            raise unknown("view", view, self._views)
        index = self._views[view]
        lines = texts if isinstance(texts, Sequence) else texts.to_pylist()
        if self.moses:
            lines = self.moses.encode(lines, view)
        if view in self._plain:
            lines = [line.translate(self._plain[view]) for line in lines]
        ids, offsets = sentencepieces.encode(self._models[index], lines)
        return self._ids[index][ids], offsets

    def decode(self, ids: Iterable[Sequence[int] | npt.NDArray[np.integer]]) -> list[str]:
        """Decode rows of ids of any view, without special symbols and tags; `<unk>` becomes ` ⁇ `.

        Moses tokens are joined by the rules of the target language.
        """
        texts = []
        for row in ids:
            indices = np.asarray(row, np.int64)
            assert (indices >= 0).all()
            pieces = [self.pieces[index] for index in indices.tolist()]
            texts.append(sentencepieces.join(self._surfaces.get(piece, piece) for piece in pieces))
        return list(self.moses.decode(texts)) if self.moses else texts


@dataclass(frozen=True)
class VocabularyTokenizer:
    """Encodes one column as ids of a vocabulary, without `</s>`."""

    folder: Folder

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def size(self) -> int:
        return len(self._vocabulary())

    def load(self) -> Encode:
        vocabulary = self._vocabulary()

        def encode(block: pa.Table, view: str) -> Encoded:
            return Encoded(*vocabulary.encode(block.column(0).combine_chunks(), view))

        return encode

    def _vocabulary(self) -> Any:
        """Load the vocabulary, with `__len__` and `encode`."""
        return Vocabulary.load(self.folder)
