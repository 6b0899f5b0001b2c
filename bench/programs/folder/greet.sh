#!/bin/sh
# toolable: {"name":"greet","summary":"Greet somebody","input":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}
echo '{"text":"HELLO"}'
