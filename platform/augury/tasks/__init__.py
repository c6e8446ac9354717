"""Base classes of tasks: learned vocabularies, subwords of `transformers`, classification."""
