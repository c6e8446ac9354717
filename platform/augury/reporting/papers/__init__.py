"""Tables of papers: what is printed, what is measured, and both as a report."""
