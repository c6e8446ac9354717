"""How fast is source text made into output text, against `transformers` and CTranslate2 itself?

    python -m benchmarks.decode [--sentences 1000] [--updates 300] [--beam 5] [--repeats 3] [--json]

    augury        what `augury translate RUN` runs: cleaning, subwords, search, text
    transformers  MarianMTModel.generate in batches of 64 sentences of similar length, tokenised by
                  its AutoTokenizer, on the run's export (--to hf)
    ctranslate2   a tokenizer and ctranslate2.Translator on the run's export (--to ctranslate2):
                  the limit, as augury decodes by it

All have the weights of one run, trained for some updates, and two threads; models are loaded before
the clock starts. The text is Multi30k de-en if AUGURY_DATA is the directory of the corpora, else
the built-in corpus. `same` is the share of outputs that equal augury's, `x augury` the CPU time
relative to augury's in the same round; the contenders run in rotating order.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "2"
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"  # idle threads sleep: spinning would count as CPU seconds

import operator
import statistics
import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import torch

from augury.cli import main as augury
from augury.core.store import Folder
from augury.experiments.run import Run
from augury.experiments.task import find_task
from benchmarks import frame
from benchmarks.time_to_bleu import experiment, write_texts

THREADS, BATCH, MAX_LENGTH, LENGTH_PENALTY = 2, 64, 100, 1.0


def train(place: Path, pairs: int, updates: int, beam: int) -> tuple[str, list[str], Folder]:
    """Return the name of the text, sentences to translate and the folder of a trained run."""
    text, files = write_texts(place, pairs, valid=10)
    file = experiment(
        place,
        files,
        vocabulary={"size": "auto"},
        model={"architecture": "small"},
        validation={"sentences": 10},
        training={
            "learning_rate": 1e-3,
            "warmup_updates": max(1, updates // 4),
            "max_updates": updates,
            "validate_every": updates,
            "average_last": 1,
        },
        decoding={"beam": beam, "max_length": MAX_LENGTH, "length_penalty": LENGTH_PENALTY},
        scoring={"metrics": ["bleu"]},
        execution={"executor": "local", "threads": THREADS},
    )
    assert augury(["train", "--quiet", str(file)]) == 0
    (folder,) = (path.parent for path in place.glob("results/runs/*/seed-*/manifest.json"))
    run = Folder(str(place / "results"), str(folder.relative_to(place / "results")))
    return text, files["train de"].read_text().splitlines(), run


def contenders(place: Path, folder: Folder, beam: int) -> dict[str, Callable[[list[str]], Any]]:
    """Return functions from sentences to translations, their models loaded."""
    for form in ("hf", "ctranslate2"):
        command = ["export", "--quiet", folder.path(), "--to", form, "--output", str(place / form)]
        assert augury(command) == 0
    run = Run.read(folder)
    task = find_task(run.experiment.task)
    return {
        "augury": lambda lines: task.translate(run, lines),
        "transformers": with_transformers(place / "hf", beam),
        "ctranslate2": with_ctranslate2(place / "ctranslate2", beam),
    }


def with_transformers(model: Path, beam: int) -> Callable[[list[str]], list[str]]:
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    loaded = AutoModelForSeq2SeqLM.from_pretrained(model).eval()

    @torch.no_grad()
    def translate(lines: list[str]) -> list[str]:
        order = sorted(range(len(lines)), key=lambda row: len(lines[row]))
        outputs = [""] * len(lines)
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            batch = tokenizer([lines[row] for row in rows], return_tensors="pt", padding=True)
            produced = loaded.generate(**batch, num_beams=beam, max_new_tokens=MAX_LENGTH)
            texts = tokenizer.batch_decode(produced, skip_special_tokens=True)
            for row, text in zip(rows, texts, strict=True):
                outputs[row] = text.strip()
        return outputs

    return translate


def with_ctranslate2(model: Path, beam: int) -> Callable[[list[str]], list[str]]:
    import ctranslate2
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(model))
    translator = ctranslate2.Translator(str(model), inter_threads=THREADS, intra_threads=1)

    def translate(lines: list[str]) -> list[str]:
        ids = [row[:-1] for row in tokenizer(lines).input_ids]
        results = translator.translate_batch(
            [list(map(str, row)) for row in ids],
            max_batch_size=2048,
            batch_type="tokens",
            beam_size=beam,
            max_decoding_length=MAX_LENGTH,
            length_penalty=LENGTH_PENALTY,
        )
        written = [list(map(int, result.hypotheses[0])) for result in results]
        return tokenizer.batch_decode(written, skip_special_tokens=True)

    return translate


def main() -> None:
    parser = frame.parser(__doc__)
    parser.add_argument("--sentences", type=int, default=1_000)
    parser.add_argument("--pairs", type=int, default=10_000, help="that train the model")
    parser.add_argument("--updates", type=int, default=300, help="of the model (default 300)")
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3, help="rounds (default 3)")
    arguments = parser.parse_args()
    torch.set_num_threads(THREADS)
    with tempfile.TemporaryDirectory() as directory, redirect_stdout(sys.stderr):
        place = Path(directory)
        text, lines, folder = train(place, arguments.pairs, arguments.updates, arguments.beam)
        lines = lines[: arguments.sentences]
        translators = contenders(place, folder, arguments.beam)
        outputs = {name: translate(lines) for name, translate in translators.items()}
        samples = frame.in_turn(
            {name: lambda run=run: run(lines) for name, run in translators.items()},
            arguments.repeats,
        )
    rows = frame.compared(samples, "augury")
    for row in rows:
        seconds, own = row.pop("wall s"), outputs[row["name"]]
        row["sentences/s"] = len(lines) / seconds
        row["same"] = statistics.fmean(map(operator.eq, own, outputs["augury"]))
    setting = {
        "text": text,
        "sentences": len(lines),
        "beam": arguments.beam,
        "updates": arguments.updates,
    }
    frame.report(arguments, setting, rows)


if __name__ == "__main__":
    main()
