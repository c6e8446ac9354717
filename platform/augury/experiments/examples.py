"""Training examples: the rows of the corpus and of operators' records, in the views that the
regime reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from augury.augment.draw import NO_TOKEN, Symbols, TokenDraw
from augury.augment.operator import address
from augury.core.errors import UserError
from augury.core.rng import keys_of
from augury.core.store import Folder
from augury.corpora.corpus import Corpus, row_ranges
from augury.corpora.spec import Share
from augury.experiments.spec import Experiment
from augury.regimes.regime import SOURCE, TARGET, ViewGroup
from augury.text.tokens import Tokens
from augury.training.batching import padded


class Examples:
    """The rows of a training set under every view group of the regime.

    First the rows of the corpus, then those of all records; views have only the former. With
    `max_pieces`, a row is left out where any side or view is empty or longer, so that all views
    stay aligned. UserError where nothing is left.
    """

    def __init__(
        self,
        experiment: Experiment,
        tokens: Mapping[str, Folder],
        sides: Sequence[str],
        texts: Sequence[Folder],
        symbols: Callable[[], Symbols] | None = None,
        seed: int = 0,
    ):
        """`tokens` are a run's, by name; `texts` the corpus and the records, in the order of rows;
        `seed` the run's, on which draws depend."""
        self.view_groups: list[ViewGroup] = experiment.view_groups()
        self.operators = experiment.token_draws
        self.texts = list(texts)
        self.symbols = symbols
        self.max_pieces = experiment.example_limit
        self.seed = seed

        # A side goes on with the records of operators. The view of a draw has no text of its own:
        # it is the source, changed when it is read.
        records = experiment.record_origins
        parts = {side: [side, *(of_record(record, side) for record in records)] for side in sides}
        parts |= {view: [view if view in tokens else SOURCE] for view in experiment.view_names}
        self._text_of = {name: first for name, (first, *_) in parts.items()}
        self.tokens = {
            name: Tokens(*(tokens[part] for part in sources)) for name, sources in parts.items()
        }
        self.corpus_rows = len(Tokens(tokens[SOURCE]))
        self.rows, self.left_out = self._select_rows()
        self.mixture = mixture(experiment, self.texts)

        # Views exist of the corpus alone: a group that reads one has only these rows, which come
        # first.
        plain_rows = int((self.rows < self.corpus_rows).sum())
        plain = set(sides)
        self.group_rows = [
            len(self.rows) if set(group.views) <= plain else plain_rows
            for group in self.view_groups
        ]
        self._keys: dict[tuple[str, str], np.ndarray] = {}

    @property
    def rows_read(self) -> int:
        """The number of rows before any is left out."""
        return len(self.tokens[SOURCE])

    @property
    def texts_read(self) -> float:
        """The texts that an epoch reads: a group's views, once per predicted side, by weight."""
        pairs = dict.fromkeys(
            (view, group.target) for group in self.view_groups for view in group.views
        )
        read = [len(self.tokens[view]) for view, _ in pairs]
        if self.mixture is None:
            return sum(read)
        return sum(float(self.mixture.weights[:rows].sum()) for rows in read)

    @property
    def weights(self) -> np.ndarray | None:
        """How often an epoch reads every row that is read, (rows,); None: each once."""
        return None if self.mixture is None else self.mixture.weights[self.rows]

    def tag(self, row: int) -> str | None:
        """Return the symbol before the source of a row of the corpus and its records."""
        return None if self.mixture is None else self.mixture.tag(row)

    def lengths(self, side: str) -> np.ndarray:
        """Return the pieces of every row that is read, (rows,)."""
        return self.tokens[side].lengths[self.rows]

    def locate(self, examples: np.ndarray) -> list[tuple[ViewGroup, int]]:
        """Return the view group and the row, in the corpus or its records, of every example
        number."""
        groups, rows = np.divmod(examples, len(self.rows))  # as `plan_epoch` numbers them
        return [
            (self.view_groups[group], int(row))
            for group, row in zip(groups, self.rows[rows], strict=True)
        ]

    def ids(self, examples: np.ndarray) -> list[str]:
        """Return the ids of records and their views, for messages."""
        return [
            f"{self.record_ids[row]} ({'+'.join(group.views)})"
            for group, row in self.locate(examples)
        ]

    @cached_property
    def record_ids(self) -> list[str]:
        """The ids of all rows."""
        return self.column("id")

    def column(self, name: str) -> list[str]:
        """Return a column of all rows."""
        return [value for text in self.texts for value in Corpus(text).column(name)]

    def views(self, located: Sequence[tuple[ViewGroup, int]], epoch: int) -> list[list[np.ndarray]]:
        """Return the subwords of examples in every view that epoch `epoch` reads, (views,
        examples)."""
        rows = [row for _, row in located]
        views = []
        for view in range(len(self.view_groups[0].views)):
            names = [group.views[view] for group, _ in located]
            views.append(self.pieces(names, rows, epoch))
        return views

    def labels(self, located: Sequence[tuple[ViewGroup, int]], epoch: int) -> list[np.ndarray]:
        """Return the subwords that epoch `epoch` predicts of examples."""
        targets, rows = [group.target for group, _ in located], [row for _, row in located]
        return self.pieces(targets, rows, epoch, predicted=True)

    def pieces(
        self,
        names: Sequence[str],
        rows: Sequence[int],
        epoch: int,
        *,
        predicted: bool = False,
    ) -> list[np.ndarray]:
        """Return the subwords of rows, each of the side or view in `names`, as an epoch reads or
        predicts them."""
        pieces = [self.tokens[name][row] for name, row in zip(names, rows, strict=True)]
        for operator in self.operators:
            # One call for all rows of a text: draws are vectorised, and keyed by text and record.
            for changed in dict.fromkeys(names):
                if not _changes(operator, changed, predicted):
                    continue
                places = [place for place, name in enumerate(names) if name == changed]
                drawn = self._apply_draw(
                    operator,
                    changed,
                    [rows[place] for place in places],
                    [pieces[place] for place in places],
                    epoch,
                )
                for place, row in zip(places, drawn, strict=True):
                    pieces[place] = row
        return pieces

    def _apply_draw(
        self,
        operator: TokenDraw,
        name: str,
        rows: Sequence[int],
        pieces: Sequence[np.ndarray],
        epoch: int,
    ) -> list[np.ndarray]:
        """Return the subwords of rows of one side or view after a draw, unless they become too
        many."""
        symbols = self._symbols._replace(text=self._text_of[name])
        ids = padded(pieces, NO_TOKEN)
        # NO_TOKEN, -1, indexes the last entry, which is no ordinary id.
        ordinary = np.zeros(max(int(symbols.ordinary.max()), int(ids.max())) + 2, bool)
        ordinary[symbols.ordinary] = True
        drawn = operator.draw(
            ids, ordinary[ids], self._keys_of(operator, name)[list(rows)], epoch, symbols
        )
        max_pieces = self.max_pieces or drawn.shape[1]
        lengths = (drawn != NO_TOKEN).sum(1).tolist()
        return [
            row[:length] if length <= max_pieces else old
            for row, old, length in zip(drawn, pieces, lengths, strict=True)
        ]

    @cached_property
    def _symbols(self) -> Symbols:
        assert self.symbols is not None, "a task with draws gives the symbols of its tokenizer"
        return self.symbols()

    def _keys_of(self, operator: TokenDraw, name: str) -> np.ndarray:
        key = address(operator), name
        if key not in self._keys:
            self._keys[key] = keys_of(self.record_ids, *key, self.seed)
        return self._keys[key]

    def _select_rows(self) -> tuple[np.ndarray, dict[str, int]]:
        """Return the rows that are read, and the number of rows left out by reason."""
        max_pieces = self.max_pieces
        if max_pieces is None:
            return np.arange(self.rows_read), {}
        # Views lack the rows of records, which count as fitting.
        lengths = np.ones((len(self.tokens), self.rows_read), np.int64)
        for place, tokens in enumerate(self.tokens.values()):
            lengths[place, : len(tokens)] = tokens.lengths
        empty, long = (lengths == 0).any(0), (lengths > max_pieces).any(0)
        rows = np.flatnonzero(~(empty | long))
        if not len(rows):
            raise UserError(
                f"no training example has 1 to max_pieces={max_pieces} pieces on every side: "
                "raise max_pieces"
            )
        left_out = {
            "a side without pieces": int(empty.sum()),
            f"more than {max_pieces} pieces": int((long & ~empty).sum()),
        }
        return rows, {reason: count for reason, count in left_out.items() if count}


def of_record(name: str, side: str) -> str:
    """Return the name of a side of an operator's records among a run's tokens."""
    return name if side == SOURCE else f"{name} {side}"


def _changes(operator: TokenDraw, name: str, predicted: bool) -> bool:
    """Return whether a draw changes a text: its own view, or every text read or predicted (a
    source can be both)."""
    if operator.use == "view":
        return name == operator.name()
    return operator.side == "both" or predicted == (operator.side == TARGET)


class Mixture(NamedTuple):
    """Shares, and the index of every row's share, (rows,): first the corpus, then all records."""

    shares: Sequence[Share]
    of_row: np.ndarray

    @property
    def weights(self) -> np.ndarray:
        """The weight of every row, (rows,)."""
        return np.array([share.weight for share in self.shares])[self.of_row]

    def tag(self, row: int) -> str | None:
        """Return the symbol before the source of a row."""
        return self.shares[self.of_row[row]].tag


def mixture(experiment: Experiment, texts: Sequence[Folder]) -> Mixture | None:
    """Return the mixture of a training set, the corpus first and then records; None where all rows
    have equal shares.

    Records have the share that the section `mixture` names for their origin, otherwise that of
    their first parent.
    """
    if not experiment.is_weighted:
        return None
    corpus, *records = map(Corpus, texts)
    shares = [*experiment.corpus.shares.values(), *experiment.mixture.values(), Share()]
    texts_with_shares = list(experiment.corpus.shares)
    origins_with_shares = list(experiment.mixture)
    parts = [np.zeros(corpus.rows, np.int64)]
    for name, start, end in row_ranges(corpus):
        parts[0][start:end] = texts_with_shares.index(name)
    places: dict[str, int] | None = None
    for name, text in zip(experiment.record_origins, records, strict=True):
        if name in origins_with_shares:
            index = len(texts_with_shares) + origins_with_shares.index(name)
            parts.append(np.full(text.rows, index))
            continue
        places = places or dict(zip(corpus.column("id"), parts[0].tolist(), strict=True))
        lineages: Sequence[Any] = text.column("lineage")
        parents = [lineage["parents"] if lineage else [] for lineage in lineages]
        parts.append(
            np.array(
                [places.get(parent[0] if parent else "", len(shares) - 1) for parent in parents]
            )
        )
    return Mixture(shares, np.concatenate(parts))
