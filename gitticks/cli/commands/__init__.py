"""One module per command or group of commands; `gitticks.cli.catalogue` lists them."""
