"""Measure time and memory of objectives in training steps at a vocabulary of 20,000.

A step is forward, backward and Adam.

    python -m benchmarks.objective [--repeats 5] [--json]

    plain               torch's cross-entropy of the full logits
    plain, fused        the same by augury.regimes.objective, with augury's dropout
    CipherDAug          the formula as printed: two forward passes, two softmaxes of full logits
    CipherDAug, fused   one forward pass over both views, augury.regimes.objective, its dropout

All contenders train the same model on the same batch, each in a process of its own as trainings
are: what one frees would spare another the page faults of its buffers. They take steps in rotating
order, so that other load affects them equally. Ratios of CPU seconds are medians over repetitions
of the ratio to `plain` in the same repetition. Memory is the increase of a process's peak by its
first two steps.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "2"
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"  # idle threads sleep: spinning would count as CPU seconds

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import MarianConfig, MarianMTModel

from augury.regimes.objective import view_objective
from augury.training.dropout import Dropout
from benchmarks import frame

VOCABULARY, PAD, END = 20_000, 1, 2
SENTENCES, LONGEST = 256, 16  # 4,096 target positions, padding included
SMOOTHING, BETA = 0.1, 5.0


class Batch(NamedTuple):
    sources: Tensor  # (views, sentences, length): the plain source and its cipher
    decoder_input: Tensor  # (sentences, length)
    labels: Tensor  # (sentences, length)


def small_model() -> MarianMTModel:
    config = MarianConfig(
        vocab_size=VOCABULARY,
        decoder_vocab_size=VOCABULARY,
        d_model=256,
        encoder_layers=3,
        decoder_layers=3,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=1024,
        decoder_ffn_dim=1024,
        dropout=0.3,
        attention_dropout=0.0,
        activation_function="relu",
        scale_embedding=True,
        share_encoder_decoder_embeddings=False,
        tie_word_embeddings=True,
        pad_token_id=PAD,
        eos_token_id=END,
        decoder_start_token_id=END,
        forced_eos_token_id=END,
        max_position_embeddings=256,
        use_cache=False,
    )
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    return MarianMTModel(config).train()


def multi30k_like_batch() -> Batch:
    """Return sentences of 11 to 16 source and 14 to 16 target tokens, like a length-bucketed
    batch of Multi30k."""
    generator = torch.Generator().manual_seed(0)

    def sentences(shortest: int, *shape: int) -> Tensor:
        tokens = torch.randint(4, VOCABULARY, (*shape, LONGEST), generator=generator)
        lengths = torch.randint(shortest, LONGEST + 1, shape, generator=generator).unsqueeze(-1)
        positions = torch.arange(LONGEST)
        return tokens.where(positions < lengths, PAD).where(positions != lengths - 1, END)

    labels = sentences(14, SENTENCES)
    return Batch(sentences(11, 2, SENTENCES), F.pad(labels, (1, -1), value=END), labels)


def logits(model: MarianMTModel, batch: Batch, view: int) -> Tensor:
    source = batch.sources[view]
    return model(source, attention_mask=source != PAD, decoder_input_ids=batch.decoder_input).logits


def plain(model: MarianMTModel, batch: Batch) -> Tensor:
    return F.cross_entropy(
        logits(model, batch, 0).flatten(0, 1),
        batch.labels.flatten(),
        ignore_index=PAD,
        label_smoothing=SMOOTHING,
        reduction="sum",
    )


def cipherdaug(model: MarianMTModel, batch: Batch) -> Tensor:
    """Return label-smoothed cross-entropy of both views and KL in both directions, each computed
    from the logits."""
    pad = (batch.labels == PAD).unsqueeze(-1)
    both = logits(model, batch, 0), logits(model, batch, 1)
    total = torch.zeros(())
    for scores in both:
        log_probabilities = F.log_softmax(scores, dim=-1)
        nll = -log_probabilities.gather(-1, batch.labels.unsqueeze(-1)).masked_fill(pad, 0).sum()
        smooth = -log_probabilities.sum(-1, keepdim=True).masked_fill(pad, 0).sum()
        uniform = SMOOTHING / (VOCABULARY - 1)
        total = total + (1 - SMOOTHING - uniform) * nll + uniform * smooth
    for first, second in (both, both[::-1]):
        kl = F.kl_div(F.log_softmax(second, dim=-1), F.softmax(first, dim=-1), reduction="none")
        total = total + BETA / 2 * kl.masked_fill(pad, 0).sum()
    return total


def fused(views: int) -> Callable[[MarianMTModel, Batch], Tensor]:
    dropout = Dropout(seed=0)

    def loss(model: MarianMTModel, batch: Batch) -> Tensor:
        source = batch.sources[:views].flatten(0, 1)
        with dropout:
            states = model.model(
                source,
                attention_mask=source != PAD,
                decoder_input_ids=batch.decoder_input.repeat(views, 1),
            ).last_hidden_state
        labels = batch.labels.flatten()
        rows = (labels != PAD).nonzero().squeeze(-1)
        hidden = states.view(views, len(labels), -1).index_select(1, rows)
        return view_objective(
            hidden,
            model.lm_head.weight,
            None,
            labels[rows],
            weights=[1.0] * views,
            label_smoothing=SMOOTHING,
            beta=BETA if views > 1 else 0,
        ).total

    return loss


CONTENDERS: dict[str, Callable[[MarianMTModel, Batch], Tensor]] = {
    "plain": plain,
    "plain, fused": fused(1),
    "CipherDAug": cipherdaug,
    "CipherDAug, fused": fused(2),
}


class Trainer:
    """A model with its optimizer and a batch; one call is one step of one contender."""

    def __init__(self) -> None:
        self.model = small_model()
        self.batch = multi30k_like_batch()
        self.optimizer = torch.optim.Adam(
            self.model.parameters(), lr=1e-4, betas=(0.9, 0.98), fused=True
        )

    def step(self, contender: str) -> None:
        loss = CONTENDERS[contender](self.model, self.batch)
        (loss / self.batch.labels.ne(PAD).sum()).backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)


def peak_mebibytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def serve(contender: str) -> None:
    """Print the MiB that two steps add to the peak memory of a process that only created the
    model, then the (CPU, wall) seconds of a step for every line of standard input."""
    trainer = Trainer()
    before = peak_mebibytes()
    trainer.step(contender)
    trainer.step(contender)
    print(peak_mebibytes() - before, flush=True)
    for _ in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        trainer.step(contender)
        print(time.process_time() - cpu, time.perf_counter() - wall, flush=True)


class Contender:
    """A process that takes steps of one contender, and `memory`, their MiB."""

    def __init__(self, name: str) -> None:
        command = [sys.executable, "-m", "benchmarks.objective", "--serve", name]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=frame.ROOT
        )
        (self.memory,) = self._numbers()

    def step(self) -> tuple[float, ...]:
        """Take a step; return its CPU and wall seconds."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return self._numbers()

    def _numbers(self) -> tuple[float, ...]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"{self._process.args!r} ended with {self._process.wait()}"
        return tuple(map(float, line.split()))

    def end(self) -> None:
        self._process.communicate()


def measure(repeats: int) -> tuple[dict[str, float], dict[str, list[tuple[float, ...]]]]:
    """Return the MiB of every contender, and the (CPU, wall) seconds of its steps."""
    contenders = {name: Contender(name) for name in CONTENDERS}
    names = list(contenders)
    samples: dict[str, list[tuple[float, ...]]] = {name: [] for name in names}
    for repeat in range(repeats):
        turn = repeat % len(names)
        for name in names[turn:] + names[:turn]:
            samples[name].append(contenders[name].step())
    for contender in contenders.values():
        contender.end()
    return {name: contender.memory for name, contender in contenders.items()}, samples


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--repeats", type=int, default=5, help="measured steps of each contender (default 5)"
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object instead of a table"
    )
    parser.add_argument("--serve", choices=CONTENDERS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    torch.set_num_threads(2)
    if arguments.serve:
        serve(arguments.serve)
        return

    memory, samples = measure(arguments.repeats)
    baseline = [cpu for cpu, _ in samples["plain"]]
    results = {}
    for name, pairs in samples.items():
        ratios = [cpu / other for (cpu, _), other in zip(pairs, baseline, strict=True)]
        results[name] = {
            "cpu_seconds": statistics.median(cpu for cpu, _ in pairs),
            "wall_seconds": statistics.median(wall for _, wall in pairs),
            "cpu_ratio": statistics.median(ratios),
            "memory_mebibytes": memory[name],
            "memory_ratio": memory[name] / memory["plain"],
        }
    if arguments.json:
        report = {"repeats": arguments.repeats, "torch": torch.__version__, "contenders": results}
        print(json.dumps(report, indent=2))
        return
    print(f"{'median step':20}{'CPU s':>8}{'x plain':>9}{'wall s':>8}{'MiB':>8}{'x plain':>9}")
    for name, row in results.items():
        print(
            f"{name:20}{row['cpu_seconds']:8.2f}{row['cpu_ratio']:9.2f}{row['wall_seconds']:8.2f}"
            f"{row['memory_mebibytes']:8.0f}{row['memory_ratio']:9.2f}"
        )


if __name__ == "__main__":
    main()
