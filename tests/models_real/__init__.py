"""Real chat models on this machine do the jobs of believable conversations: ``make models-real``."""
