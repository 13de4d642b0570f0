"""Opinions about claims; nothing here can say VERIFIED."""
