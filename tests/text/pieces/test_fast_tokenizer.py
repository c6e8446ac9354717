"""The tokenizer that is exported, against the vocabulary that training read with."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from augury.core.store import Store
from augury.corpora.filters import Cleaning, clean
from augury.text.pieces.fast_tokenizer import fast_tokenizer, save
from augury.text.pieces.settings import VocabularySettings
from augury.text.pieces.training import train
from augury.text.pieces.vocabulary import Vocabulary

TEXTS = [
    "es ist diese pyramide.",
    "hey, warum nicht?",
    "wir alle lieben baseball, oder?",
    "zwölf große übungen",
    "ababab aaaa bbb aabb abab ab",
    "-- --- ---- -",
    "das __en__ <unk> </s> <pad>",
    "x  y   z",
]
CHARACTERS = "ab- .\t\n\r\u00a0\u2581\u2585\x00e\u0301ÄİΣ<unk>"


@pytest.fixture(scope="module", params=["joint", "separate"])
def vocabulary(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Vocabulary:
    config = VocabularySettings(
        size=110, size_per_key=20, separate_size_per_key=40, mode=request.param
    )
    groups = {
        "source": TEXTS,
        "target": TEXTS[:4],
        "rot-1": [text.replace("a", "b") for text in TEXTS],
    }
    folder = Store(tmp_path_factory.mktemp("store")).folder("vocabularies", request.param)
    views = {name: (lambda texts=texts: iter(texts)) for name, texts in groups.items()}
    return train(views, config, languages=["de", "en"], folder=folder)


def expected(vocabulary: Vocabulary, text: str, lowercase: bool = False) -> list[int]:
    cleaned = clean(pa.array([text]), {}, Cleaning(lowercase=lowercase))
    return vocabulary.encode(cleaned)[0].tolist()


@pytest.fixture(scope="module")
def tokenizers(vocabulary: Vocabulary) -> list[PreTrainedTokenizerFast]:
    return [fast_tokenizer(vocabulary, lowercase=lowercase) for lowercase in (False, True)]


@given(text=st.text(CHARACTERS, max_size=40) | st.text(max_size=20))
@settings(max_examples=100, deadline=None)
def test_ids_and_texts_are_those_of_training(
    vocabulary: Vocabulary, tokenizers: list[PreTrainedTokenizerFast], text: str
) -> None:
    for lowercase, tokenizer in enumerate(tokenizers):
        ids = expected(vocabulary, text, bool(lowercase))
        assert tokenizer(text, add_special_tokens=False).input_ids == ids
        assert tokenizer.decode(ids, skip_special_tokens=True) == vocabulary.decode([ids])[0]


def test_the_tag_and_the_end_are_added_and_never_read(
    vocabulary: Vocabulary, tmp_path: Path
) -> None:
    save(fast_tokenizer(vocabulary, prefix=["__en__"], positions=64), tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    assert isinstance(tokenizer, PreTrainedTokenizerFast) and tokenizer.model_max_length == 64
    text = "das __de__ </s> haus"
    inside = expected(vocabulary, text)
    assert not {vocabulary.tags["__de__"], vocabulary.eos} & set(inside)
    assert tokenizer(text).input_ids == [vocabulary.tags["__en__"], *inside, vocabulary.eos]
    assert tokenizer("").input_ids == [vocabulary.tags["__en__"], vocabulary.eos]
    assert (
        tokenizer.decode(tokenizer(text).input_ids, skip_special_tokens=True)
        == vocabulary.decode([inside])[0]
    )
    batch = tokenizer(["haus", "das haus"], padding=True)
    assert batch.input_ids[0][-1] == vocabulary.pad and batch.attention_mask[0][-1] == 0
