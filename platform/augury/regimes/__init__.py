"""How the losses over the views of an example combine; one file per regime, found by its name."""
