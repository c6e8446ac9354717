"""Beam search: through CTranslate2, and through Hugging Face's `generate` for models that it
cannot load."""
