"""MLflow tracking: run folders are the source of truth and are synced to MLflow."""
