"""What Ray Train and Ray Tune run: one package per task."""
