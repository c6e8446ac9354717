"""A program that trains a prepared classifier on two workers.

python workers.py FILE    # what `train_loop` is given, as JSON
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
import torch.distributed as dist

from trainables.nli.task import train_loop


def worker(rank: int, file: str) -> None:
    dist.init_process_group("gloo", init_method=f"file://{file}.rendezvous", rank=rank, world_size=2)
    torch.set_num_threads(1)
    train_loop(json.loads(Path(file).read_text()), torch.device("cpu"), lambda metrics: None)
    dist.destroy_process_group()


if __name__ == "__main__":
    torch.multiprocessing.start_processes(worker, (sys.argv[1],), nprocs=2, start_method="fork")
