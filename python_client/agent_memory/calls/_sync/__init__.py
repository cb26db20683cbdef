# Generated from _async/__init__.py by generate_sync.py; do not edit.
"""The calls of the asynchronous client; python_client/generate_sync.py makes the folder _sync of this one."""
