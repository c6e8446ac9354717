"""Measure the cost of adversarial training steps (forward, backward, AdamW) of a classifier with
XLM-R base's shape.

    python -m benchmarks.adversarial [--precision bf16] [--repeats 3] [--json]

    plain           cross-entropy
    PGD K=1         augury.regimes.adversarial
    PGD K=3         the same with three steps
    PGD K=3, naive  the usual loop, whose backward passes compute all parameters' gradients

First, the gradients of the regime and of the naive loop with the same dropout are compared; they
must be equal up to rounding.

All contenders train the same model on the same batch with the dropout of training, in rotating
order, so that other load affects them equally. `x plain` is the median over rounds of the ratio of
CPU seconds to those of `plain` in the same round. The vocabulary is small because its cost is the
same for all contenders and would move the ratios closer together; that of XLM-R has 250,002
subwords.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "2"
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"  # idle threads sleep: spinning would count as CPU seconds

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from transformers import XLMRobertaConfig, XLMRobertaForSequenceClassification

from augury.regimes.adversarial import Adversarial
from augury.regimes.plain import Plain
from augury.regimes.regime import Embedded, Progress, Rows
from augury.training.dropout import Dropout
from benchmarks import frame

VOCABULARY, PAD, LABELS = 8_000, 1, 3
PAIRS, LONGEST = 4, 128


class Batch(NamedTuple):
    ids: Tensor  # (pairs, length)
    labels: Tensor  # (pairs)


class Classifier:
    """A transformers sequence classifier with the interface that regimes expect.

    Its only view is the batch.
    """

    def __init__(self) -> None:
        config = XLMRobertaConfig(
            vocab_size=VOCABULARY,
            hidden_size=768,
            num_hidden_layers=12,
            num_attention_heads=12,
            intermediate_size=3072,
            max_position_embeddings=LONGEST + 2,
            type_vocab_size=1,
            num_labels=LABELS,
            pad_token_id=PAD,
        )
        config._attn_implementation = "eager"  # as in training on a CPU
        torch.manual_seed(0)
        self.module = XLMRobertaForSequenceClassification(config).train()

    def embedded(self, batch: Batch, view: int) -> Embedded:
        return Embedded(self._words(batch.ids).detach(), batch.ids != PAD)

    def rows(self, batch: Batch, views: Sequence[int], perturbation: Tensor | None = None) -> Rows:
        mask = batch.ids != PAD
        words = self._words(batch.ids)
        output = self.module.roberta(
            inputs_embeds=words if perturbation is None else words + perturbation,
            attention_mask=mask.long(),
            position_ids=mask.cumsum(1) * mask + PAD,
        )
        head = self.module.classifier
        pooled = torch.tanh(head.dense(head.dropout(output.last_hidden_state[:, 0])))
        return Rows(
            head.dropout(pooled)[None], head.out_proj.weight, head.out_proj.bias, batch.labels
        )

    def _words(self, ids: Tensor) -> Tensor:
        return self.module.roberta.embeddings.word_embeddings(ids)


def nli_like_batch() -> Batch:
    """Return pairs of 96 to 128 subwords, like a length-bucketed batch."""
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(4, VOCABULARY, (PAIRS, LONGEST), generator=generator)
    lengths = torch.linspace(96, LONGEST, PAIRS).round().unsqueeze(-1)
    labels = torch.randint(LABELS, (PAIRS,), generator=generator)
    return Batch(ids.where(torch.arange(LONGEST) < lengths, PAD), labels)


def naive(model: Classifier, batch: Batch) -> Tensor:
    """Return the loss of PGD with `backward`, which computes and discards the gradients of all
    parameters."""
    mask = (batch.ids != PAD).unsqueeze(-1)
    perturbation = torch.zeros_like(model.embedded(batch, 0).embeddings)
    for _ in range(3):
        perturbation.requires_grad_()
        Plain(label_smoothing=0).loss(
            _Perturbed(model, perturbation), batch, Progress(0)
        ).total.backward()
        assert perturbation.grad is not None
        gradient = perturbation.grad * mask
        norm = gradient.flatten(1).norm(dim=1).view(-1, 1, 1)
        perturbation = perturbation.detach() + gradient / norm
        length = perturbation.flatten(1).norm(dim=1).view(-1, 1, 1)
        perturbation = perturbation * (3 / length).clamp(max=1)
        model.module.zero_grad(set_to_none=True)
    return Plain(label_smoothing=0).loss(_Perturbed(model, perturbation), batch, Progress(0)).total


class _Perturbed:
    def __init__(self, model: Classifier, perturbation: Tensor):
        self.model, self.perturbation = model, perturbation

    def rows(self, batch: Batch, views: Sequence[int]) -> Rows:
        return self.model.rows(batch, views, self.perturbation)


def loss_of(regime: Plain | Adversarial) -> Callable[[Classifier, Batch], Tensor]:
    return lambda model, batch: regime.loss(model, batch, Progress(0)).total


CONTENDERS: dict[str, Callable[[Classifier, Batch], Tensor]] = {
    "plain": loss_of(Plain(label_smoothing=0)),
    "PGD K=1": loss_of(Adversarial(label_smoothing=0, steps=1)),
    "PGD K=3": loss_of(Adversarial(label_smoothing=0)),
    "PGD K=3, naive": naive,
}


def disagreement(model: Classifier, batch: Batch) -> float:
    """Return the relative difference between the gradients of the regime and the naive loop."""
    gradients = []
    for contender in ("PGD K=3", "PGD K=3, naive"):
        model.module.zero_grad(set_to_none=True)
        with Dropout(seed=1):
            loss = CONTENDERS[contender](model, batch)
        loss.backward()
        by_parameter = [p.grad.flatten() for p in model.module.parameters() if p.grad is not None]
        gradients.append(torch.cat(by_parameter))
    model.module.zero_grad(set_to_none=True)
    regime, naive_loop = gradients
    return float((regime - naive_loop).norm() / naive_loop.norm())


def main() -> None:
    parser = frame.parser(__doc__)
    parser.add_argument("--repeats", type=int, default=3, help="rounds (default 3)")
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    arguments = parser.parse_args()
    torch.set_num_threads(2)
    model, batch, dropout = Classifier(), nli_like_batch(), Dropout(seed=0)
    difference = disagreement(model, batch)
    assert difference < 1e-5, (
        f"the gradients of the regime and the naive loop differ by {difference:.1e} of their norm"
    )
    optimizer = torch.optim.AdamW(model.module.parameters(), lr=1e-5, fused=True)

    def step(contender: str) -> None:
        bf16 = arguments.precision == "bf16"
        with dropout, torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            loss = CONTENDERS[contender](model, batch)
        (loss / len(batch.labels)).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    step("plain")
    steps = {name: functools.partial(step, name) for name in CONTENDERS}
    setting = {"precision": arguments.precision, "disagreement": f"{difference:.1e}"}
    rows = frame.compared(frame.in_turn(steps, arguments.repeats), "plain")
    frame.report(arguments, setting, rows)


if __name__ == "__main__":
    main()
