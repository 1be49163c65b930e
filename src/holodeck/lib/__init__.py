"""The parts that tools and commands are made of."""
