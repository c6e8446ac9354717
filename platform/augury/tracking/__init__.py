"""MLflow tracking: run folders are the source of truth and are synced to MLflow.

`tracker` follows the runs of a command in the background and calls `sync`, which any process may
call at any time; `runs` and `sweeps` say what MLflow should have of a folder, from the record and
the summary stored there, and `client` sends what it lacks.
"""
