"""The subprocess of COMET: a request as JSON in, scores as JSON out; does not import Augury."""

from __future__ import annotations

import json
import os
import sys
from importlib.metadata import version
from typing import Any


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return the version of COMET, and the scores of the segments if the request has any."""
    result: dict[str, Any] = {"version": version("unbabel-comet")}
    if "segments" in request:
        import torch
        from comet import download_model, load_from_checkpoint

        path = request["model"]
        model = load_from_checkpoint(path if os.path.isfile(path) else download_model(path))
        gpus = 1 if torch.cuda.is_available() else 0
        output = model.predict(
            request["segments"], request["batch_size"], gpus=gpus, progress_bar=False
        )
        result["scores"] = [float(score) for score in output.scores]
    return result


if __name__ == "__main__":
    json.dump(answer(json.load(sys.stdin)), sys.stdout)
    sys.stdout.write("\n")
