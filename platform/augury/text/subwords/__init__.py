"""Tokenizers of `transformers`: their training and their use on text."""
