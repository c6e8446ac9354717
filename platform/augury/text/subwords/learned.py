"""Training of subword tokenizers for models that are trained from scratch.

They are saved in the format of `AutoTokenizer.from_pretrained`, and thus used like those of
pretrained models.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from augury.core.directories import scratch
from augury.core.store import Folder

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

VERSION = 1
FILES = "tokenizer"
START, PAD, END, UNKNOWN = SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
"""Special tokens in the order of their ids, as in XLM-R."""


def learn(texts: Iterable[str], size: int, folder: Folder) -> None:
    """Train a BPE tokenizer with at most `size` subwords, save it in `folder` and mark that as
    complete.

    Pairs are encoded as `<s> a </s></s> b </s>`, single texts as `<s> a </s>`.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=list(SPECIAL), show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{START} $A {END}",
        pair=f"{START} $A {END} {END} $B {END}",
        special_tokens=[(START, 0), (END, 2)],
    )
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=START,
        cls_token=START,
        eos_token=END,
        sep_token=END,
        pad_token=PAD,
        unk_token=UNKNOWN,
    )
    with scratch("tokenizer") as directory:
        wrapped.save_pretrained(directory)
        folder.put(directory, FILES)
    folder.finish({"size": len(wrapped), "version": VERSION})


def directory(folder: Folder) -> str:
    """Return a local directory with a tokenizer, for `from_pretrained`."""
    return str(folder.local() / FILES)


def load(directory: str) -> PreTrainedTokenizerBase:
    """Load the tokenizer from a directory written by `save_pretrained`; `<s>` in a text is text
    to it."""
    from transformers import AutoTokenizer

    loaded = AutoTokenizer.from_pretrained(directory)
    loaded.split_special_tokens = True
    return loaded
