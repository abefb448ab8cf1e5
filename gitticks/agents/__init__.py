"""How each agent is started, limited and understood."""
