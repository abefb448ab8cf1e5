"""The sandbox of agents and checks: bubblewrap namespaces, a private git directory, an allow-list for the network."""
