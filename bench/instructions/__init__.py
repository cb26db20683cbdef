"""What calls cost in instructions of the processor, a figure that a busy machine does not change."""
