"""The lists of lists/, by sql/build.py."""

import json
from typing import Any

MODELS: dict[str, Any] = json.loads(r'''{
"minilm":{"name":"(^|/)all-minilm-l6-v2$","nothing_below":0.2,"languages":["english"]},
"multilingual_e5_small":{"name":"(^|/)multilingual-e5-small$","query_prefix":"query: ","text_prefix":"passage: ","nothing_below":0.75},
"e5_instruct":{"name":"e5-(.*-)?instruct","query_prefix":"Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "},
"e5":{"name":"(^|[/_-])e5-","query_prefix":"query: ","text_prefix":"passage: "},
"bge_zh":{"name":"bge-(small|base|large)-zh","query_prefix":"为这个句子生成表示以用于检索相关文章："},
"bge":{"name":"bge-(small|base|large)","query_prefix":"Represent this sentence for searching relevant passages: "},
"gte_instruct":{"name":"gte-.*instruct","query_prefix":"Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "},
"nomic":{"name":"nomic-embed-text","query_prefix":"search_query: ","text_prefix":"search_document: "},
"mxbai":{"name":"mxbai-embed-large","query_prefix":"Represent this sentence for searching relevant passages: "},
"qwen3_embedding":{"name":"qwen3-embedding","query_prefix":"Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"},
"gemini_embedding":{"name":"gemini-embedding-2|embeddinggemma","query_prefix":"task: search result | query: ","text_prefix":"title: none | text: "},
"cohere":{"name":"(^|[/._-])embed-(english|multilingual|v-?4)","input_type":{"query":"search_query","text":"search_document"}},
"voyage":{"name":"(^|/)voyage-","input_type":{"query":"query","text":"document"}},
"reasoning_of_providers":{"name":"(^|/)o[1-9](-|$)|gpt-5|gemini-(2\\.5|[3-9])|grok-[3-9]|deepseek-reasoner|magistral","reasons":true},
"reasoning":{"name":"reason|think|gpt-oss|deepseek-r1|qwq|qwen3(?!.*instruct)|glm-[4-9]|kimi-k2|minimax-m","reasons":true}}''')

PROVIDERS: dict[str, Any] = json.loads(r'''{
"openai":{"hosts":["api.openai.com"],"output_limit":"max_completion_tokens"},
"azure":{"hosts":["openai.azure.com","cognitiveservices.azure.com","services.ai.azure.com"],"output_limit":"max_completion_tokens"},
"anthropic":{"hosts":["api.anthropic.com"]},
"bedrock":{"hosts":["amazonaws.com"]},
"cerebras":{"hosts":["api.cerebras.ai"]},
"cohere":{"hosts":["api.cohere.com","api.cohere.ai"],"input_type":{}},
"deepinfra":{"hosts":["api.deepinfra.com"]},
"deepseek":{"hosts":["api.deepseek.com"]},
"fireworks":{"hosts":["api.fireworks.ai"]},
"google":{"hosts":["generativelanguage.googleapis.com","aiplatform.googleapis.com"]},
"groq":{"hosts":["api.groq.com"]},
"huggingface":{"hosts":["router.huggingface.co"]},
"mistral":{"hosts":["api.mistral.ai"]},
"nvidia":{"hosts":["integrate.api.nvidia.com"],"input_type":{"query":"query","text":"passage"}},
"openrouter":{"hosts":["openrouter.ai"]},
"together":{"hosts":["api.together.xyz","api.together.ai"]},
"voyage":{"hosts":["api.voyageai.com"],"input_type":{"query":"query","text":"document"}},
"xai":{"hosts":["api.x.ai"]}}''')

WINDOWS: dict[str, Any] = json.loads(r'''{
"known":{"tokens":128000},
"other":{"tokens":8000}}''')
