"""Tools that an agent may use."""
