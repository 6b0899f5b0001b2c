#!/usr/bin/env python3
"""Runs the steps of a workflow file: other tools, several at once, and decisions of whoever supervises. Each tool is a run of its own."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "_lib"))
from toolable import ask, cancelled, checkpoint, choose, fail, log, metrics, parallel_tasks, progress, run, task, tool


@tool(summary="Run the steps of a workflow file")
def workflow_orchestrator(workflow: pathlib.Path):
    steps = read_steps(workflow)
    stage = checkpoint("workflow")
    done = stage.load() or {"steps": 0, "tasks": [], "decisions": {}}
    for index, step in enumerate(steps[done["steps"]:], done["steps"] + 1):
        cancelled()
        progress("step %d/%d: %s" % (index, len(steps), step["name"]), (index - 1) / len(steps) * 100)
        # Relative paths in a workflow start at its file.
        STEPS[step["type"]](step, index, workflow.parent, done)
        done["steps"] = index
        stage.save(done)
    metrics(steps=len(steps), tasks=len(done["tasks"]))
    return done


def run_tool(step, index, folder, done):
    remember(step, done, [task(step["command"], "t-%d-%s" % (index, step["name"][:10]), cwd=folder)])


def run_parallel(step, index, folder, done):
    commands = step["tasks"]
    log("Submitting %d parallel tasks" % len(commands))
    remember(step, done, parallel_tasks(commands, step.get("max_concurrency", 4), ["t-%d-p%d" % (index, number) for number in range(len(commands))], cwd=folder))


def decide(step, index, folder, done):
    more = {name: step[name] for name in ("default", "timeout") if name in step}
    prompt = step.get("instruction") or step["decision_type"]
    if step.get("options"):
        answer = choose(prompt, step["options"], action=step["decision_type"], **more)
    else:
        answer = ask(prompt, action=step["decision_type"], **more)
    done["decisions"][step["name"]] = answer
    if answer == step.get("stop_on", "abort"):
        fail("PRECONDITION", "The decision '%s' was to stop" % step["name"])


STEPS = {"tool": run_tool, "parallel": run_parallel, "ai_decision": decide}
NEEDED = {"tool": "command", "parallel": "tasks", "ai_decision": "decision_type"}


def remember(step, done, results):
    failed = [result for result in results if result["rc"] != 0]
    if failed:
        runs = ", ".join("%s (exit %d, run %s)" % (result["task_id"], result["rc"], result["child_run_id"]) for result in failed)
        fail("E_TASK_FAILED", "Step failed: %s" % step["name"], suggestion="See toolable runs show for %s" % runs, details={"tasks": [result["task_id"] for result in failed]})
    done["tasks"] += [{"task_id": result["task_id"], "run": result["child_run_id"]} for result in results]


def read_steps(file):
    try:
        steps = json.loads(file.read_text(encoding="utf-8"))["steps"]
    except FileNotFoundError:
        fail("NOT_FOUND", "Workflow not found: %s" % file, suggestion="Check --workflow", field="workflow")
    except (ValueError, KeyError, TypeError) as error:
        fail("INVALID_INPUT", "%s is no workflow: %r" % (file.name, error), suggestion='Write {"steps": [...]}', field="workflow")
    for number, step in enumerate(steps, 1):
        if not isinstance(step, dict) or step.get("type") not in STEPS or not step.get("name") or not step.get(NEEDED[step["type"]]):
            fail("INVALID_INPUT", "step %d needs a name, a type (%s) and what that type needs" % (number, ", ".join("%s: %s" % each for each in NEEDED.items())), field="workflow")
    return steps


run(version="0.1.0", exit_codes={"retryable_error": 20, "fatal_error": 30})
