"""Answers of causal models drawn by vLLM, an optional package that needs a GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec

from augury.core.errors import UserError
from augury.decoding.settings import Sampling
from augury.models import pretrained
from augury.models.settings import model_directory

MOST_TOKENS = 8192
"""The subwords of the longest prompt with its answer, for which vLLM sets memory aside."""


def load(
    checkpoint: str, revision: str | None, allow_pickle: bool, most: int
) -> Callable[[Sequence[Sequence[int]], Sequence[int], Sampling], list[list[int]]]:
    """Return a causal model as a function from ids of prompts, keys and settings to answers' ids.

    `most` is the number of subwords of the longest prompt with its answer. Every answer has a
    random generator of its own, with its key as the seed. UserError where vLLM is not installed, or
    this process sees no GPU.
    """
    require()
    if not allow_pickle:
        pretrained.require_safetensors(checkpoint)
    library = import_module("vllm")
    directory = model_directory(checkpoint)
    with pretrained.loading_errors(checkpoint):
        model = library.LLM(
            model=str(directory or checkpoint),
            revision=None if directory else pretrained.commit(checkpoint, revision) or revision,
            load_format="auto" if allow_pickle else "safetensors",
            max_model_len=most,
        )

    def answer(
        prompts: Sequence[Sequence[int]], keys: Sequence[int], sampling: Sampling
    ) -> list[list[int]]:
        settings = [
            library.SamplingParams(
                temperature=sampling.temperature,
                top_k=sampling.top_k or -1,
                top_p=sampling.top_p,
                max_tokens=sampling.max_length,
                seed=key,
            )
            for key in keys
        ]
        requests = [{"prompt_token_ids": list(prompt)} for prompt in prompts]
        answers = model.generate(requests, settings, use_tqdm=False) if requests else []
        return [list(of_prompt.outputs[0].token_ids) for of_prompt in answers]

    return answer


def require() -> None:
    """Raise UserError where vLLM cannot run in this process."""
    if find_spec("vllm") is None:
        raise UserError(
            "engine vllm needs the package vllm: pip install vllm, or set engine: transformers, "
            "which draws other answers from the same model"
        )
    import torch

    if not torch.cuda.is_available():
        raise UserError(
            "engine vllm needs a GPU, and this process sees none: run it where there is one, or "
            "set engine: transformers, which draws other answers from the same model"
        )
