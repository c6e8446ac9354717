"""The engine: planned batches, schedule, loop, checkpoints and launchers; it knows no task."""
