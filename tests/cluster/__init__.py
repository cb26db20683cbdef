"""Many servers: which node serves which users."""
