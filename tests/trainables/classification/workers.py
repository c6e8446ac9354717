"""A program that trains a run on two workers.

python workers.py FILE    # the run, pickled
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import torch
import torch.distributed as dist

from augury.experiments.trial import train_here


def worker(rank: int, file: str) -> None:
    dist.init_process_group(
        "gloo", init_method=f"file://{file}.rendezvous", rank=rank, world_size=2
    )
    torch.set_num_threads(1)
    train_here(pickle.loads(Path(file).read_bytes()), torch.device("cpu"), lambda metrics: None)
    dist.destroy_process_group()


if __name__ == "__main__":
    torch.multiprocessing.start_processes(worker, (sys.argv[1],), nprocs=2, start_method="fork")
