"""What an experiment is: its settings, systems, task and cost; one run of it."""
