"""A plain-Python model of the contract, and a state machine that compares the database with the model."""
