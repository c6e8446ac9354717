"""Language models of `transformers` that answer prompts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from augury.core.errors import UserError
from augury.core.store import Store
from augury.decoding.checkpoint import Checkpoint, Languages, loaded
from augury.decoding.search import positions
from augury.decoding.settings import Sampler, Sampling, Translator
from augury.models import pretrained

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Chat = Literal["auto"] | bool
"""Whether a prompt is a user's message in the tokenizer's chat template; auto: where it has one."""

Continuation = Callable[[Sequence[Sequence[int]], Sequence[int], Sampling], list[list[int]]]
"""A function from ids of prompts, a key for each and settings to the ids of the answers."""


@dataclass(frozen=True)
class LanguageModel:
    """A causal model or an encoder-decoder, by its name on a hub or its directory.

    It runs on a GPU where this process sees one.
    """

    checkpoint: str
    revision: str | None = None
    languages: Languages | None = None
    """The languages of an encoder-decoder that translates between many."""
    allow_pickle: bool = False
    """Whether weights may be read from pickle files."""
    chat: Chat = "auto"

    on_gpu: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """The model's identity: a directory's content, or a hub name with its revision; with its
        languages."""
        languages = f" {self.languages.read} to {self.languages.written}" if self.languages else ""
        return pretrained.identity(self.checkpoint, self.revision) + languages

    def sampler(self, store: Store, whole: bool = True) -> Sampler:
        """Return the model as a function that answers prompts, loaded once.

        A prompt that leaves no room for `max_length` subwords has no answer, an empty one has an
        empty answer. UserError for a chat template that there is not.
        """
        from transformers import AutoConfig, AutoTokenizer

        settings = pretrained.load(AutoConfig.from_pretrained, self.checkpoint, self.revision)
        if settings.is_encoder_decoder:
            return self._encoder_decoder()
        tokenizer = pretrained.load(AutoTokenizer.from_pretrained, self.checkpoint, self.revision)
        encode = self._encoder(tokenizer)
        most = min(tokenizer.model_max_length, positions(settings.get_text_config()))
        answer = self._continuation()

        def draw(texts: Sequence[str], keys: Sequence[int], sampling: Sampling) -> list[str | None]:
            rows = [encode(text) if text.strip() else [] for text in texts]
            fit = [len(ids) + sampling.max_length <= most for ids in rows]
            read = [row for row, ids in enumerate(rows) if ids and fit[row]]
            outputs: list[str | None] = ["" if fits else None for fits in fit]
            answers = answer([rows[row] for row in read], [keys[row] for row in read], sampling)
            for row, ids in zip(read, answers, strict=True):
                outputs[row] = tokenizer.decode(ids, skip_special_tokens=True).strip()
            return outputs

        return draw

    def translator(self, store: Store, threads: int = 1) -> Translator:
        """Raise UserError: prompts are answered, and nothing is searched."""
        raise UserError(f"'{self.checkpoint}' answers prompts, and does not search translations")

    def _encoder_decoder(self) -> Sampler:
        if self.chat is True:
            raise UserError(
                f"'{self.checkpoint}' is an encoder-decoder, and chat: true is for causal models: "
                "leave it out"
            )
        model = Checkpoint(self.checkpoint, self.revision, self.languages, self.allow_pickle)
        return model.sampler(whole=True)

    def _encoder(self, tokenizer: PreTrainedTokenizerBase) -> Callable[[str], list[int]]:
        """Return the function from a prompt to its ids, in the chat template where it applies."""
        templated = bool(tokenizer.chat_template)
        if self.chat is True and not templated:
            raise UserError(
                f"the tokenizer of '{self.checkpoint}' has no chat template: set chat: auto or "
                "false, or take a model that was tuned for chats"
            )
        if self.chat is False or not templated:
            return lambda prompt: list(tokenizer(prompt).input_ids)

        def encode(prompt: str) -> list[int]:
            text = tokenizer.apply_chat_template(
                [{"role": "user", "content": prompt}],
                tokenize=False,
                add_generation_prompt=True,
                enable_thinking=False,  # of templates that know it: no thoughts before the answer
            )
            return list(tokenizer(text, add_special_tokens=False).input_ids)

        return encode

    def _continuation(self) -> Continuation:
        """Return the loaded model."""
        from transformers import AutoModelForCausalLM

        from augury.decoding.sampling import sample

        kind: Any = AutoModelForCausalLM
        model = loaded(kind, self.checkpoint, self.revision, self.allow_pickle)
        return lambda prompts, keys, sampling: sample(model, prompts, keys, sampling)
