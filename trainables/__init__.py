"""The tasks that Ray Train and Ray Tune run, one package each."""
