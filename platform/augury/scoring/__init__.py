"""How good a translation is, and how sure one can be of it: corpus metrics with bootstrap intervals."""
