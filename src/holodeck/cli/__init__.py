"""The command line: one file a command; each parses, calls and prints."""

from holodeck.cli.run import main

__all__ = ["main"]
