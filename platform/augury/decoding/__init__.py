"""Beam search by CTranslate2, or by Hugging Face's `generate` where CTranslate2 lacks the model."""
