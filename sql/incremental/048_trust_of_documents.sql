alter type memory.document
  add attribute trust real, add attribute quarantined_at timestamptz, add attribute quarantine_reason text;
