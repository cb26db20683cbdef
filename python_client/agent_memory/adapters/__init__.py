"""Adapters: agent_memory as the memory of other frameworks, one module for each.

Every adapter is thin: it takes a client (``memory``), whose memory it is (``user_id``) and, where the framework knows
conversations, the thread (``thread_id``). Where the framework is asynchronous the client may be either, ``Memory`` or
``AsyncMemory``. docs/adapters.md has an example of each.
"""
