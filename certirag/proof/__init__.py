"""The record of what was shown: signed, chained, provable, and kept for as long as a policy says."""
