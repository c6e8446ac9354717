"""The processor of a machine, whose rounding changes scores as much as another seed does."""

from __future__ import annotations

import platform
from pathlib import Path

import torch

CPUINFO = Path("/proc/cpuinfo")


def processor() -> str:
    """Return the processor's model and vector instructions: `AMD EPYC (26/2), AVX512 bf16`."""
    lines = CPUINFO.read_text().splitlines() if CPUINFO.exists() else []
    facts = {}
    for line in lines:
        name, _, value = line.partition(":")
        facts[name.strip()] = value.strip()
    model = facts.get("model name") or platform.processor() or platform.machine()
    if "cpu family" in facts:  # virtual machines often hide the rest of the name
        model += f" ({facts['cpu family']}/{facts.get('model', '')})"
    bf16 = " bf16" if "avx512_bf16" in facts.get("flags", "") else ""
    return f"{model}, {torch.backends.cpu.get_cpu_capability()}{bf16}"
