"""How each agent is started, kept in bounds and understood."""
