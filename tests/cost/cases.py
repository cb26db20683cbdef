"""What the cost of each call may follow, besides what the call itself gives and gets.

``thread`` are the messages of the thread that a call names, ``user`` all other rows of its user, ``others`` the rows of
other users. Where a case gives a reason for one of them, the call may read more when there is more of it, though not
faster than that grows. A case without any reads the same in a database of one row and in one of many.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.cost.world import EMBEDDING
from tests.values.bad_arguments import ANA, OTHER_MEMORY_ID, VALID


@dataclass(frozen=True)
class Case:
    """A call with arguments that differ from those of VALID, and why its cost follows what it follows."""

    function: str
    arguments: dict[str, Any] = field(default_factory=dict)
    thread: str = ""
    user: str = ""
    others: str = ""
    later: dict[str, str] = field(default_factory=dict)
    """Where the cost follows what it should not, and what reads too much: the test fails once that is mended."""

    def given(self) -> dict[str, Any]:
        return {**VALID[self.function], **self.arguments}


# Functions that are not measured here, each with the reason.
LEFT_OUT = {
    "run_jobs": "a procedure with transactions of its own, which claims and completes jobs: these are measured by kind",
    "merge_users": "like forget_user it goes through all tables of a user, and the secrets of this world have no key",
    "schedule_jobs": "it calls pg_cron, and reads no table of the schema",
}

# What needs only rows that the call names, or a page of them that an index gives in order.
CONSTANT = [
    "activate_model", "add_artifact_piece", "add_document", "add_memories", "add_memory", "add_message",
    "add_messages", "bind_role", "compress_thread", "consolidate", "copy_checkpoints", "create_space",
    "deactivate_model", "delete_checkpoints", "delete_secret", "delete_space", "drop_model", "end_memory",
    "expand_refs", "extend_job", "extract_memories", "fail_job", "get_checkpoint", "get_job", "get_memory",
    "get_memory_history",
    "get_policy", "get_secret", "get_thread_summary", "get_user_summary", "grant_space", "keep_query_embedding",
    "prune_checkpoints", "put_checkpoint", "put_checkpoint_writes", "query_to_embed",
    "reconcile_memories", "record_calls", "record_use", "reencrypt_secrets", "register_model", "release_job",
    "reset_prompt", "restore_memory", "retrieve_artifact", "retry_job", "revoke_space", "set_policy", "set_prompt",
    "set_secret", "set_thread", "set_token_key", "store_artifact", "summarize_thread", "summarize_user", "tenant_user",
    "trust_claims", "unbind_role", "use_files", "vector_index", "version", "was_forgotten", "forget_user",
]  # fmt: skip

QUERY: dict[str, Any] = {"query": "green tea", "query_embedding": str(EMBEDDING)}

COUNTED = "total_count counts all rows that the list has"
RANKED = "each text is compared with the query; an approximate index is for memories alone, on demand"
SHOWN = "all of it is returned"
WAITING = "texts that wait for a verdict are found among all documents and artifacts of the user"
CHOSEN = "it chooses among all memories of the user"
DERIVED = "what derives from the source is found among all rows"
READ = "a job reads as many messages as a call of the model takes"
UNEMBEDDED = "texts without an embedding are found among all"
UNDONE = "calls of this test that were undone leave entries in the index of waiting jobs"
EVERYBODY = "for administrators: it is about all users"
FINISHED_JOBS = "finished jobs of the thread, and what was merged from its memories, are found among all of the user"
EXPIRED = "messages that expired since the last sweep are found among all of the user"
SHORT_TERM = "no index knows which memories are short-term ones, nor which are in an article"
UNCOUNTED = "until there are statistics, index entries of all finished jobs are passed by"
UNCOVERED = "the tokens of the messages that no summary covers yet are summed up"


def of_everybody(function: str) -> Case:
    return Case(function, thread=EVERYBODY, user=EVERYBODY, others=EVERYBODY)


CASES: dict[str, Case] = {
    # First what reads a whole thread in order: the undone changes of other calls leave dead rows between its messages.
    "export_user": Case("export_user", thread=SHOWN, user=SHOWN),
    "get_messages": Case("get_messages", thread=SHOWN),
    **{function: Case(function) for function in CONSTANT},
    "backfill_status": of_everybody("backfill_status"),
    "claim_jobs": Case("claim_jobs", thread=READ),
    "clear_thread": Case("clear_thread", thread="each message is cleared"),
    "complete_job": Case("complete_job"),
    "count_memories": Case("count_memories", user="all memories are counted"),
    "delete_artifact": Case("delete_artifact"),
    "delete_document": Case("delete_document"),
    "delete_memory": Case("delete_memory"),
    "delete_documents": Case("delete_documents"),
    "delete_documents: a filter": Case(
        "delete_documents", {"document_ids": None, "filter": {"a": 1}}, user="all documents are filtered"
    ),
    "delete_memories": Case("delete_memories"),
    "delete_memories: a filter": Case(
        "delete_memories", {"memory_ids": None, "filter": {"a": 1}}, user="all memories are filtered"
    ),
    "delete_message": Case("delete_message"),
    "delete_messages": Case("delete_messages"),
    "delete_messages: a thread": Case("delete_messages", {"seqs": None}, thread="each message is deleted"),
    "delete_thread": Case("delete_thread", thread="each message is deleted", user=FINISHED_JOBS),
    "doctor": of_everybody("doctor"),
    "export_user: a part": Case("export_user", {"max_rows": 10}),
    "forget_memory": Case("forget_memory", thread="each text may state it", user="each text may state it"),
    "forget_user: ana": Case(
        "forget_user",
        dict(ANA),
        thread="everything is removed",
        user="everything is removed",
    ),
    "get_context": Case("get_context", thread=RANKED, user=RANKED),
    "get_context: a query": Case("get_context", QUERY, thread=RANKED, user=RANKED),
    "get_messages: the newest": Case("get_messages", {"recent_k": 10}),
    "get_messages: the newest, whole": Case("get_messages", {"recent_k": 10, "whole": True}),
    "get_messages: a page": Case("get_messages", {"recent_k": 10, "after_seq": 100, "before_seq": 200}),
    "import_user": Case("import_user", others=UNCOUNTED),
    "list_artifacts": Case("list_artifacts", user=COUNTED),
    "list_checkpoints": Case("list_checkpoints", user="all threads of the user are sorted by the ids of checkpoints"),
    "list_checkpoints: a thread": Case("list_checkpoints", {"thread_id": "t1", "namespace": ""}),
    "list_documents": Case("list_documents", user=COUNTED),
    "list_memories": Case("list_memories", user=COUNTED),
    "list_quarantined": Case("list_quarantined", user=COUNTED),
    "list_secrets": Case("list_secrets", user=SHOWN),
    "list_threads": Case("list_threads", thread=EXPIRED, user=COUNTED),
    "list_threads: words": Case("list_threads", {"search": "tea"}, thread=EXPIRED, user="all titles are compared"),
    "copy_thread": Case("copy_thread", thread="each message is copied"),
    "get_thread": Case("get_thread", thread=EXPIRED),
    "list_spaces": of_everybody("list_spaces"),
    "list_spaces: ana": Case("list_spaces", dict(ANA)),
    "list_changes": of_everybody("list_changes"),
    "list_users": of_everybody("list_users"),
    "load_user": Case("load_user", thread=EXPIRED, user=CHOSEN),
    "needs_memory": Case("needs_memory"),
    "partition_of": Case("partition_of"),
    "quarantine_memory": Case("quarantine_memory"),
    "quarantine_source": Case("quarantine_source", user=DERIVED),
    "release_memory": Case("release_memory", user=DERIVED),
    "release_source": Case("release_source", user=DERIVED),
    "render_memories": Case("render_memories", user=CHOSEN),
    "render_memories: a query": Case("render_memories", QUERY, user=RANKED),
    "search": Case("search", thread=RANKED, user=RANKED),
    "search: an embedding": Case("search", QUERY, thread=RANKED, user=RANKED),
    "search: memories": Case("search", {**QUERY, "sources": ["memory"]}, user=RANKED),
    "status": of_everybody("status"),
    "supersede_memory": Case("supersede_memory"),
    "sweep": of_everybody("sweep"),
    "update_memory": Case("update_memory"),
    "update_memory: metadata": Case("update_memory", {"memory_id": OTHER_MEMORY_ID, "content": None, "metadata": {}}),
}

# For each kind of job its scope, and what claiming and completing a job of this kind may follow.
JOBS: dict[str, tuple[str, Case, Case]] = {
    "backfill": (
        "",
        Case("claim_jobs", thread=UNEMBEDDED, user=UNEMBEDDED),
        Case("complete_job", thread=UNEMBEDDED, user=UNEMBEDDED),
    ),
    "chunk_documents": ("", Case("claim_jobs"), Case("complete_job")),
    "compress_thread": ("t1", Case("claim_jobs", thread=READ), Case("complete_job", thread="each message is put away")),
    "consolidate": ("", Case("claim_jobs", user=SHORT_TERM), Case("complete_job")),
    "describe_artifact": ("", Case("claim_jobs"), Case("complete_job")),
    "embed": (
        "",
        Case("claim_jobs", thread=UNEMBEDDED, user=UNEMBEDDED, others=UNDONE),
        Case("complete_job", thread=UNEMBEDDED, user=UNEMBEDDED),
    ),
    "extract_memories": ("t1", Case("claim_jobs", thread=READ), Case("complete_job")),
    "parse_artifacts": ("", Case("claim_jobs"), Case("complete_job")),
    "reconcile_memories": ("", Case("claim_jobs"), Case("complete_job")),
    "screen_texts": ("", Case("claim_jobs", user=WAITING), Case("complete_job", user=WAITING)),
    "summarize_thread": ("t1", Case("claim_jobs", thread=READ), Case("complete_job", thread=UNCOVERED)),
    "summarize_user": (
        "",
        Case("claim_jobs", user="threads with something to read are found among all of the user"),
        Case("complete_job"),
    ),
}
