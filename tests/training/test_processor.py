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

processor	: 1
vendor_id	: AuthenticAMD
cpu family	: 25
model		: 17
model name	: AMD EPYC 9R14
flags		: fpu sse2 avx2 avx512f avx512_bf16 avx512_vnni
"""

CAPABILITY = torch.backends.cpu.get_cpu_capability()


@pytest.fixture
def cpuinfo(tmp_path, monkeypatch) -> Path:
    file = tmp_path / "cpuinfo"
    monkeypatch.setattr(meter, "CPUINFO", file)
    return file


def test_the_model_the_family_and_the_vector_instructions_are_named(cpuinfo):
    cpuinfo.write_text(GENOA)
    assert meter.processor() == f"AMD EPYC 9R14 (25/17), {CAPABILITY} bf16"


def test_virtual_machines_that_hide_the_name_differ_by_family_and_model(cpuinfo):
    cpuinfo.write_text(GENOA)
    first = meter.processor()
    cpuinfo.write_text(GENOA.replace("cpu family	: 25", "cpu family	: 26"))
    assert meter.processor() == first.replace("25/17", "26/17")


def test_a_processor_without_bf16_is_another(cpuinfo):
    cpuinfo.write_text(GENOA.replace(" avx512_bf16", ""))
    assert meter.processor() == f"AMD EPYC 9R14 (25/17), {CAPABILITY}"


@pytest.mark.parametrize(
    "text", [None, "processor	: 0\nBogoMIPS	: 243.75\nFeatures	: fp asimd bf16\n"]
)
def test_a_machine_that_names_no_model_has_its_architecture(cpuinfo, text):
    """No such file (macOS), and an ARM processor under Linux."""
    if text is not None:
        cpuinfo.write_text(text)
    assert meter.processor() == f"{platform.processor() or platform.machine()}, {CAPABILITY}"


def test_this_machine_is_named_the_same_each_time():
    assert meter.processor() == meter.processor()
    assert CAPABILITY in meter.processor()
