"""Records of runs in MLflow; the run folder holds them until they are sent."""
