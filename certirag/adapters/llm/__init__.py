"""Language models, behind an endpoint or in this process."""
