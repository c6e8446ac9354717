"""Easy data augmentation: its four operations, synonyms and stop words."""
