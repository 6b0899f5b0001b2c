#!/usr/bin/env python3
"""Migrates a folder of JSON records in batches, remembers each batch, and goes on where it was when the run is resumed."""
import json
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "_lib"))
from toolable import ToolError, artifact, cancelled, checkpoint, choose, fail, log, metrics, progress, run, tool

STRATEGIES = [
    {"value": "stop_on_error", "description": "End the run at the first record that cannot be migrated; resume goes on there"},
    {"value": "skip_errors", "description": "Leave such records out and name them at the end"},
]


@tool(summary="Migrate a folder of JSON records to version 2.0", idempotent=True)
def data_migrator(source: pathlib.Path, target: pathlib.Path, batch_size: int = 100, migrated_at: str = None):
    # A listing has no order of its own, and the checkpoint is a place in it.
    files = sorted(source.glob("*.json"), key=lambda file: file.name)
    if not files:
        fail("NOT_FOUND", "No JSON files to migrate in %s" % source, suggestion="Add files to the source", field="source")
    if batch_size < 1:
        fail("INVALID_INPUT", "batch_size must be 1 or more, got %d" % batch_size, field="batch_size")
    stage = checkpoint("migrate")
    done = stage.load() or begin(files, batch_size, migrated_at)
    if done["last"]:
        log("Going on behind %s" % done["last"])
    target.mkdir(parents=True, exist_ok=True)
    left = [file for file in files if file.name > done["last"]]
    for start in range(0, len(left), batch_size):
        batch = left[start:start + batch_size]
        for file in batch:
            cancelled()
            migrate(file, target, done)
        done["last"] = batch[-1].name
        stage.save(done)
        finished = len(files) - len(left) + start + len(batch)
        progress("Migrated %d of %d" % (finished, len(files)), finished / len(files) * 100)
    artifact(target)
    metrics(files=len(files), skipped=len(done["skipped"]))
    return {"files": len(files) - len(done["skipped"]), "skipped": done["skipped"]}


def begin(files, batch_size, migrated_at):
    strategy = choose("How should %d files be migrated?" % len(files), STRATEGIES, action="choose_migration_strategy", default="stop_on_error", timeout=300, files=len(files), batch_size=batch_size)
    return {"last": "", "strategy": strategy, "migrated_at": migrated_at or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "skipped": []}


def migrate(file, target, done):
    if os.environ.get("TOOL_DEBUG") == "true":
        log("migrating %s" % file.name, "debug")
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(record, dict):
            raise ValueError("it is not an object")
    except ValueError as error:
        if done["strategy"] == "skip_errors":
            done["skipped"].append(file.name)
            return
        fail("INVALID_INPUT", "Failed %s: %s" % (file.name, error), suggestion="Correct the file, then: toolable resume <run>", field="source")
    except OSError as error:
        raise ToolError("DEPENDENCY", "Failed %s: %s" % (file.name, error))
    text = json.dumps(dict(record, migrated_at=done["migrated_at"], version="2.0"), ensure_ascii=False)
    (target / file.name).write_text(text, encoding="utf-8")


run(version="1.2.0", exit_codes={"retryable_error": 20, "fatal_error": 30})
