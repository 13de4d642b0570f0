"""The HTTP service: answers over allowed sources, and a gate in front of somebody's model."""
