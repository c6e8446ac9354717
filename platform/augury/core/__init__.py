"""The foundation of all packages: errors, randomness, storage, locks, typed configuration,
execution, progress."""
