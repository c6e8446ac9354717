"""Text: normalisation, alphabets and ciphers, vocabularies, word alignment."""
