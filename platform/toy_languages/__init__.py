"""Toy languages for built-in corpora: one lexicon, one grammar of statements, and their sentences
in four languages.

This module has only the defaults of experiment files; the grammar is imported when sentences are
generated.
"""

LEXICON = 2000
"""Default size of the lexicon, and the largest one."""
NLI_LEXICON = 96
"""Default size for the NLI languages."""
NLI_LANGUAGES = ("qaa", "qab")
"""The NLI languages, which differ only in word order."""
