"""The state branch: transactions, the query index, the board, merging, sharing and claims."""
