"""Train a translation model with `transformers` and `sentencepiece`: a short, fair script.

    python transformers_translation.py SOURCE TARGET VALID_SOURCE VALID_TARGET SETTINGS

The texts have a sentence a line; the settings are a JSON object (`benchmarks/time_to_bleu.py`).
Prints a line of JSON for every validation: updates, and the BLEU
of greedy translations. What people write who know the libraries: one joint BPE model, batches of
similar length, the fused loss of torch, no gradients in validation, sentences of similar length
translated together.
"""

from __future__ import annotations

import io
import json
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import sacrebleu
import sentencepiece
import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence
from transformers import MarianConfig, MarianMTModel

PAD, EOS, UNK = 0, 1, 2
Pair = tuple[list[int], list[int]]


def learn(lines: Sequence[str], size: int) -> sentencepiece.SentencePieceProcessor:
    """Return a BPE model of the text."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        vocab_size=size,
        model_type="bpe",
        character_coverage=1.0,
        pad_id=PAD,
        eos_id=EOS,
        unk_id=UNK,
        bos_id=-1,
        minloglevel=2,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def model_of(
    size: int,
    layers: int,
    hidden: int,
    feedforward: int,
    heads: int,
    attention_dropout: float = 0.1,
) -> MarianMTModel:
    return MarianMTModel(
        MarianConfig(
            vocab_size=size,
            decoder_vocab_size=size,
            d_model=hidden,
            encoder_layers=layers,
            decoder_layers=layers,
            encoder_attention_heads=heads,
            decoder_attention_heads=heads,
            encoder_ffn_dim=feedforward,
            decoder_ffn_dim=feedforward,
            dropout=0.3,
            attention_dropout=attention_dropout,
            activation_function="relu",
            scale_embedding=True,
            share_encoder_decoder_embeddings=False,
            tie_word_embeddings=True,
            pad_token_id=PAD,
            eos_token_id=EOS,
            decoder_start_token_id=EOS,
            forced_eos_token_id=None,
            max_position_embeddings=512,
            attn_implementation="eager",
        )
    )


def batches(pairs: Sequence[Pair], max_tokens: int, seed: int) -> Iterator[list[Pair]]:
    """Yield an epoch of batches of similar length, at most so many tokens with padding."""
    chance = random.Random(seed)
    rows = sorted(pairs, key=lambda pair: (max(map(len, pair)), chance.random()))
    plan: list[list[Pair]] = [[]]
    for pair in rows:
        if (len(plan[-1]) + 1) * max(map(len, pair)) > max_tokens:
            plan.append([])
        plan[-1].append(pair)
    chance.shuffle(plan)
    yield from plan


def padded(rows: Sequence[Sequence[int]]) -> torch.Tensor:
    return pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD)


def loss(model: MarianMTModel, batch: Sequence[Pair]) -> torch.Tensor:
    sources, targets = (padded(side) for side in zip(*batch, strict=True))
    shifted = F.pad(targets, (1, -1), value=EOS)
    logits = model(
        input_ids=sources,
        attention_mask=sources != PAD,
        decoder_input_ids=shifted,
        use_cache=False,
    ).logits
    return F.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=PAD, label_smoothing=0.1
    )


@torch.no_grad()
def translate(
    model: MarianMTModel,
    sources: Sequence[list[int]],
    spm: sentencepiece.SentencePieceProcessor,
    rows: int = 64,
) -> list[str]:
    """Return translations, sentences of similar length together."""
    model.eval()
    order = sorted(range(len(sources)), key=lambda row: len(sources[row]))
    outputs = [""] * len(sources)
    for start in range(0, len(order), rows):
        chosen = order[start : start + rows]
        batch = padded([sources[row] for row in chosen])
        produced = model.generate(
            input_ids=batch,
            attention_mask=batch != PAD,
            num_beams=1,
            max_new_tokens=2 * batch.shape[1] + 10,
        )
        for row, ids in zip(chosen, produced.tolist(), strict=True):
            outputs[row] = spm.decode([index for index in ids if index not in (PAD, EOS)])
    model.train()
    return outputs


def main() -> None:
    *files, settings = sys.argv[1:]
    given = SimpleNamespace(**json.loads(settings))
    torch.set_num_threads(given.threads)
    torch.manual_seed(1)
    texts = [path.read_text(encoding="utf-8").splitlines() for path in map(Path, files)]
    spm = learn([*texts[0], *texts[1]], given.vocabulary)
    encoded = [[[*ids, EOS] for ids in spm.encode(text)] for text in texts]
    pairs, valid = list(zip(*encoded[:2], strict=True)), encoded[2]
    model = model_of(given.vocabulary, *given.sizes).train()
    optimizer = torch.optim.Adam(
        model.parameters(), lr=given.rate, betas=(0.9, 0.98), eps=1e-9, fused=True
    )
    update = epoch = 0
    while update < given.updates:
        epoch += 1
        for batch in batches(pairs, given.max_tokens, epoch):
            update += 1
            rate = given.rate * min(update / given.warmup, (given.warmup / update) ** 0.5)
            for group in optimizer.param_groups:
                group["lr"] = rate
            loss(model, batch).backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            if update % given.every == 0:
                bleu = sacrebleu.corpus_bleu(translate(model, valid, spm), [texts[3]]).score
                print(json.dumps({"update": update, "bleu": bleu}), flush=True)
            if update == given.updates:
                break


if __name__ == "__main__":
    main()
