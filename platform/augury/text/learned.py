"""A subword tokenizer learned from the training text, for models that start from nothing.

It is written as a directory that `AutoTokenizer.from_pretrained` reads, so that small models of tests and the tokenizer
of a large pretrained one are used in the same way.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from augury.core.store import Folder

VERSION = 1
FILES = "tokenizer"
START, PAD, END, UNKNOWN = SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
"""Their ids are their indices, those of XLM-R."""


def learn(texts: Iterable[str], size: int, folder: Folder) -> None:
    """Learn at most `size` subwords (byte-pair encoding over words) and finish `folder` with the tokenizer in it.

    A pair is encoded as `<s> a </s></s> b </s>`, a single text as `<s> a </s>`.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=list(SPECIAL), show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{START} $A {END}", pair=f"{START} $A {END} {END} $B {END}", special_tokens=[(START, 0), (END, 2)]
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
    directory = Path(tempfile.mkdtemp(prefix="augury-tokenizer-"))
    wrapped.save_pretrained(directory)
    folder.put(directory, FILES)
    folder.finish({"size": len(wrapped), "version": VERSION})


def directory(folder: Folder) -> str:
    """Return the directory of a learned tokenizer on this machine, for `from_pretrained`."""
    return str(folder.local() / FILES)
