"""The experiment and its runs: preparation, preflight, training, evaluation, and what is written down of them."""
