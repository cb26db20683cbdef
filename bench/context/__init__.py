"""What contexts cost."""
