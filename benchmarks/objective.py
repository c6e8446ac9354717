"""Measure time and memory of objectives in training steps at a vocabulary of 20,000.

A step is forward, backward and Adam.

    python -m benchmarks.objective [--repeats 5] [--json]

    plain               torch's cross-entropy of the full logits
    plain, fused        the same by augury.regimes.objective, with augury's dropout
    CipherDAug          the formula as printed: two forward passes, two softmaxes of full logits
    CipherDAug, fused   one forward pass over both views, augury.regimes.objective, its dropout

All contenders train the same model on the same batch, each in a process of its own as trainings
are: what one frees would spare another the page faults of its buffers. They take steps in rotating
order, so that other load affects them equally. `x plain` is the median over rounds of the ratio of
CPU seconds to those of `plain` in the same round. `MiB` is the increase of a process's peak by its
first two steps.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "2"
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"  # idle threads sleep: spinning would count as CPU seconds

import argparse
import resource
import subprocess
import sys
from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import MarianMTModel

from augury.regimes.objective import view_objective
from augury.training.dropout import Dropout
from benchmarks import frame
from benchmarks.peers.transformers_translation import EOS, PAD, model_of

VOCABULARY = 20_000
SENTENCES, LONGEST = 256, 16  # 4,096 target positions, padding included
SMOOTHING, BETA = 0.1, 5.0


class Batch(NamedTuple):
    sources: Tensor  # (views, sentences, length): the plain source and its cipher
    decoder_input: Tensor  # (sentences, length)
    labels: Tensor  # (sentences, length)


def small_model() -> MarianMTModel:
    torch.manual_seed(0)
    return model_of(VOCABULARY, 3, 256, 1024, 4, attention_dropout=0.0).train()


def multi30k_like_batch() -> Batch:
    """Return sentences of 11 to 16 source and 14 to 16 target tokens, like a length-bucketed
    batch of Multi30k."""
    generator = torch.Generator().manual_seed(0)

    def sentences(shortest: int, *shape: int) -> Tensor:
        tokens = torch.randint(4, VOCABULARY, (*shape, LONGEST), generator=generator)
        lengths = torch.randint(shortest, LONGEST + 1, shape, generator=generator).unsqueeze(-1)
        positions = torch.arange(LONGEST)
        return tokens.where(positions < lengths, PAD).where(positions != lengths - 1, EOS)

    labels = sentences(14, SENTENCES)
    return Batch(sentences(11, 2, SENTENCES), F.pad(labels, (1, -1), value=EOS), labels)


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


def serve(contender: str) -> None:
    """Print the MiB that two steps add to the peak memory of a process that only created the
    model, then the (CPU, wall) seconds of a step for every line of standard input."""
    model, batch = small_model(), multi30k_like_batch()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), fused=True)

    def step() -> None:
        loss = CONTENDERS[contender](model, batch)
        (loss / batch.labels.ne(PAD).sum()).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    before = peak_mebibytes()
    step()
    step()
    print(peak_mebibytes() - before, flush=True)
    for _ in sys.stdin:
        print(*frame.clock(step)[0], flush=True)


def peak_mebibytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def numbers(process: subprocess.Popen[str], ask: str = "") -> list[float]:
    """Ask a process for a step, if at all, and return the numbers of its next line."""
    assert process.stdin and process.stdout
    process.stdin.write(ask)
    process.stdin.flush()
    line = process.stdout.readline()
    assert line, f"{process.args!r} ended with {process.wait()}"
    return [float(number) for number in line.split()]


def main() -> None:
    parser = frame.parser(__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="rounds (default 5)")
    parser.add_argument("--serve", choices=CONTENDERS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    torch.set_num_threads(2)
    if arguments.serve:
        serve(arguments.serve)
        return
    processes, memory = {}, {}
    for name in CONTENDERS:
        command = [sys.executable, "-m", "benchmarks.objective", "--serve", name]
        pipe = subprocess.PIPE
        processes[name] = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, text=True, cwd=frame.ROOT
        )
        (memory[name],) = numbers(processes[name])
    samples: dict[str, list[frame.Clock]] = {name: [] for name in CONTENDERS}
    for turn in range(arguments.repeats):
        for name in frame.rotated(list(CONTENDERS), turn):
            samples[name].append(frame.Clock(*numbers(processes[name], "\n")))
    for process in processes.values():
        process.communicate()
    rows = frame.compared(samples, "plain")
    for row in rows:
        own = memory[row["name"]]
        row |= {"MiB": own, "x plain's": own / memory["plain"]}
    frame.report(arguments, {"repeats": arguments.repeats}, rows)


if __name__ == "__main__":
    main()
