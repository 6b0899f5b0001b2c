#!/bin/sh
# toolable: {"name": "today", "summary": "The date of today", "call": "json", "input": {"type": "object", "properties": {}}}
date -u +%Y-%m-%d
