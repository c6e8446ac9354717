"""Base classes for families of tasks: learned tokenizers, classification with encoders of
`transformers`."""
