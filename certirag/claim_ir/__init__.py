"""From a draft or from evidence to atomic claims; pure."""
