"""The story of an answer: services, draft, measurement, decision, and what may follow it."""
