"""What provider ``embedded`` does in place of a language model: find names, and quote sentences."""
