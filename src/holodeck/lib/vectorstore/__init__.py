"""The default engine: passages found by meaning, by words, or by both, in an embedded LanceDB."""
