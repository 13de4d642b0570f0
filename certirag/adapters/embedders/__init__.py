"""Embedders, one file for each implementation of the port."""
