"""Checkpoints of `transformers`: translation, sampling, and language models that answer
prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from augury.core import config
from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.decoding.pretrained_vocabulary import PretrainedVocabulary
from augury.decoding.search import of_readable, positions
from augury.decoding.sequence_model import SequenceModel
from augury.decoding.settings import PLAIN, Sampler, Sampling, Translator
from augury.models import pretrained

if TYPE_CHECKING:
    from transformers import PreTrainedModel

VERSION = 2
"""Raised when the conversion of a checkpoint changes; part of its address."""


@dataclass(frozen=True)
class Checkpoint:
    """An encoder-decoder, by its name on a hub or its directory, on a GPU where there is one."""

    checkpoint: str
    revision: str | None = None
    languages: tuple[str, str] | None = None
    """The codes of source and target language of a multilingual model, such as `fra_Latn`."""

    on_gpu: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """The model's identity: a directory's content, or a hub name with its revision; with its
        languages."""
        identity = pretrained.identity(self.checkpoint, self.revision)
        return " to ".join([identity, *(self.languages or ())])

    def translator(self, store: Store, threads: int = 1) -> Translator:
        """Return the checkpoint as a function that translates; in a store, converted only once."""
        import ctranslate2

        device: Any = "cuda" if ctranslate2.get_cuda_device_count() else "cpu"
        return OpenCheckpoint(self, store).translator(threads, device)

    def sampler(self, store: Store) -> Sampler:
        """Return the checkpoint as a function that samples outputs."""
        return OpenCheckpoint(self, store).sampler(device())


class OpenCheckpoint(SequenceModel):
    """A checkpoint with its tokenizer, and the store of its conversion."""

    def __init__(self, checkpoint: Checkpoint, store: Store):
        self.checkpoint, self.store = checkpoint, store
        self.positions = self.vocabulary.positions

    @cached_property
    def vocabulary(self) -> PretrainedVocabulary:
        name, revision = self.checkpoint.checkpoint, self.checkpoint.revision
        codes = self.checkpoint.languages or (None, None)
        return PretrainedVocabulary(*pretrained.load_settings(name, revision), name, codes=codes)

    def read(self, texts: Sequence[str], view: str = PLAIN) -> list[list[int]]:
        if view != PLAIN:
            raise UserError(
                f"checkpoint '{self.checkpoint.checkpoint}' has no view '{view}': it reads text as "
                "it is, plain"
            )
        ids, offsets = self.vocabulary.encode([text.strip() for text in texts])
        return [
            [*self.vocabulary.before, *ids[start:end].tolist()] if end > start else []
            for start, end in zip(offsets[:-1], offsets[1:], strict=True)
        ]

    def model(self) -> PreTrainedModel:
        from transformers import AutoModelForSeq2SeqLM

        return loaded(AutoModelForSeq2SeqLM, self.checkpoint.checkpoint, self.checkpoint.revision)

    def conversion(self) -> tuple[Folder, str]:
        identity = pretrained.identity(self.checkpoint.checkpoint, self.checkpoint.revision)
        address = config.address({"version": VERSION, "checkpoint": identity})
        return Folder(self.store.root, "converted"), address


@dataclass(frozen=True)
class LanguageModel(Checkpoint):
    """A causal model or an encoder-decoder that answers prompts.

    A prompt is a user's message where the tokenizer has a chat template.
    """

    def sampler(self, store: Store) -> Sampler:
        """Return the model as a function that answers prompts, loaded once.

        A prompt that leaves no room for `max_length` subwords has no answer, an empty one has an
        empty answer.
        """
        from transformers import AutoModelForCausalLM

        from augury.decoding.sampling import sample

        tokenizer, settings, _ = pretrained.load_settings(self.checkpoint, self.revision)
        if settings.is_encoder_decoder:
            return super().sampler(store)
        model = loaded(AutoModelForCausalLM, self.checkpoint, self.revision).to(device())
        most = min(tokenizer.model_max_length, positions(settings.get_text_config()))

        def encode(prompt: str) -> list[int]:
            if not (tokenizer.chat_template and prompt.strip()):
                return list(tokenizer(prompt).input_ids)
            text = tokenizer.apply_chat_template(
                [{"role": "user", "content": prompt}],
                tokenize=False,
                add_generation_prompt=True,
                enable_thinking=False,  # of templates that know it: no thoughts before the answer
            )
            return list(tokenizer(text, add_special_tokens=False).input_ids)

        def draw(texts: Sequence[str], keys: Sequence[int], sampling: Sampling) -> list[str | None]:
            prompts = [encode(text) if text.strip() else [] for text in texts]

            def answers(rows: list[int]) -> list[str]:
                chosen = [prompts[row] for row in rows], [keys[row] for row in rows]
                drawn = sample(model, *chosen, sampling)
                return [tokenizer.decode(ids, skip_special_tokens=True).strip() for ids in drawn]

            return of_readable(prompts, most - sampling.max_length, answers)

        return draw


def device() -> str:
    """Return the device of checkpoints."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


@lru_cache(maxsize=2)
def loaded(kind: Any, name: str, revision: str | None) -> PreTrainedModel:
    """Return a model of one of the Auto classes of `transformers`, in evaluation mode."""
    import torch

    return pretrained.load(kind.from_pretrained, name, revision, dtype=torch.float32).eval()
