"""YAML text → models, with errors that name file, line and field."""
