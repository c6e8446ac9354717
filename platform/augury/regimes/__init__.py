"""Training regimes: how the views of an example are combined in a loss; one module per regime."""
