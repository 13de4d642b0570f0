"""The lexical comparison of a claim with evidence: tokens, alignment, checks and scores."""
