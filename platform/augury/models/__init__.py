"""Settings of models shared by all tasks, and pretrained models."""
