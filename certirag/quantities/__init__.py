"""Figures, units and dates: found, compared, and recomputed from others; pure."""
