"""What can be swept: one module per question."""
