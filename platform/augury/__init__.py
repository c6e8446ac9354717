"""Augury: which text augmentation helps on my data, by how much, is the difference real, and what did it cost?"""

__version__ = "0.1.0"
