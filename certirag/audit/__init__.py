"""Keys and the record of what was shown."""
