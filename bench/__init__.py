"""Benchmarks: each prints a table, compares in one run, and asserts nothing."""
