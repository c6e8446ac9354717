"""Checkpoints of `transformers`: translation through CTranslate2 or `generate`, sampling, and
language models that answer prompts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from augury.core import config
from augury.core.directories import scratch
from augury.core.errors import UserError, unknown
from augury.core.locks import make_once
from augury.core.progress import say_once
from augury.core.store import Folder, Store
from augury.decoding.search import Hypothesis, positions
from augury.decoding.settings import PLAIN, Decoding, Sampler, Translator
from augury.models import pretrained
from augury.text.pieces.subwords import language_codes

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

KIND, MODEL = "converted", "model"
"""The store's folder of converted models, and the directory of the model in each."""
VERSION = 1
"""Raised when the conversion of a checkpoint changes; part of its address."""


class Languages(NamedTuple):
    """Language codes of a multilingual model's tokenizer, source and target, such as `fra_Latn`."""

    read: str
    written: str


@dataclass(frozen=True)
class Checkpoint:
    """An encoder-decoder, by its name on a hub or its directory, on a GPU where there is one."""

    checkpoint: str
    revision: str | None = None
    languages: Languages | None = None
    """The languages of a multilingual model, such as NLLB."""
    allow_pickle: bool = False
    """Whether weights may be read from pickle files."""

    on_gpu: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """The model's identity: a directory's content, or a hub name with its revision; with its
        languages."""
        languages = f" {self.languages.read} to {self.languages.written}" if self.languages else ""
        return pretrained.identity(self.checkpoint, self.revision) + languages

    def translator(self, store: Store, threads: int = 1) -> Translator:
        """Return the checkpoint as a function that translates; in a store, converted only once.

        UserError where its tokenizer does not end a source by the end of sentence.
        """
        tokenizer, first = self._tokenizer()
        settings = self._settings()
        if tokenizer("a").input_ids[-1] != settings.eos_token_id:
            raise UserError(
                f"the tokenizer of '{self.checkpoint}' does not end a source by the end of "
                "sentence: take a model with the language before the text, such as mBART-50 in "
                "place of mBART-25"
            )
        longest = positions(settings)
        most = min(tokenizer.model_max_length, longest)
        search, told = self._search(settings, store, threads)
        beginning = told["first"] if first is None else first
        prefix = () if beginning is None else (beginning,)

        def translate(texts: Sequence[str], view: str, decoding: Decoding) -> list[str | None]:
            if view != PLAIN:
                raise UserError(
                    f"checkpoint '{self.checkpoint}' has no view '{view}': it reads text as it "
                    "is, plain"
                )
            rows = tokenizer(list(texts)).input_ids if texts else []
            outputs = ["" if len(ids) <= most else None for ids in rows]
            read = [row for row, text in enumerate(texts) if outputs[row] == "" and text.strip()]
            length = min(decoding.max_length, longest)
            within = decoding.model_copy(update={"max_length": length})
            n_best = search([rows[row][:-1] for row in read], within, told["never"], 1, prefix)
            for row, (best, *_) in zip(read, n_best, strict=True):
                outputs[row] = tokenizer.decode(best, skip_special_tokens=True).strip()
            return outputs

        return translate

    def sampler(self, store: Store, whole: bool = False) -> Sampler:
        """Return the checkpoint as a function that samples outputs.

        A text that is too long is cut, or with `whole` has no output.
        """
        from augury.decoding.sampling import sampler

        tokenizer, first = self._tokenizer()
        most = min(tokenizer.model_max_length, positions(self._settings()))
        return sampler(self._model(), tokenizer, most, first=first, whole=whole)

    def _settings(self) -> Any:
        from transformers import AutoConfig

        return pretrained.load(AutoConfig.from_pretrained, self.checkpoint, self.revision)

    def _model(self) -> PreTrainedModel:
        from transformers import AutoModelForSeq2SeqLM

        return loaded(AutoModelForSeq2SeqLM, self.checkpoint, self.revision, self.allow_pickle)

    def _tokenizer(self) -> tuple[PreTrainedTokenizerBase, int | None]:
        """Return the tokenizer, and the id of the target language, if outputs start with one."""
        from transformers import AutoTokenizer

        tokenizer = pretrained.load(AutoTokenizer.from_pretrained, self.checkpoint, self.revision)
        codes = language_codes(tokenizer)
        if self.languages is None:
            if codes:
                raise UserError(
                    f"checkpoint '{self.checkpoint}' is multilingual: also give the languages, as "
                    "its tokenizer calls them, such as source_language: fra_Latn and "
                    "target_language: eng_Latn"
                )
            return tokenizer, None
        if not codes:
            raise UserError(
                f"checkpoint '{self.checkpoint}' translates between two languages: leave out "
                "source_language and target_language with it"
            )
        for code in self.languages:
            if code not in codes:
                raise unknown(f"language of checkpoint '{self.checkpoint}'", code, codes)
        tokenizer.src_lang = self.languages.read
        return tokenizer, codes[self.languages.written]

    def _search(
        self, settings: Any, store: Store, threads: int
    ) -> tuple[Callable[..., list[list[Hypothesis]]], Mapping[str, Any]]:
        """Return `n_best` by CTranslate2, or by `transformers` where that does not read the model,
        and what the checkpoint says of its search."""
        from augury.decoding.conversion import reads

        if not reads(settings):
            say_once(
                f"checkpoint '{self.checkpoint}' ({settings.model_type}) is of a kind that "
                "CTranslate2 does not read: transformers translates, which takes several times as "
                "long"
            )
            from augury.decoding.generate import n_best

            model = self._model()
            return lambda sources, *search: n_best(model, [sources], *search), _told(model)
        import ctranslate2

        from augury.decoding.ctranslate import CTranslateDecoder

        identity = pretrained.identity(self.checkpoint, self.revision)
        address = config.address({"version": VERSION, "checkpoint": identity})
        folder = store.folder(KIND, address)
        make_once(folder, lambda: self._convert(folder, identity))
        device: Any = "cuda" if ctranslate2.get_cuda_device_count() else "cpu"
        decoder = CTranslateDecoder(folder.sub(MODEL).local(), threads=threads, device=device)
        return decoder.n_best, folder.manifest()

    def _convert(self, folder: Folder, identity: str) -> None:
        """Write the checkpoint in CTranslate2's format, with first and suppressed tokens."""
        from augury.decoding.conversion import to_ctranslate2

        model = self._model()
        with scratch("ctranslate2") as directory:
            to_ctranslate2(model, directory)
            folder.put(directory, MODEL)
        folder.finish({"inputs": [identity], **_told(model)})


def _told(model: PreTrainedModel) -> dict[str, Any]:
    """Return what a checkpoint says of its search: the `first` id of every output, if any, and
    those that are `never` written."""
    generation = model.generation_config
    never = {*(generation.suppress_tokens or ())}
    never |= {ids[0] for ids in generation.bad_words_ids or () if len(ids) == 1}
    return {"first": generation.forced_bos_token_id, "never": sorted(never)}


@dataclass(frozen=True)
class LanguageModel(Checkpoint):
    """A causal model or an encoder-decoder that answers prompts.

    A prompt is a user's message where the tokenizer has a chat template.
    """

    def sampler(self, store: Store, whole: bool = True) -> Sampler:
        """Return the model as a function that answers prompts, loaded once.

        A prompt that leaves no room for `max_length` subwords has no answer, an empty one has an
        empty answer.
        """
        from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

        from augury.decoding.sampling import sampler

        name, revision = self.checkpoint, self.revision
        settings = pretrained.load(AutoConfig.from_pretrained, name, revision)
        if settings.is_encoder_decoder:
            return super().sampler(store, whole=True)
        tokenizer = pretrained.load(AutoTokenizer.from_pretrained, name, revision)

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

        model = loaded(AutoModelForCausalLM, name, revision, self.allow_pickle)
        most = min(tokenizer.model_max_length, positions(settings.get_text_config()))
        return sampler(model, tokenizer, most, whole=True, encode_text=encode)

    def translator(self, store: Store, threads: int = 1) -> Translator:
        """Raise UserError: prompts are answered, and nothing is searched."""
        raise UserError(f"'{self.checkpoint}' answers prompts, and does not search translations")


@lru_cache(maxsize=2)
def loaded(
    kind: Any, name: str, revision: str | None, allow_pickle: bool = False
) -> PreTrainedModel:
    """Return a model of one of the Auto classes of `transformers`, in evaluation mode."""
    import torch

    model = pretrained.load_model(
        kind.from_pretrained, name, revision, allow_pickle=allow_pickle, dtype=torch.float32
    ).eval()
    return model.to("cuda" if torch.cuda.is_available() else "cpu")
