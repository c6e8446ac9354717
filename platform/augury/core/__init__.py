"""What all packages are built on: errors, randomness, storage, locks, typed configuration, execution, progress."""
