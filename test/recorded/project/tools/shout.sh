#!/bin/sh
# toolable: {"name": "shout", "summary": "Say it loudly", "call": "flags", "input": {"type": "object", "properties": {"text": {"type": "string", "description": "Text to say"}}, "required": ["text"]}}
echo "$2" | tr a-z A-Z
