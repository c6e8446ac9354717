"""Reading, checking and storing text; the built-in corpus; known public sets."""
