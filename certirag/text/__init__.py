"""English, read once: tokens, word classes, verb forms, layout, and what a question asks; pure."""
