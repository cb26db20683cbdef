"""Measures what a cluster adds to a call."""
