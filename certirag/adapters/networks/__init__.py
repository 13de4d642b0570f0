"""Networks: those that ship, opened and read, and what models of the user share."""
