"""Answers of causal models: as `transformers` writes them, and by their key alone."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GPT2Config,
    GPT2LMHeadModel,
)

from augury.core.store import Store
from augury.decoding.checkpoint import LanguageModel
from augury.decoding.settings import Sampling
from tests.language_models import CHAT, END, UNKNOWN, save_bigrams, save_words

STORE = Store("/nowhere")
WORDS = ["a", "b", "c", "d", "e", "f", ":", "user", "assistant"]
PROMPTS = ["a b c :", "b :", "c d e f a b c d :", "", "f f a :"]


def random_model(folder: Path) -> str:
    """A model that has learned nothing, with logits far from even."""
    vocabulary = {word: index for index, word in enumerate([END, UNKNOWN, "<pad>", *WORDS])}
    torch.manual_seed(1)
    sizes = {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64}
    model = GPT2LMHeadModel(GPT2Config(vocab_size=12, **sizes, eos_token_id=0, bos_token_id=0))
    with torch.no_grad():
        for weights in model.parameters():
            weights.mul_(3)
    model.save_pretrained(folder)
    save_words(folder, vocabulary)
    return str(folder)


def test_temperature_zero_is_the_greedy_search_of_transformers(tmp_path: Path) -> None:
    """Each prompt alone; together they are padded, and a model's own penalties do not see it."""
    path = random_model(tmp_path)
    model = AutoModelForCausalLM.from_pretrained(path)
    tokenizer = AutoTokenizer.from_pretrained(path)
    model.generation_config.repetition_penalty = 1.4
    model.save_pretrained(path)
    greedy = Sampling(temperature=0.0, max_length=9)
    answers = LanguageModel(path).sampler(STORE)(PROMPTS, [1, 2, 3, 4, 5], greedy)
    expected = []
    for prompt in filter(None, PROMPTS):
        ids = tokenizer(prompt, return_tensors="pt")
        written = model.generate(**ids, do_sample=False, max_new_tokens=9, pad_token_id=0)
        new = written[0, ids["input_ids"].shape[1] :]
        expected.append(tokenizer.decode(new, skip_special_tokens=True).strip())
    assert [answer for answer in answers if answer] == expected and len({*expected}) > 2
    assert answers[3] == ""


def test_a_chat_template_is_applied_where_there_is_one(tmp_path: Path) -> None:
    """The model answers differently to what ends with the words of the template."""
    following = {":": {"a": 1.0}, "a": {END: 1.0}, "b": {"c": 1.0}, "c": {END: 1.0}}
    path = save_bigrams(tmp_path, {**following, "user": {END: 1}, "assistant": {END: 1}}, chat=CHAT)
    answers = LanguageModel(path).sampler(STORE)(["b"], [1], Sampling(max_length=4))
    assert answers == ["a"]


def test_a_prompt_without_room_for_its_answer_has_none(tmp_path: Path) -> None:
    prompts = ["a " * 54, "a " * 55]
    draw = LanguageModel(random_model(tmp_path)).sampler(STORE)
    answers = draw(prompts, [1, 2], Sampling(max_length=10))
    assert [answer is None for answer in answers] == [False, True]
