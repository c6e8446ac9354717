"""Times that add up over interruptions, and processors that differ where they round differently."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest
import torch

from augury.training import meter
from augury.training.checkpoint import Position

GENOA = """\
processor	: 0
vendor_id	: AuthenticAMD
cpu family	: 25
model		: 17
model name	: AMD EPYC 9R14
flags		: fpu sse2 avx2 avx512f avx512_bf16 avx512_vnni
"""
CAPABILITY = torch.backends.cpu.get_cpu_capability()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (GENOA + "\n" + GENOA, "AMD EPYC 9R14 (25/17), {} bf16"),
        (
            GENOA.replace("cpu family	: 25", "cpu family	: 26"),
            "AMD EPYC 9R14 (26/17), {} bf16",
        ),
        (GENOA.replace(" avx512_bf16", ""), "AMD EPYC 9R14 (25/17), {}"),
        (None, f"{platform.processor() or platform.machine()}, {{}}"),  # macOS
        (
            "processor	: 0\nBogoMIPS	: 243.75\nFeatures	: fp asimd bf16\n",  # ARM under Linux
            f"{platform.processor() or platform.machine()}, {{}}",
        ),
    ],
)
def test_the_model_the_family_and_the_vector_instructions_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, name: str
) -> None:
    monkeypatch.setattr(meter, "CPUINFO", tmp_path / "cpuinfo")
    if text is not None:
        (tmp_path / "cpuinfo").write_text(text)
    assert meter.processor() == name.format(CAPABILITY)


def test_times_are_added_to_those_before_an_interruption() -> None:
    position = Position("toy", seed=1, world=1, seconds=200.0, cpu_seconds=100.0)
    meter.Clock(position).stamp(position)
    assert 200 < position.seconds < 230 and 100 <= position.cpu_seconds < 130
