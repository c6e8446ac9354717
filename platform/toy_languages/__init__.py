"""Invented languages for built-in corpora: lexicons, inflection, grammar and random sentences.

This module has only the defaults of experiment files; the grammars are imported when sentences are
generated.
"""

LEXICON = 2000
"""Default lexicon size of the German-like language pair."""
NLI_LEXICON = 96
"""Default lexicon size of the NLI languages."""
NLI_LANGUAGES = ("qaa", "qab")
"""The NLI languages, which differ only in word order."""
