"""Classification of one or two sentences by an encoder of `transformers`."""
