"""Processors that differ where they round differently."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest
import torch

from augury.training import meter

GENOA = """\
processor	: 0
vendor_id	: AuthenticAMD
cpu family	: 25
model		: 17
model name	: AMD EPYC 9R14
flags		: fpu sse2 avx2 avx512f avx512_bf16 avx512_vnni
"""
CAPABILITY = torch.backends.cpu.get_cpu_capability()


def test_the_model_the_family_and_the_vector_instructions_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "cpuinfo"
    monkeypatch.setattr(meter, "CPUINFO", file)
    unknown = f"{platform.processor() or platform.machine()}, {CAPABILITY}"
    assert meter.processor() == unknown  # macOS
    for text, name in (
        (GENOA + "\n" + GENOA, f"AMD EPYC 9R14 (25/17), {CAPABILITY} bf16"),
        (GENOA.replace(" avx512_bf16", ""), f"AMD EPYC 9R14 (25/17), {CAPABILITY}"),
        ("processor	: 0\nFeatures	: fp asimd bf16\n", unknown),  # ARM under Linux
    ):
        file.write_text(text)
        assert meter.processor() == name
