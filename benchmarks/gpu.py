"""Is training right on a GPU, and how fast is it there?

    python -m benchmarks.gpu [--only NAME ...] [--json FILE] [--device cpu] [--smallest]

For a machine whose GPU is at hand for minutes, and which has no network: it needs PyTorch,
transformers, tokenizers, sentencepiece, pyarrow, pandas, scipy, sacrebleu, safetensors, xxhash,
psutil, PyYAML and cloudpickle, and of what `make wheels` puts into a folder here, pydantic:

    pip install --no-index --find-links wheels pydantic
    PYTHONPATH=platform:. python -m benchmarks.gpu --json gpu.jsonl

    machine     the device, and the texts of all that follows: the built-in corpora
    numerics    loss and gradients without dropout: their relative distance to those in fp32 on the
                CPU
    resume      is a training that stops and goes on equal, bit by bit, to one that does not?
    speed       tokens a second (source and target, no pads) and MFU of transformer base and of the
                512-wide model of IWSLT, against a plain loop around the same model of
                `transformers` (`benchmarks/training.py`) with equal precision and batches
    objectives  a step of CipherDAug against a plain one, both by the engine, whose objective is
                fused, and by the plain loop, which computes the formula as it is printed
    attacks     a step of PGD with K=3 against a plain one, of a classifier of XLM-R base's shape
    budget      the largest batch of transformer base, in tokens, that fits
    many        1, 8 and 30 processes beside each other that train a small model each
    decoding    sentences a second of `generate`, which writes 30 subwords for each

Each is measured in a process of its own within a time limit, all of them within 8 minutes, and its
figures are printed as they come. `ms` is a step, `host ms` the time until it is enqueued, `GiB` the
peak of the GPU's memory. MFU counts the FLOPs of weights (6 for each and a token that passes it,
attention left out), relative to the peak of an H100 or H200, and elsewhere to the speed of a
product of large matrices. Goals are for these two GPUs; to miss one is no failure. The exit code is
1 where a measurement fails or runs out of time. --json adds a line for every figure to a file.
"""

from __future__ import annotations

import os

os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"  # CUDA must not start before processes fork

import argparse
import functools
import gc
import json
import multiprocessing
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
import transformers
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from augury.core.store import Folder, Store
from augury.decoding.search import batches_by_length
from augury.experiments.make import prepare
from augury.experiments.run import Run
from augury.experiments.spec import parse
from augury.experiments.task import find_task
from augury.regimes.regime import Progress
from augury.training.learner import compile_layers
from augury.training.loop import Trainer
from augury.training.trained import WEIGHTS
from benchmarks.frame import cell
from benchmarks.training import PlainLoop
from trainables.nmt.translation import DevSet, Translation

Row = dict[str, Any]

MINUTES = 8
CPU = torch.device("cpu")
PEAK = {"fp32": 67.0, "bf16": 989.0}
"""TFLOP/s of an H100 (SXM) and an H200 with dense matrices, as their maker states them."""
BACKEND = {"cuda": "inductor", "cpu": "eager"}
"""Of torch.compile; kernels of a CPU would take minutes to build."""
MODELS = {"base": "transformer_wmt_en_de", "512": "transformer_iwslt_de_en", "small": "small"}
XLMR_BASE = {"layers": 12, "hidden_size": 768, "feedforward_size": 3072, "attention_heads": 12}
TINY = {"encoder_layers": 1, "decoder_layers": 1, "hidden_size": 32, "feedforward_size": 32}


class Setting(NamedTuple):
    """Where everything is measured, and how large it is."""

    device: torch.device
    root: str
    file: str
    """Gets the JSON lines."""
    smallest: bool = False
    rows: int = 20_000
    vocabulary: int = 8_000
    budgets: tuple[int, int] = (4_096, 32_768)
    """Tokens of a batch."""
    most: int = 2**22
    """The largest budget that is tried."""
    seconds: float = 1.0
    """Of a timing, at least."""
    at_once: tuple[int, ...] = (1, 8, 30)
    sentences: int = 512

    @property
    def precisions(self) -> tuple[str, ...]:
        """Those of training, the main one first; many CPUs only emulate bf16."""
        return ("bf16", "fp32") if self.device.type == "cuda" else ("fp32",)

    @property
    def name(self) -> str:
        return torch.cuda.get_device_name() if self.device.type == "cuda" else "cpu"

    @property
    def is_hopper(self) -> bool:
        return "H100" in self.name or "H200" in self.name


SMALLEST = (True, 200, 200, (512, 1_024), 2_048, 0.05, (1, 2), 8)


def prepared(setting: Setting, method: str, model: str = "512", **training: Any) -> Run:
    """Return a run of a method, its texts made: `plain`, `CipherDAug`, `plain NLI` or `PGD`."""
    size = setting.vocabulary
    content: Row = {
        "name": "gpu",
        "task": "nmt",
        "storage": setting.root,
        "corpus": {"train": {"builtin": setting.rows}, "valid": {"builtin": 100}, "tests": {}},
        "regime": "plain",
        "training": training,
        "execution": {"executor": "local"},
    }
    if method in ("plain NLI", "PGD"):
        sizes = {} if setting.smallest else XLMR_BASE
        content["task"] = "nli"
        content["corpus"] |= {"language": "qaa"}
        content["model"] = {"architecture": "tiny", "vocabulary_size": size, **sizes}
    else:
        sizes = TINY if setting.smallest else {}
        content["corpus"] |= {"source_language": "de", "target_language": "en"}
        content["model"] = {"architecture": MODELS[model], **sizes}
        content["vocabulary"] = {"size": size}
    if method == "PGD":
        content["regime"] = {"name": "adversarial", "preset": "paper"}
    elif method == "CipherDAug":
        content["vocabulary"] = {"size": size // 2, "size_per_key": size // 4}
        content["regime"] = {"name": "coregularised", "warmup_steps": 0}
        content["augment"] = [{"operator": "cipher", "keys": [1, 2]}]
    return prepare(parse(content), Store(setting.root))


def engine(setting: Setting, run: Run, precision: str, compiled: bool = False) -> Trainer:
    """Return the training loop of a run at its start."""
    training = run.experiment.training.model_copy(update={"precision": precision})
    learner = find_task(run.experiment.task).learner(run)
    if compiled:
        compile_layers(learner.module, BACKEND[setting.device.type])
    return Trainer(learner, training, run, device=setting.device, own_dropout=not compiled)


def some_batches(trainer: Trainer) -> list[np.ndarray]:
    """Return about 8 batches of an epoch, of long and of short sentences."""
    plan = [examples for update in trainer.rest_of_epoch() for examples in update]
    every = -(-len(plan) // 8)
    return sorted(plan, key=len)[every // 2 :: every]


def tokens(trainer: Trainer, batches: Sequence[np.ndarray]) -> np.ndarray:
    """Return the mean tokens of the batches' sources and targets, (2,)."""
    lengths = trainer.learner.lengths
    rows = np.concatenate(batches) % len(lengths.targets)
    return np.stack([lengths.sources[rows], lengths.targets[rows]]).sum(1) / len(batches)


def timed(setting: Setting, step: Callable[[Any], object], batches: Sequence[Any]) -> Row:
    """Time a step over the batches, after a round that is not counted."""
    cuda = setting.device.type == "cuda"
    wait: Callable[[], object] = torch.cuda.synchronize if cuda else lambda: None
    for batch in batches:
        step(batch)
    wait()
    if cuda:
        gc.collect()
        torch.cuda.reset_peak_memory_stats()
    steps, host, start = 0, 0.0, time.perf_counter()
    while steps == 0 or time.perf_counter() - start < setting.seconds:
        begun = time.perf_counter()
        for batch in batches:
            step(batch)
        host += time.perf_counter() - begun
        wait()
        steps += len(batches)
    row = {"ms": 1000 * (time.perf_counter() - start) / steps}
    if cuda:
        row |= {"host ms": 1000 * host / steps, "GiB": torch.cuda.max_memory_allocated() / 2**30}
    return row


def time_training(setting: Setting, run: Run, precision: str, contender: str) -> Row:
    """Time a step of `plain loop`, `engine` or `engine, compiled`."""
    is_plain = contender == "plain loop"
    own = setting._replace(device=CPU) if is_plain else setting  # no second model on the GPU
    trainer = engine(own, run, precision, "compiled" in contender)
    batches = some_batches(trainer)
    if is_plain:
        assert isinstance(trainer.learner, Translation)
        loop = PlainLoop(trainer.learner, trainer.training, setting.device)
        row = timed(setting, loop.step, batches)
    else:
        row = timed(setting, lambda examples: trainer.step([examples]), batches)
    if run.experiment.task == "nmt":
        row["tokens/s"] = 1000 * tokens(trainer, batches).sum() / row["ms"]
        work = flops(trainer.module, *tokens(trainer, batches))
        views = len(run.experiment.view_groups()[0].views)
        row["TFLOP/s"] = views * work / row["ms"] / 1e9
    return row


def flops(module: Any, sources: float, targets: float) -> float:
    """Return the FLOPs of a translation model's weights for so many tokens, once there and back."""
    parts = module.model.encoder.layers, module.model.decoder.layers, module.lm_head
    encoder, decoder, head = (sum(weight.numel() for weight in part.parameters()) for part in parts)
    return 6 * (sources * encoder + targets * (decoder + head))


# ----- the measurements


def machine(setting: Setting) -> Iterator[Row]:
    versions = {"torch": torch.__version__, "transformers": transformers.__version__}
    yield {"what": setting.name, **versions, "threads": torch.get_num_threads()}
    start = time.perf_counter()
    for method in ("plain", "CipherDAug", "plain NLI"):
        prepared(setting, method)
    yield {"what": "texts", "s": time.perf_counter() - start}


def numerics(setting: Setting) -> Iterator[Row]:
    cases = [(method, "fp32", False) for method in ("plain", "CipherDAug", "PGD")]
    for method, precision, compiled in [*cases, ("plain", "fp32", True), ("plain", "bf16", False)]:
        run = prepared(setting, method, max_tokens=setting.budgets[0])
        on_cpu = setting._replace(device=CPU)
        expected_loss, expected = gradients(on_cpu, run, "fp32", False)
        loss, found = gradients(setting, run, precision, compiled)
        what = f"{method}, {precision}{', compiled' * compiled}"
        row = {
            "loss": abs(loss / expected_loss - 1),
            "gradients": float((found - expected).norm() / expected.norm()),
        }
        is_near = max(row.values()) <= (1e-4 if precision == "fp32" else 5e-2)
        yield {"what": what, **row, "right": is_near}


def gradients(setting: Setting, run: Run, precision: str, compiled: bool) -> tuple[float, Tensor]:
    """Return the loss of a batch without dropout, and its gradients on the CPU."""
    trainer = engine(setting, run, precision, compiled)
    loaded = trainer.learner.load(some_batches(trainer)[0], 0, setting.device)
    trainer.module.eval()
    with torch.autocast(setting.device.type, torch.bfloat16, enabled=precision == "bf16"):
        losses = trainer.learner.loss(loaded.batch, Progress(0))
    (losses.total / losses.divisor).backward()
    found = [parameter.grad for parameter in trainer.parameters if parameter.grad is not None]
    loss = float(losses.total.detach()) / losses.divisor
    return loss, torch.cat([gradient.flatten().cpu() for gradient in found])


class ByLikelihood(Translation):
    """The learner of translation, validated by the likelihood alone: without CTranslate2."""

    def score(self, dev_set: DevSet) -> float:
        return 0.0


def resume(setting: Setting) -> Iterator[Row]:
    ends = {
        "max_tokens": setting.budgets[0],
        "max_updates": 8,
        "validate_every": 4,
        "weights": "last",
        "stop_on": "loss",
    }
    cases = ("plain", "fp32", False), ("CipherDAug", setting.precisions[0], True)
    for method, precision, compiled in cases:
        run = prepared(setting, method, "small", precision=precision, **ends)
        straight = weights(setting, run, compiled, "straight", [None])
        row = {
            "repeated equal": weights(setting, run, compiled, "again", [None]) == straight,
            "resumed equal": weights(setting, run, compiled, "resumed", [0.0, None]) == straight,
        }
        what = f"{method}, {precision}{', compiled' * compiled}"
        yield {"what": what, **row, "right": all(row.values())}


def weights(
    setting: Setting, run: Run, compiled: bool, name: str, stops: Sequence[float | None]
) -> bytes:
    """Train a run in a folder of its own, with a call for each deadline; return the weights."""
    folder = Folder(setting.root, f"resume/{run.address}/{name}")
    for deadline in stops:
        learner = ByLikelihood(run)
        if compiled:
            compile_layers(learner.module, BACKEND[setting.device.type])
        trainer = Trainer(
            learner,
            run.experiment.training,
            replace(run, folder=folder),
            device=setting.device,
            own_dropout=not compiled,
        )
        trainer.fit(lambda metrics: None, deadline)
    return folder.read(WEIGHTS)


def speed(setting: Setting) -> Iterator[Row]:
    peaks = {precision: product(setting, precision) for precision in PEAK}
    yield {"what": "products, TFLOP/s", **peaks}
    if setting.is_hopper:
        peaks = PEAK
    small, large = setting.budgets
    main, *others = setting.precisions
    cases = [(model, budget, main) for budget in (large, small) for model in ("base", "512")]
    cases += [(model, small, precision) for precision in others for model in ("base", "512")]
    goals = {"base": ("MFU", "≥", 0.4), "512": ("times plain loop", "≥", 2)}
    plain: dict[tuple[str, int, str], float] = {}
    for contender in ("plain loop", "engine", "engine, compiled"):
        for model, budget, precision in cases:
            run = prepared(setting, "plain", model, max_tokens=budget)
            row = time_training(setting, run, precision, contender)
            row["MFU"] = row["TFLOP/s"] / peaks[precision]
            before = plain.setdefault((model, budget, precision), row["ms"])
            row["times plain loop"] = before / row["ms"]
            if "compiled" in contender and precision == main:
                row["goal"] = goals[model]
            yield {"what": f"{model}, {budget:,} tokens, {precision}, {contender}", **row}


def product(setting: Setting, precision: str) -> float:
    """Return the TFLOP/s of a product of two large matrices."""
    size = 256 if setting.smallest else 8_192
    kind = torch.bfloat16 if precision == "bf16" else torch.float32
    matrix = torch.randn(size, size, device=setting.device).to(kind)
    return 2 * size**3 / timed(setting, lambda _: matrix @ matrix, range(8))["ms"] / 1e9


def against_plain(plain: str, method: str, goal: float, setting: Setting) -> Iterator[Row]:
    """Yield plain steps and those of a method by the engine, the plain loop of translation, and the
    compiled engine.

    They are relative to plain steps of the engine, compiled ones to compiled ones.
    """
    before: dict[bool, float] = {}
    loops = ("plain loop",) if plain == "plain" else ()
    for contender in ("engine", *loops, "engine, compiled"):
        for name in (plain, method):
            # All rows that the budget allows: the default of classifiers, 32, is for longer texts.
            run = prepared(setting, name, max_tokens=setting.budgets[0], max_examples=None)
            row = time_training(setting, run, setting.precisions[0], contender)
            plain_step = before.setdefault("compiled" in contender, row["ms"])
            row["times plain step"] = row["ms"] / plain_step
            if name == method and contender != "plain loop":
                row["goal"] = ("times plain step", "≤", goal)
            yield {"what": f"{name}, {setting.precisions[0]}, {contender}", **row}


def budget(setting: Setting) -> Iterator[Row]:
    trainer = engine(setting, prepared(setting, "plain", "base"), setting.precisions[0])
    batches, lengths = some_batches(trainer), trainer.learner.lengths.cost
    batch = batches[len(batches) // 2]
    size, row = setting.budgets[1], Row()
    while size <= setting.most:
        # The same rows again and again: there may not be so many.
        examples = np.resize(batch, size // lengths[batch % len(lengths)].max())
        try:
            row = timed(setting, lambda chosen: trainer.step([chosen]), [examples])
        except torch.OutOfMemoryError:
            break
        row |= {"tokens": size, "tokens/s": 1000 * tokens(trainer, [examples]).sum() / row["ms"]}
        size = size * 3 // 2
    assert row, f"not even {size:,} tokens fit"
    what = "largest batch" if size <= setting.most else "largest batch that was tried"
    yield {"what": f"base, {setting.precisions[0]}, {what}", **row}


def many(setting: Setting) -> Iterator[Row]:
    context = multiprocessing.get_context("fork")  # this process has not touched the GPU
    alone = 0.0
    for count in setting.at_once:
        barrier, results = context.Barrier(count), context.Queue()
        arguments = setting, barrier, results
        for _ in range(count):
            context.Process(target=train_beside, args=arguments, daemon=True).start()
        speed = sum(results.get(timeout=60) for _ in range(count))
        alone = alone or speed
        yield {"what": f"{count} small, fp32", "tokens/s": speed, "times one": speed / alone}


def train_beside(setting: Setting, barrier: Any, results: Any) -> None:
    """Train a small model beside others, and put its tokens a second."""
    torch.set_num_threads(1)
    trainer = engine(setting, prepared(setting, "plain", "small"), "fp32")
    batches = some_batches(trainer)
    timed(setting, lambda examples: trainer.step([examples]), batches)
    barrier.wait(timeout=60)
    longer = setting._replace(seconds=3 * setting.seconds)
    row = timed(longer, lambda examples: trainer.step([examples]), batches)
    results.put(1000 * tokens(trainer, batches).sum() / row["ms"])


def decoding(setting: Setting) -> Iterator[Row]:
    learner = Translation(prepared(setting, "plain"))
    model, sources = learner.module.to(setting.device), learner.validation_sets["valid"].sources
    texts = [sources[row % 100].tolist() for row in range(setting.sentences)]
    never = [*learner.vocabulary.never, learner.vocabulary.eos]  # so that all are equally long
    for precision in setting.precisions:
        for beam, size in ((5, 16_384), (5, 2_048), (1, 16_384)):
            banned = [model.config.pad_token_id, *never]
            search = functools.partial(generate, model, texts, beam, banned)
            with torch.autocast(setting.device.type, torch.bfloat16, enabled=precision == "bf16"):
                timing = timed(setting, search, [size])
            what = f"512, {precision}, beam {beam}, batches of {size:,} tokens"
            yield {"what": what, "sentences/s": 1000 * len(texts) / timing["ms"]}


def generate(
    model: Any, texts: Sequence[list[int]], beam: int, banned: list[int], tokens: int
) -> None:
    """Translate sources in batches of so many tokens at most, by 30 subwords each."""
    eos, pad = model.config.eos_token_id, model.config.pad_token_id
    model.eval()
    for rows in batches_by_length(texts, tokens):
        ids = [torch.tensor([*texts[row], eos], device=model.device) for row in rows]
        batch = pad_sequence(ids, batch_first=True, padding_value=pad)
        written = {"num_beams": beam, "max_new_tokens": 30, "suppress_tokens": banned}
        model.generate(batch, attention_mask=batch != pad, **written)


MEASUREMENTS: dict[str, tuple[Callable[[Setting], Iterator[Row]], int]] = {
    "machine": (machine, 90),
    "numerics": (numerics, 75),
    "resume": (resume, 75),
    "speed": (speed, 200),
    "objectives": (functools.partial(against_plain, "plain", "CipherDAug", 1.6), 75),
    "attacks": (functools.partial(against_plain, "plain NLI", "PGD", 2.6), 75),
    "budget": (budget, 60),
    "many": (many, 90),
    "decoding": (decoding, 60),
}
"""What is measured, the most important first, and the seconds that it may take."""


# ----- their processes


def measure(name: str, setting: Setting) -> None:
    """Print the rows of a measurement as they come."""
    os.setsid()  # a group of processes, which is ended as one
    wrong = []
    if setting.device.type == "cpu":
        torch.set_num_threads(1)  # several would wait for each other on busy cores
    for row in MEASUREMENTS[name][0](setting):
        if not row.pop("right", True):
            wrong.append(row["what"])
        figures = [f"{key} {cell(row[key])}" for key in row if key not in ("what", "goal")]
        text = f"{row['what']}: {', '.join(figures)}"
        if "goal" in row:
            figure, sign, bound = row["goal"]
            text += f" (goal: {figure} {sign} {bound}"
            if setting.is_hopper:
                row["met"] = row[figure] >= bound if sign == "≥" else row[figure] <= bound
                text += ", met" if row["met"] else ", missed"
            text += ")"
        print(f"{name:10}  {text}", flush=True)
        with open(setting.file, "a", encoding="utf-8") as file:
            file.write(json.dumps({"measurement": name, **row}) + "\n")
    assert not wrong, f"not what it is on the CPU, or at once: {'; '.join(wrong)}"


def succeeds(name: str, setting: Setting, limit: float) -> bool:
    """Measure in another process, at most so many seconds; return whether that went well."""
    context = multiprocessing.get_context("fork")  # all is imported, and no GPU touched
    process = context.Process(target=measure, args=(name, setting))
    process.start()
    try:
        process.join(max(0.0, limit))
        if process.exitcode is None:
            print(f"{name:10}  ran out of its {limit:.0f} s", flush=True)
        elif process.exitcode:
            print(f"{name:10}  failed, exit code {process.exitcode}", flush=True)
        return process.exitcode == 0
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid or 0, signal.SIGKILL)
        process.join()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=MEASUREMENTS, default=[*MEASUREMENTS])
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--smallest", action="store_true", help="tiny, to see that all of it runs")
    parser.add_argument("--json", default=os.devnull, metavar="FILE")
    arguments = parser.parse_args()
    end = time.monotonic() + 60 * MINUTES - 10
    with tempfile.TemporaryDirectory(prefix="augury-gpu-") as root:
        sizes = SMALLEST if arguments.smallest else ()
        setting = Setting(torch.device(arguments.device), root, arguments.json, *sizes)
        results = []
        for name in arguments.only:
            limit = min(MEASUREMENTS[name][1], end - time.monotonic())
            results.append(succeeds(name, setting, limit))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
