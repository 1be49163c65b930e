"""Agents at work: what YAML declares becomes tools, conversations, tests and reports."""
