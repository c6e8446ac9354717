"""Transcripts of speech as sources: from files and from audio, filtered by length, with their
word error rate."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from augury.augment import asr_transcript, operator, pipeline
from augury.augment.asr_transcript import Triple
from augury.augment.pipeline import Augmented
from augury.core.errors import UserError
from augury.core.execution import Execution
from augury.core.store import Store
from augury.corpora.corpus import PARALLEL, read_shard
from augury.corpora.ingest import ingest
from augury.corpora.spec import CorpusSpec

SAID = [
    "Hello, my friends [laughter]",
    "We all went home",
    "Nothing",
    "(Applause) Thank you so much",
]
HEARD = ["hello my friend", "we home", "", "thank you so match"]
WRITTEN = ["Bonjour mes amis (Rires)", "Nous sommes rentrés", "Rien", "Merci beaucoup"]


def augmented(
    folder: Path,
    heard: Sequence[str] = HEARD,
    execution: Execution = pipeline.DEFAULT_EXECUTION,
    **settings: Any,
) -> Augmented:
    for name, texts in (("said", SAID), ("heard", heard), ("written", WRITTEN)):
        (folder / name).write_text("\n".join(texts) + "\n", encoding="utf-8")
    spec = CorpusSpec.model_validate(
        {
            "source_language": "en",
            "target_language": "fr",
            "train": {"source": str(folder / "said"), "target": str(folder / "written")},
            "filter": {"max_ratio": None},
        }
    )
    parameters = {"operator": "asr_transcript", "transcripts": str(folder / "heard"), **settings}
    store = Store(folder / "store")
    return pipeline.augment(
        ingest(spec, "train", store), [operator.parse(parameters)], store, execution=execution
    )


def pairs(result: Augmented) -> list[tuple[str, str]]:
    (part,) = result.parts
    rows = pa.concat_tables(
        [read_shard(part.folder, shard) for shard in part.folder.manifest()["shards"]]
    )
    assert rows.schema.remove_metadata().equals(PARALLEL.schema)
    return list(
        zip(rows.column("source").to_pylist(), rows.column("target").to_pylist(), strict=True)
    )


@pytest.mark.parametrize(
    ("source_words", "transcript_words", "kept"),
    [
        (15, 10, (True, False)),
        (16, 10, (False, False)),
        (12, 10, (True, True)),
        (13, 10, (True, False)),
    ]
    + [(3, 0, (False, False))],
)
def test_golden_ratios(source_words: int, transcript_words: int, kept: tuple[bool, bool]) -> None:
    triple = Triple("w " * source_words, "w " * transcript_words, "w " * 100)
    assert tuple(triple.is_kept(limit, "transcript") for limit in (1.5, 1.2)) == kept
    assert not triple.is_kept(1.5, "target")


def test_pairs_are_transcripts_and_translations_and_all_others_are_counted(tmp_path: Path) -> None:
    result = augmented(tmp_path)
    assert pairs(result) == [(HEARD[0], WRITTEN[0]), (HEARD[3], WRITTEN[3])]
    (part,) = result.parts
    counts = part.folder.manifest()["counts"]
    assert counts["rejected, no transcript"] == 1 and counts["rejected, length ratio"] == 1
    rows = read_shard(part.folder, "part-00000.parquet")
    assert rows.column("id").to_pylist() == [
        "train-00000001/asr_transcript-1",
        "train-00000004/asr_transcript-1",
    ]
    assert [lineage["parents"] for lineage in rows.column("lineage").to_pylist()] == [
        ["train-00000001"],
        ["train-00000004"],
    ]


def test_error_rates_are_those_of_the_transcripts_kept(tmp_path: Path) -> None:
    (part,) = augmented(tmp_path, max_ratio=1.2, indicators="drop").parts
    # hello/Hello, my friend/friends · thank/Thank you so match/much: four of seven substituted
    measures = part.operator.measures(part.folder.manifest()["counts"])
    assert measures == {"WER": pytest.approx(400 / 7), "WRR": pytest.approx(300 / 7)}


def test_indicator_words_are_dropped_from_all_texts(tmp_path: Path) -> None:
    result = augmented(tmp_path, ["hello my [noise] friend", *HEARD[1:]], indicators="drop")
    assert pairs(result)[0] == ("hello my friend", "Bonjour mes amis")


def test_transcripts_may_be_a_column_of_a_table(tmp_path: Path) -> None:
    table = tmp_path / "asr.tsv"
    table.write_text("clip\tasr\n" + "".join(f"c\t{text}\n" for text in HEARD), encoding="utf-8")
    in_column = augmented(tmp_path, transcripts=str(table), column="asr")
    assert pairs(in_column) == pairs(augmented(tmp_path))


def test_rows_that_cannot_belong_together_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="3 rows and the training text 4"):
        augmented(tmp_path, HEARD[:2] + ["x"])


@pytest.mark.parametrize("settings", [{}, {"audio": "a", "transcripts": "b"}, {"audio": "a"}])
def test_transcripts_are_read_or_made(settings: dict[str, str]) -> None:
    with pytest.raises(UserError, match="give"):
        operator.parse({"operator": "asr_transcript", **settings})


def test_audio_is_recognised_once(tmp_path: Path) -> None:
    checkpoint = _speech_model(tmp_path / "model")
    _recordings(tmp_path)
    speech = {
        "transcripts": None,
        "audio": str(tmp_path / "heard"),
        "recogniser": str(checkpoint),
        "max_ratio": None,
    }
    clips = [f"clips/{number}.wav" for number in range(3)] + [""]
    result = augmented(tmp_path, clips, **speech)
    (part,) = result.parts
    counts = part.folder.manifest()["counts"]
    assert len(pairs(result)) + counts.get("rejected, no transcript", 0) == 4 and pairs(result)

    again = augmented(tmp_path, clips, **{**speech, "against": "target"})
    assert again.computed and pairs(again) == pairs(result)
    assert len(Store(tmp_path / "store").addresses("translations")) == 1

    _recordings(tmp_path, seed=2)
    _forget_content()
    assert augmented(tmp_path, clips, **speech).parts[0].folder.name != part.folder.name
    _forget_content()
    with pytest.raises(UserError, match="2.wav"):
        augmented(tmp_path, ["clips/0.wav", "clips/1.wav", "clips/2.wave", ""], **speech)


@pytest.mark.slow
def test_ray_s_actors_and_this_process_recognise_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, local_ray: Any
) -> None:
    """On a pool of actors, in as many blocks as there are."""
    monkeypatch.setattr(asr_transcript, "BLOCK_ROWS", 2)
    checkpoint = _speech_model(tmp_path / "model")
    transcripts = []
    for executor in ("local", "ray"):
        folder = tmp_path / executor
        folder.mkdir()
        _recordings(folder)
        speech = {
            "transcripts": None,
            "audio": str(folder / "heard"),
            "recogniser": str(checkpoint),
            "max_ratio": None,
        }
        clips = [f"clips/{number}.wav" for number in range(3)] + ["clips/0.wav"]
        result = augmented(folder, clips, Execution(executor=executor), **speech)
        (made_from,) = result.parts[0].folder.manifest()["made_from"]
        translations = Store(folder / "store").folder("translations", made_from.rpartition("/")[2])
        shards = [name for name in translations.names() if name.endswith(".parquet")]
        transcripts.append([translations.read(shard) for shard in shards])
        assert len(shards) == 2 and translations.manifest()["seconds"] > 0 and pairs(result)
    assert transcripts[0] == transcripts[1]


def _forget_content() -> None:
    """As a new process would."""
    asr_transcript._hash_recordings.cache_clear()


def _recordings(folder: Path, seed: int = 1) -> None:
    """Three clips, at two rates, one of them with two channels."""
    from scipy.io import wavfile

    (folder / "clips").mkdir(exist_ok=True)
    numbers = np.random.default_rng(seed)
    for number, (rate, shape) in enumerate(
        [(16_000, (8_000,)), (8_000, (5_000,)), (16_000, (9_000, 2))]
    ):
        wave = (numbers.normal(size=shape) * 3_000).astype(np.int16)
        wavfile.write(folder / f"clips/{number}.wav", rate, wave)


def _speech_model(folder: Path) -> Path:
    """A wav2vec2 model that nobody trained, which hears letters."""
    import torch
    from transformers import (
        Wav2Vec2Config,
        Wav2Vec2CTCTokenizer,
        Wav2Vec2FeatureExtractor,
        Wav2Vec2ForCTC,
        Wav2Vec2Processor,
    )

    folder.mkdir()
    letters = ["<pad>", "<s>", "</s>", "<unk>", "|", *"abcdefgh"]
    (folder / "vocab.json").write_text(
        json.dumps({letter: index for index, letter in enumerate(letters)})
    )
    torch.manual_seed(1)
    config = Wav2Vec2Config(
        vocab_size=len(letters),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        conv_dim=(8, 8),
        conv_kernel=(400, 3),
        conv_stride=(320, 2),
        num_feat_extract_layers=2,
        num_conv_pos_embeddings=4,
        num_conv_pos_embedding_groups=2,
        pad_token_id=0,
    )
    model = Wav2Vec2ForCTC(config)
    with torch.no_grad():
        model.lm_head.weight *= 50  # otherwise it hears nothing but one letter
        model.lm_head.bias[:5] -= 100
    model.save_pretrained(folder)
    tokenizer = Wav2Vec2CTCTokenizer(str(folder / "vocab.json"))
    Wav2Vec2Processor(
        feature_extractor=Wav2Vec2FeatureExtractor(), tokenizer=tokenizer
    ).save_pretrained(folder)
    return folder


def test_transcripts_and_ciphers_are_made_together(tmp_path: Path) -> None:
    (alone,) = augmented(tmp_path).parts
    store = Store(tmp_path / "store")
    corpus = augmented(tmp_path).corpus
    operators = [
        operator.parse({"operator": "cipher", "keys": [1]}),
        operator.parse(
            {
                "operator": "asr_transcript",
                "transcripts": str(tmp_path / "heard"),
                "indicators": "drop",
            }
        ),
    ]
    cipher, transcripts = pipeline.augment(corpus, operators, store).parts
    assert (
        cipher.folder.manifest()["rows"] == corpus.rows
        and transcripts.folder.manifest()["rows"] > 0
    )
    assert alone.folder != transcripts.folder
