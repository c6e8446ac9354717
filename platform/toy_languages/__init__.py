"""The invented languages of the built-in corpora: words, inflection, grammar and the drawing of sentences.

The defaults of experiment files are here; the grammars are imported when sentences are made.
"""

LEXICON = 2000
"""Words of the German-like language pair, by default."""
NLI_LEXICON = 96
"""Words of the two languages of inferences, by default."""
NLI_LANGUAGES = ("qaa", "qab")
"""The languages of inferences, the same words in different orders."""
