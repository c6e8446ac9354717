"""Search spaces, one module per question."""
