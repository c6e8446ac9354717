"""Word alignment of parallel text, and orders of words that follow from it."""
