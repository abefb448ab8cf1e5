"""Measures gitticks as a person meets it: whole processes, beside Python's own start-up and beside other trackers."""
