"""Subword pieces: vocabularies that are learned here, and tokenizers of `transformers`."""
