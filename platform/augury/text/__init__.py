"""Text processing: words, ciphers, noise, EDA, fuzzy search, alignment, subwords and tokens."""
