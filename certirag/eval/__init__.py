"""Evaluation: how fast the parts are, and how well they do on benchmarks."""
