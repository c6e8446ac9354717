"""Beam search by CTranslate2, and sampling by `transformers`."""
