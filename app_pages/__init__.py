"""The pages: thin scripts of widgets and one call into `ui`."""
