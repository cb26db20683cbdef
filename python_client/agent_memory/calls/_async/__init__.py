"""The calls of the asynchronous client; python_client/generate_sync.py makes the folder _sync of this one."""
