-- The built-in policy: every section and key that memory.set_policy() accepts, except summary.model.
create or replace function memory._default_policy()
returns jsonb
language sql immutable parallel safe
begin atomic
  select '{
    "messages": {"expires_after": "7 days"},
    "memories": {
      "max_per_agent": 1000, "eviction": "importance", "expires_after": null, "near_duplicate_cosine": 0.97,
      "max_per_reply": 100, "max_extracted_per_day": 500
    },
    "summary": {"enabled": true, "window_size": 14, "start_seq": 5},
    "compression": {
      "enabled": true, "threshold_tokens": 10000, "recent_messages_to_keep": 10, "archive_conversations": false
    },
    "cadence": {
      "fact_extraction_every_n": 10, "thread_summary_every_n": 0, "user_summary_every_n": 0, "reconcile_every_n": 5
    },
    "artifacts": {"enabled": true, "threshold_tokens": 500},
    "knowledge_base": {
      "chunk_size": 800, "chunk_overlap": 100, "enable_cross_session_context": false, "relevance_threshold": 0.7,
      "search_triggers": [
        "what did we discuss", "previous conversation", "last time", "remind me", "we mentioned", "earlier you said"
      ]
    },
    "search": {
      "fusion": "score", "rrf_k": 60, "language": "english", "embed_messages": true, "approximate_above": 10000
    },
    "context": {
      "max_tokens": 4000, "max_memories": 20, "embed_query": false, "memories_share": 0.25,
      "cross_session_share": 0.25, "relevance_weight": 1.0, "importance_weight": 0.5, "recency_weight": 0.25
    },
    "jobs": {"max_running_per_user": 4},
    "budget": {"tokens_per_user_per_day": null, "tokens_per_agent_per_day": null}
  }'::jsonb;
end;
