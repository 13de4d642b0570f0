"""Verifiers, one file for each implementation of the port."""
