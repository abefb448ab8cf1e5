"""The supervisor's entry point: started by its path, without site-packages or the working directory."""

import os
import sys

sys.path.append(os.path.abspath(f"{__file__}/../../../.."))  # noqa: PTH100 - pathlib would double the start-up time

from gitticks.agents.supervision.supervisor import main

if __name__ == "__main__":
    main()
    # The runner waits for this process, and nothing here is left to be tidied by the interpreter.
    os._exit(0)
