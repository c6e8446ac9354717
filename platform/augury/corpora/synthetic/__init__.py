"""The invented language pair of the built-in corpus: words, inflection, grammar and the drawing of sentences."""
