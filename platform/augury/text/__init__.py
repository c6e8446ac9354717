"""Text processing: ciphers, noise, EDA, word alignment, vocabularies and tokenisation."""
