#!/usr/bin/env python3
"""Counts the items of a JSON file: the smallest tool that reads a file, checks it and writes another one."""
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "_lib"))
from toolable import artifact, cancelled, fail, log, metrics, progress, run, tool


@tool(summary="Process the items of a JSON file", idempotent=True)
def example_processor(input: pathlib.Path, output: pathlib.Path):
    data = read_items(input)
    total = len(data["items"])
    for number, item in enumerate(data["items"], 1):
        if os.environ.get("TOOL_DEBUG") == "true":
            log("item %d has the keys %s" % (number, ", ".join(sorted(item))), "debug")
        if number % 100 == 0 or number == total:
            cancelled()
            progress("Processed %d/%d" % (number, total), number / total * 100)
    output.write_text(json.dumps({"original_keys": list(data), "item_count": total, "processed": True}, indent=2) + "\n", encoding="utf-8")
    artifact(output)
    metrics(items=total)
    return {"item_count": total}


def read_items(path):
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        fail("NOT_FOUND", "Input not found: %s" % path, suggestion="Check the path", field="input")
    except ValueError as error:
        fail("INVALID_INPUT", "The input is not JSON: %s" % error, field="input")
    items = data.get("items") if isinstance(data, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        fail("INVALID_INPUT", "The input has no list 'items' of objects", suggestion='Write {"items": [{...}, ...]}', field="input")
    return data


run(exit_codes={"retryable_error": 20, "fatal_error": 30})
