"""The board: a linked worktree of the state branch in which people edit tasks, updated with every commit."""
