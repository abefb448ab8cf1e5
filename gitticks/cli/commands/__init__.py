"""One module for each command; `gitticks.cli.catalogue` names them all."""
