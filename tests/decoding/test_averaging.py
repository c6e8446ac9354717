"""Several views of a sentence in one beam."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import MarianMTModel

from augury.core.errors import UserError
from augury.decoding.generate import generate, n_best, search_options
from augury.decoding.search import Hypothesis
from augury.decoding.settings import Decoding
from tests.hypotheses import assert_same

pytestmark = pytest.mark.trains

PAD, EOS, VOCABULARY = 1, 2, 48
DECODING = Decoding(beam=4, length_penalty=0.6, max_length=20)


@pytest.fixture(scope="module")
def views(sources: list[list[int]]) -> list[list[list[int]]]:
    """Three sources of every sentence, of other lengths."""
    return [sources[:24], [source[1:] or source for source in sources[:24]], sources[24:48]]


def log_probability(model: MarianMTModel, source: Sequence[int], ids: Sequence[int]) -> float:
    """The log-probability of a hypothesis with its end, given one source."""
    target = [*ids, EOS][: DECODING.max_length]
    encoded, prefix = torch.tensor([[*source, EOS]]), torch.tensor([[EOS, *target[:-1]]])
    with torch.no_grad():
        logits = model(input_ids=encoded, decoder_input_ids=prefix).logits[0]
    logits[:, PAD] = logits[0, EOS] = float("-inf")
    return float(logits.log_softmax(1)[range(len(target)), target].sum())


def best(
    model: MarianMTModel, views: Sequence[Sequence[Sequence[int]]], decoding: Decoding
) -> list[Hypothesis]:
    return [first for first, *_ in n_best(model, views, decoding)]


@pytest.mark.parametrize("beam", [1, 4])
def test_one_view_is_the_search_of_plain_transformers(
    trained: MarianMTModel, sources: list[list[int]], beam: int
) -> None:
    decoding = DECODING.model_copy(update={"beam": beam, "batch_tokens": 10_000})
    ordered = sorted(sources, key=len, reverse=True)
    rows = [torch.tensor([*source, EOS]) for source in ordered]
    ids = pad_sequence(rows, batch_first=True, padding_value=PAD)
    expected = trained.generate(
        input_ids=ids, attention_mask=ids != PAD, **search_options(decoding, [PAD])
    )
    bodies = [
        tuple(row[1 : row[1:].index(EOS) + 1] if EOS in row[1:] else row[1:])
        for row in expected.tolist()
    ]
    outputs = [hypothesis.ids for hypothesis in best(trained, [ordered], decoding)]
    differing = sum(ids != body for ids, body in zip(outputs, bodies, strict=True))
    assert differing <= 1  # floats may tie


@pytest.mark.parametrize("beam", [1, 4])
def test_views_that_are_equal_are_one(
    trained: MarianMTModel, views: list[list[list[int]]], beam: int
) -> None:
    decoding = DECODING.model_copy(update={"beam": beam})
    assert_same(best(trained, [views[0]] * 3, decoding), generate(trained, views[0], decoding))


def test_the_order_of_views_makes_no_difference(
    trained: MarianMTModel, views: list[list[list[int]]]
) -> None:
    expected = best(trained, views, DECODING)
    assert [hypothesis.ids for hypothesis in expected] != [
        h.ids for h in generate(trained, views[0], DECODING)
    ]
    for order in ((2, 0, 1), (1, 0, 2)):
        assert_same(best(trained, [views[view] for view in order], DECODING), expected)


def test_the_score_is_the_mean_of_what_the_views_say(
    trained: MarianMTModel, views: list[list[list[int]]]
) -> None:
    for of_sentence, hypothesis in zip(
        zip(*views, strict=True), best(trained, views, DECODING), strict=True
    ):
        mean = sum(
            log_probability(trained, source, hypothesis.ids) for source in of_sentence
        ) / len(views)
        length = min(len(hypothesis.ids) + 1, DECODING.max_length)
        assert hypothesis.score == pytest.approx(mean / length**DECODING.length_penalty, abs=1e-4)


def test_the_search_is_one_over_the_mean(
    trained: MarianMTModel, views: list[list[list[int]]]
) -> None:
    """Against a greedy search without batches or caches."""
    decoding = Decoding(beam=1, max_length=14)
    differing = 0
    for of_sentence, hypothesis in zip(
        zip(*views, strict=True), best(trained, views, decoding), strict=True
    ):
        ids: list[int] = []
        while len(ids) < decoding.max_length and EOS not in ids:
            rows = []
            for source in of_sentence:
                with torch.no_grad():
                    encoded, prefix = torch.tensor([[*source, EOS]]), torch.tensor([[EOS, *ids]])
                    logits = trained(input_ids=encoded, decoder_input_ids=prefix).logits[0, -1]
                logits[[PAD, *([] if ids else [EOS])]] = float("-inf")
                rows.append(logits.log_softmax(0))
            ids.append(int(torch.stack(rows).mean(0).argmax()))
        differing += hypothesis.ids != tuple(index for index in ids if index != EOS)
    assert differing <= 1  # floats may tie


def test_batches_make_no_difference(trained: MarianMTModel, views: list[list[list[int]]]) -> None:
    expected = best(trained, views, DECODING)
    assert_same(best(trained, views, DECODING.model_copy(update={"batch_tokens": 60})), expected)


def test_several_hypotheses_come_best_first(
    trained: MarianMTModel, views: list[list[list[int]]]
) -> None:
    for several, first in zip(
        n_best(trained, views, DECODING, count=3), best(trained, views, DECODING), strict=True
    ):
        assert len({hypothesis.ids for hypothesis in several}) == 3
        assert several[0].score == pytest.approx(first.score, abs=1e-5)
        assert sorted((hypothesis.score for hypothesis in several), reverse=True) == pytest.approx(
            [hypothesis.score for hypothesis in several], abs=1e-5
        )


def test_sentences_that_are_empty_or_too_long(
    trained: MarianMTModel, views: list[list[list[int]]]
) -> None:
    first = best(trained, [[views[0][0]], [views[1][0]]], DECODING)
    hypotheses = best(trained, [[[], views[0][0]], [[], views[1][0]]], DECODING)
    assert_same(hypotheses, [Hypothesis((), 0.0), *first])
    with pytest.raises(UserError, match="1 of 1 sources exceed"):
        n_best(trained, [[[5]], [[5] * 64]], DECODING)
