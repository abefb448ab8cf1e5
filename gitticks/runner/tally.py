"""What a run has spent, and whether that is all it may."""

from __future__ import annotations

from dataclasses import dataclass

from gitticks.model.task import Usage
from gitticks.runner.options import RunOptions


@dataclass
class Tally:
    """The workers' iterations, and what all sessions cost in dollars and tokens."""

    iterations: int = 0
    cost: float = 0.0
    tokens: int = 0

    def add(self, before: Usage, after: Usage, *, is_iteration: bool) -> None:
        """Adds one session, from its task's usage before and after it."""
        self.iterations += is_iteration
        self.cost += after.cost - before.cost
        self.tokens += after.tokens_in + after.tokens_out - before.tokens_in - before.tokens_out

    def limit(self, options: RunOptions, seconds: float) -> str | None:
        """Returns which limit of the run, after which nothing more is started, is reached, in words."""
        if options.max_seconds is not None and seconds >= options.max_seconds:
            return f"the limit of {options.max_seconds:.0f} s is reached"
        if options.max_cost is not None and self.cost >= options.max_cost:
            return f"the limit of ${options.max_cost:.2f} is reached"
        if options.max_tokens is not None and self.tokens >= options.max_tokens:
            return f"the limit of {options.max_tokens} tokens is reached"
        return None

    def worker_limit(self, options: RunOptions, running: int = 0) -> str | None:
        """Returns the limit after which no worker is started, `running` being at work; reviews and merges go on."""
        if options.max_iterations is not None and self.iterations + running >= options.max_iterations:
            noun = "iteration" if options.max_iterations == 1 else "iterations"
            return f"the limit of {options.max_iterations} {noun} is reached"
        return None
