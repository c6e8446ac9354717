"""Vocabularies of sentencepiece subwords, shared by all views of a corpus."""
