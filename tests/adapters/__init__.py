"""Tests of agent_memory.adapters, against the frameworks themselves."""
