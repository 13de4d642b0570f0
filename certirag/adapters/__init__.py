"""One file per implementation of a port; heavy imports stay inside them."""
