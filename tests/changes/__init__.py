"""What was changed, for programs that poll."""
