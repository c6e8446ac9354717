"""Decode the test sets of a finished run with other settings than those it was scored with.

Outputs are kept.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, NamedTuple

from augury.core import config
from augury.core.integrity import Damaged
from augury.core.progress import say
from augury.core.store import Folder
from augury.decoding.settings import PLAIN, ViewDecoding
from augury.experiments.run import Run
from augury.experiments.task import find_task

KIND = "decodings"
"""The folder of outputs within that of a run."""


class DecodingResult(NamedTuple):
    """The outputs for a test set, and the seconds that they took, with loading the model but
    without converting it."""

    outputs: list[str]
    seconds: float
    processor_seconds: float
    """The processor time of this process, without Ray's workers and the GPU."""


def decode_test_set(run: Run, test: str, decoding: ViewDecoding) -> DecodingResult:
    """Return the outputs of a run for a test set under a decoding, decoded unless they are kept
    from before."""
    corpus = run.corpus(test)
    settings = {key: value for key, value in decoding.to_dict().items() if key != "batch_tokens"}
    tag = run.experiment.corpus.tag(test)
    address = config.address(
        {"corpus": corpus.folder.name, "decoding": settings, **({"tag": tag} if tag else {})}
    )
    folder, file = run.folder.sub(KIND), f"{address}.json"
    if (content := _kept(folder, file)) is None:
        how = f" by {decoding.combine}" if decoding.combine else ""
        say(f"decoding {test} with seed {run.seed} from {', '.join(decoding.views) or PLAIN}{how}")
        task = find_task(run.experiment.task)
        run_with_decoding = replace(
            run, experiment=run.experiment.model_copy(update={"decoding": decoding})
        )
        # Work that is done once for all test sets, such as converting the model, is not timed.
        task.translate(run_with_decoding, corpus.column("source")[:1])
        began, processor_began = time.monotonic(), time.process_time()
        outputs = task.outputs(run_with_decoding, corpus, test)
        result = DecodingResult(
            outputs, time.monotonic() - began, time.process_time() - processor_began
        )
        facts = {"test": test, "corpus": corpus.folder.name, "decoding": settings}
        content = {**facts, **result._asdict()}
        folder.write_record(file, content)
    return DecodingResult(*(content[name] for name in DecodingResult._fields))


def _kept(folder: Folder, file: str) -> dict[str, Any] | None:
    """Return the content of a file of outputs; None where there is none, or, with a warning, where
    it is damaged."""
    if not folder.exists(file):
        return None
    try:
        return folder.read_record(file)
    except Damaged as error:
        say(f"warning: {error}: it is made anew")
        return None
