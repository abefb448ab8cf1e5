"""The small program that every agent, check and set-up command runs under.

It is started as `python -I -S …/__main__.py`, so it may import nothing but the standard library, little of that, and
its own folder. Two processes come of it. The supervisor proper starts the command in a session of its own, drains its
output, keeps the limits and, at the end, ends every descendant. The guard above it does one thing: should the
supervisor be killed, by the very command it runs for example, the guard inherits all that is left and ends it.

Both are child subreapers (Linux): a process that forks twice and calls setsid becomes their child, not init's, so
"no child is left" means "nothing is left". Elsewhere there are no subreapers: there the process group of the command
and the children that `ps` shows are ended, and a daemon that left its group can escape.

The runner talks through two pipes. On stdin comes a request (a length, then JSON) and later single letters: `t` ends
the tree gracefully, `k` at once; the end of the pipe means that the runner died, which is a `t` as well. On stdout go
frames (a letter, a length, a body), which `gitticks.agents.process` reads.
"""
