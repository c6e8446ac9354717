"""What tasks of a family share: a tokenizer of their own, classification with encoders of `transformers`."""
