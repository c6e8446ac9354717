"""`augury analyze attack`: choose the radius of adversarial training on a trained run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING

from augury.cli.common import RUN_HELP, add_storage, integer, open_run, print_json
from augury.core.errors import UserError

if TYPE_CHECKING:
    from augury.analysis.attack import Strength

WORD = "attack"
DESCRIPTION = (
    "Choose the radius of adversarial training: the loss of a trained run with and without PGD, "
    "by radius."
)
EXAMPLE = """augury analyze attack my/baseline/1
  augury analyze attack my/baseline/1 --radii 0.002 0.005 0.01 --alpha-share 1.5"""


def selected(argv: Sequence[str]) -> bool:
    """Return whether these arguments of `augury analyze` select the calibration of attacks."""
    return any(
        argument == WORD and before not in ("--storage", "--test")
        for before, argument in pairwise(["", *argv])
    )


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `augury analyze attack`."""
    parser.prog = f"{parser.prog} {WORD}"
    parser.description = DESCRIPTION
    parser.epilog = f"example:\n  {EXAMPLE}"
    parser.add_argument("word", choices=[WORD], metavar=WORD, help=argparse.SUPPRESS)
    parser.add_argument(
        "run",
        metavar="RUN",
        help=f"a finished run without attack, such as the baseline: {RUN_HELP}",
    )
    add_storage(parser)
    parser.add_argument(
        "--radii",
        nargs="+",
        type=float,
        help="ε relative to the norm of the embeddings (default: 0.001 to 0.1)",
    )
    parser.add_argument(
        "--examples", type=integer, default=256, help="training examples to attack (default: 256)"
    )
    parser.add_argument("--steps", type=integer, default=3, help="steps of PGD, K (default: 3)")
    parser.add_argument(
        "--alpha-share",
        type=float,
        default=1.0,
        help="length of a step in units of ε / K (default: 1; above, it projects)",
    )
    parser.add_argument(
        "--rise",
        type=float,
        default=0.5,
        help="how much higher the loss may be under attack, in nats (default: 0.5)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the strength of the attack by radius, and the radius to take."""
    from augury.analysis.attack import RADII, calibrate, choose
    from augury.experiments.run import Run
    from augury.reporting import tables

    for name in ("examples", "steps", "rise", "alpha_share"):
        if getattr(arguments, name) <= 0:
            raise UserError(
                f"--{name.replace('_', '-')} {getattr(arguments, name)}: give more than 0"
            )
    radii = arguments.radii or RADII
    if min(radii) <= 0:
        raise UserError(f"--radii {min(radii):g}: a radius is more than 0")
    run_of = Run.read(open_run(arguments.run, arguments.storage)[1])
    strengths = calibrate(
        run_of,
        radii,
        examples=arguments.examples,
        steps=arguments.steps,
        alpha_share=arguments.alpha_share,
    )
    chosen = choose(strengths, arguments.rise)
    if arguments.json:
        print_json(
            {
                "radii": [asdict(strength) for strength in strengths],
                "rise": arguments.rise,
                "epsilon": chosen,
            }
        )
        return 0
    columns = [
        "ε, relative",
        "clean loss",
        "attacked loss",
        "rise",
        "‖r‖ / ‖embeddings‖",
        "steps projected",
    ]
    print(
        tables.plain_text([tables.table(columns, [_cells(strength) for strength in strengths])]),
        end="",
    )
    print(f"\n{_advice(chosen, strengths, arguments)}")
    return 0


def _cells(strength: Strength) -> list[str]:
    return [
        f"{strength.epsilon:g}",
        f"{strength.clean:.3f}",
        f"{strength.attacked:.3f}",
        f"{strength.rise:+.3f}",
        f"{100 * strength.perturbation:.2f} %",
        f"{100 * strength.projected_steps:.0f} %",
    ]


def _advice(
    chosen: float | None, strengths: Sequence[Strength], arguments: argparse.Namespace
) -> str:
    rise = f"{arguments.rise:g} nats"
    if chosen is None:
        return (
            f"The smallest radius raises the loss by more than {rise}: give smaller --radii, or a "
            "larger --rise."
        )
    if chosen == strengths[-1].epsilon:
        return f"No radius raises the loss by more than {rise}: give larger --radii."
    settings = f"relative: true, epsilon: {chosen:.2g}, "
    settings += f"alpha_share: {arguments.alpha_share:g}, steps: {arguments.steps}"
    return (
        f"The loss rises by {rise} at ε = {chosen:.2g}: regime: {{name: adversarial, {settings}}}"
    )
