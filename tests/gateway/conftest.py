"""Fixtures of the gateway's tests."""

from gateway_served import ingested, listening, served

__all__ = ["ingested", "listening", "served"]
