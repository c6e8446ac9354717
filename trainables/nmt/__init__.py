"""Neural machine translation: a Transformer over subwords, trained under any regime over enciphered views."""

from trainables.nmt.config import Config
from trainables.nmt.evaluation import evaluate, export, translate
from trainables.nmt.preparation import address, prepare
from trainables.nmt.task import train_loop

__all__ = ["Config", "address", "evaluate", "export", "prepare", "train_loop", "translate"]
