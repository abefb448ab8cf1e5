"""Programs that keep the documents true; used by the Makefile, not part of the package."""
