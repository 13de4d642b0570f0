"""Builds the models that ship: commands for whoever rebuilds them, never run by the product."""
