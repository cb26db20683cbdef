"""The lists of lists/, by sql/build.py."""

import json
from typing import Any

SERVERS: dict[str, Any] = json.loads(r'''{
"openai":{"provider":"openai","key":"OPENAI_API_KEY","chat":{"model":"gpt-4.1-mini","price_per_million_input":0.4,"price_per_million_output":1.6},"embedding":{"model":"text-embedding-3-small","dimensions":1536,"price_per_million_input":0.02}},
"azure":{"provider":"azure","key":"AZURE_OPENAI_API_KEY"},
"ollama":{"provider":"openai","url":"http://localhost:11434/v1"},
"llamacpp":{"provider":"openai","url":"http://localhost:8080/v1"},
"vllm":{"provider":"openai","url":"http://localhost:8000/v1"},
"lmstudio":{"provider":"openai","url":"http://localhost:1234/v1"},
"tei":{"provider":"openai","url":"http://localhost:8080/v1"},
"deepseek":{"provider":"openai","url":"https://api.deepseek.com/v1","key":"AGENT_MEMORY_KEY_DEEPSEEK"},
"google":{"provider":"openai","url":"https://generativelanguage.googleapis.com/v1beta/openai","key":"AGENT_MEMORY_KEY_GOOGLE"},
"groq":{"provider":"openai","url":"https://api.groq.com/openai/v1","key":"AGENT_MEMORY_KEY_GROQ"},
"mistral":{"provider":"openai","url":"https://api.mistral.ai/v1","key":"AGENT_MEMORY_KEY_MISTRAL"},
"openrouter":{"provider":"openai","url":"https://openrouter.ai/api/v1","key":"AGENT_MEMORY_KEY_OPENROUTER"},
"together":{"provider":"openai","url":"https://api.together.xyz/v1","key":"AGENT_MEMORY_KEY_TOGETHER"}}''')
