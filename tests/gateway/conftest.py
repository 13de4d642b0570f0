"""Fixtures of the gateway's tests."""

from gateway_served import listening, served

__all__ = ["listening", "served"]
