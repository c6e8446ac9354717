"""Translation by checkpoints of `transformers`, through CTranslate2 or `generate`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from augury.core import config
from augury.core.directories import scratch
from augury.core.errors import UserError, unknown
from augury.core.locks import make_once
from augury.core.progress import say_once
from augury.core.store import Folder, Store
from augury.decoding.search import batches_by_length, positions
from augury.decoding.settings import PLAIN, Decoding, Sampler, Translator
from augury.models import pretrained

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

KIND, MODEL = "converted", "model"
"""The store's folder of converted models, and the directory of the model in each."""
VERSION = 1
"""Raised when the conversion of a checkpoint changes; part of its address."""

Search = Callable[[Sequence[Sequence[int]], Decoding], Sequence[Sequence[int]]]
"""A function from ids of sources, special ones included, to ids of the best outputs."""


class Languages(NamedTuple):
    """Language codes of a multilingual model's tokenizer, source and target, such as `fra_Latn`."""

    read: str
    written: str


@dataclass(frozen=True)
class Checkpoint:
    """An encoder-decoder, by its name on a hub or its directory, on a GPU where there is one."""

    name: str
    revision: str | None = None
    languages: Languages | None = None
    """The languages of a multilingual model, such as NLLB."""
    allow_pickle: bool = False
    """Whether weights may be read from pickle files."""

    @property
    def identity(self) -> str:
        """Return the model's identity: a directory's content, or a hub name with its revision."""
        return pretrained.identity(self.name, self.revision)

    def translator(self, store: Store, threads: int = 1) -> Translator:
        """Return the checkpoint as a function that translates; in a store, converted only once."""
        tokenizer, first = self._tokenizer()
        most = self._most_pieces(tokenizer)
        search = self._search(tokenizer, first, store, threads)

        def translate(texts: Sequence[str], view: str, decoding: Decoding) -> list[str | None]:
            if view != PLAIN:
                raise UserError(
                    f"checkpoint '{self.name}' has no view '{view}': it reads text as it is, plain"
                )
            rows = tokenizer(list(texts)).input_ids if texts else []
            outputs = ["" if len(ids) <= most else None for ids in rows]
            wanted = [
                row for row, text in enumerate(texts) if outputs[row] is not None and text.strip()
            ]
            for row, ids in zip(
                wanted, search([rows[row] for row in wanted], decoding), strict=True
            ):
                outputs[row] = tokenizer.decode(ids, skip_special_tokens=True).strip()
            return outputs

        return translate

    def sampler(self, whole: bool = False) -> Sampler:
        """Return the checkpoint as a function that samples outputs.

        A text that is too long is cut, or with `whole` has no output.
        """
        from augury.decoding.sampling import sampler

        tokenizer, first = self._tokenizer()
        return sampler(
            self._model(), tokenizer, self._most_pieces(tokenizer), first=first, whole=whole
        )

    def _most_pieces(self, tokenizer: PreTrainedTokenizerBase) -> int:
        """The pieces of the longest text that tokenizer and model read, special ones included."""
        return min(tokenizer.model_max_length, positions(self._settings()))

    def _settings(self) -> Any:
        from transformers import AutoConfig

        return pretrained.load(AutoConfig.from_pretrained, self.name, self.revision)

    def _model(self) -> PreTrainedModel:
        from transformers import AutoModelForSeq2SeqLM

        return loaded(AutoModelForSeq2SeqLM, self.name, self.revision, self.allow_pickle)

    def _tokenizer(self) -> tuple[PreTrainedTokenizerBase, int | None]:
        """Return the tokenizer, and the id of the target language, if outputs start with one."""
        from transformers import AutoTokenizer

        tokenizer = pretrained.load(AutoTokenizer.from_pretrained, self.name, self.revision)
        several = hasattr(tokenizer, "src_lang")
        if several and self.languages is None:
            raise UserError(
                f"checkpoint '{self.name}' is multilingual: also give the languages, as its "
                "tokenizer calls them, such as source_language: fra_Latn and target_language: "
                "eng_Latn"
            )
        if self.languages is None:
            return tokenizer, None
        if not several:
            raise UserError(
                f"checkpoint '{self.name}' translates between two languages: leave out "
                "source_language and target_language with it"
            )
        _, first = (self._language(tokenizer, code) for code in self.languages)
        tokenizer.src_lang = self.languages.read
        return tokenizer, first

    def _language(self, tokenizer: PreTrainedTokenizerBase, code: str) -> int:
        """Return the id of a language."""
        symbol = tokenizer.get_lang_token(code) if hasattr(tokenizer, "get_lang_token") else code
        if symbol not in tokenizer.all_special_tokens:
            raise unknown(
                f"language of checkpoint '{self.name}'", code, tokenizer.all_special_tokens
            )
        return int(tokenizer.convert_tokens_to_ids(symbol))

    def _search(
        self, tokenizer: PreTrainedTokenizerBase, first: int | None, store: Store, threads: int
    ) -> Search:
        from augury.decoding.conversion import reads

        settings = self._settings()
        if not reads(settings) or tokenizer("a").input_ids[-1] != settings.eos_token_id:
            say_once(
                f"checkpoint '{self.name}' ({settings.model_type}) is of a kind that CTranslate2 "
                "does not read: transformers translates, which takes several times as long"
            )
            return _generating(self._model(), tokenizer, first)
        folder = store.folder(
            KIND, config.address({"version": VERSION, "checkpoint": self.identity})
        )
        make_once(folder, lambda: self._convert(folder))
        return _decoding(folder, positions(settings), first, threads)

    def _convert(self, folder: Folder) -> None:
        """Write the checkpoint in CTranslate2's format, with first and suppressed tokens."""
        from augury.decoding.conversion import checkpoint_to_ctranslate2

        model = self._model()
        with scratch("ctranslate2") as directory:
            checkpoint_to_ctranslate2(model, directory)
            folder.put(directory, MODEL)
        generation = model.generation_config
        never = {*(generation.suppress_tokens or ())}
        never |= {ids[0] for ids in generation.bad_words_ids or () if len(ids) == 1}
        folder.finish(
            {
                "inputs": [self.identity],
                "first": generation.forced_bos_token_id,
                "never": sorted(never),
            },
        )


@lru_cache(maxsize=2)
def loaded(
    kind: Any, name: str, revision: str | None, allow_pickle: bool = False
) -> PreTrainedModel:
    """Return a model of one of the Auto classes of `transformers`, in evaluation mode."""
    import torch

    load = kind.from_pretrained
    model = pretrained.load_model(
        load, name, revision, allow_pickle=allow_pickle, dtype=torch.float32
    ).eval()
    return model.to("cuda" if torch.cuda.is_available() else "cpu")


def _decoding(folder: Folder, most: int, first: int | None, threads: int) -> Search:
    """Return the search by CTranslate2 with a converted model."""
    from augury.decoding.ctranslate import CTranslateDecoder, visible_device

    decoder = CTranslateDecoder(folder.sub(MODEL).local(), threads=threads, device=visible_device())
    manifest = folder.manifest()
    beginning = manifest["first"] if first is None else first

    def search(sources: Sequence[Sequence[int]], decoding: Decoding) -> Sequence[Sequence[int]]:
        within = decoding.model_copy(update={"max_length": min(decoding.max_length, most)})
        without_end = [source[:-1] for source in sources]
        prefix = () if beginning is None else (beginning,)
        return [
            best.ids for best in decoder.translate(without_end, within, manifest["never"], prefix)
        ]

    return search


def _generating(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, first: int | None
) -> Search:
    """Return the search by `transformers`, with the checkpoint's suppressed and first tokens."""
    import torch

    forced = {} if first is None else {"forced_bos_token_id": first}

    def search(sources: Sequence[Sequence[int]], decoding: Decoding) -> Sequence[Sequence[int]]:
        options = (
            {"length_penalty": decoding.length_penalty, "early_stopping": True}
            if decoding.beam > 1
            else {}
        )
        options |= {
            "num_beams": decoding.beam,
            "max_new_tokens": min(decoding.max_length, positions(model.config)),
            "do_sample": False,
            **forced,
        }
        outputs: list[Sequence[int]] = [()] * len(sources)
        for batch in batches_by_length(sources, decoding.batch_tokens):
            inputs = tokenizer.pad(
                {"input_ids": [sources[row] for row in batch]}, return_tensors="pt"
            )
            with torch.inference_mode():
                sequences = model.generate(**inputs.to(model.device), **options)
            for row, output in zip(batch, sequences.tolist(), strict=True):
                outputs[row] = output
        return outputs

    return search
