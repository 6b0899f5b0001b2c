#!/bin/sh
# toolable: {"name": "extra", "summary": "One more tool", "call": "json", "input": {"type": "object", "properties": {}}}
echo '{"extra":true}'
