# toolable: {"tools": []}
"""Make the functions of a Python script full agent tools. One file, no dependencies, Python 3.8 or newer.

    from toolable import tool, run, fail

    @tool(summary="Find files by a glob pattern", read_only=True)
    def find_files(pattern: str, root: str = "."):
        ...
        return [{"path": path} for path in paths]

    run()

The script then answers --discover, --manifest, --schema, --help and calls by flags, by one JSON argument or by JSON on stdin.
Under a runner (`toolable run`) it speaks the run protocol: heartbeats come by themselves, and ask, choose, confirm, checkpoint, cancelled, workspace,
deadline, secret and, for orchestrators, task and parallel_tasks are there.
"""
import contextlib
import difflib
import enum
import inspect
import json
import os
import signal
import sys
import threading
import time
import typing

__all__ = [
    "tool", "run", "fail", "ToolError", "progress", "log", "artifact", "item", "metrics",
    "ask", "choose", "confirm", "checkpoint", "cancelled", "workspace", "deadline", "secret", "task", "parallel_tasks",
]

# code: (category, exit status, recoverable, retryable, name in the run protocol)
CODES = {
    "INVALID_INPUT": ("input", 2, True, False, "E_SCHEMA_MISMATCH"),
    "MISSING_PARAM": ("input", 2, True, False, "E_MISSING_PARAM"),
    "USAGE": ("input", 2, True, False, "E_USAGE"),
    "INVALID_PATH": ("input", 66, True, False, "E_INPUT_NOT_FOUND"),
    "NOT_FOUND": ("state", 66, True, False, "E_INPUT_NOT_FOUND"),
    "CONFLICT": ("state", 73, True, False, "E_CONFLICT"),
    "PRECONDITION": ("state", 1, True, False, "E_PRECONDITION"),
    "PERMISSION": ("auth", 77, False, False, "E_PERMISSION"),
    "CONFIRMATION_REQUIRED": ("auth", 77, True, False, "E_CONFIRMATION_REQUIRED"),
    "ANSWER_REQUIRED": ("state", 77, True, False, "E_ANSWER_REQUIRED"),
    "DEPENDENCY": ("runtime", 69, False, True, "E_TRANSIENT_NET"),
    "RATE_LIMIT": ("runtime", 75, False, True, "E_RATE_LIMIT"),
    "TIMEOUT": ("runtime", 124, False, False, "E_TIMEOUT"),
    "DISK_FULL": ("runtime", 73, False, False, "E_DISK_FULL"),
    "CANCELLED": ("runtime", 130, False, False, "E_CANCELLED"),
    "CONFIG": ("internal", 78, True, False, "E_CONFIG"),
    "INTERNAL": ("internal", 1, False, False, "E_UNKNOWN"),
}
SIMPLE_TEST = '{"__test__": true}'
HEARTBEAT_SECONDS = float(os.environ.get("TOOLABLE_HEARTBEAT_S") or 10)


class ToolError(Exception):
    """A failure that the caller can read: code, message, and what to do about it."""

    def __init__(self, code, message, suggestion=None, field=None, details=None, recoverable=None, retryable=None):
        super().__init__(message)
        category, self.status, may_recover, may_retry, self.protocol_name = CODES.get(code, ("runtime", 1, False, bool(retryable), code))
        self.error = {
            "code": code, "category": category, "message": message,
            "recoverable": may_recover if recoverable is None else recoverable,
            "retryable": may_retry if retryable is None else retryable,
        }
        if suggestion:
            self.error["suggestion"] = {"action": "retry_with_modified_input" if self.error["recoverable"] else "abort", "fix": suggestion, "applicability": "maybe_incorrect"}
        if field is not None:
            self.error["field"] = field
        if details:
            self.error["details"] = details


def fail(code, message, **options):
    """Ends the call with an error of a known code, or of the tool's own."""
    raise ToolError(code, message, **options)


class _Tool:
    def __init__(self, function, summary, description, tags, examples, read_only, destructive, idempotent, name):
        self.function = function
        self.name = name or function.__name__.strip("_").lower()
        text = inspect.getdoc(function) or ""
        self.summary = (summary or text.split("\n", 1)[0].strip() or self.name)[:200]
        self.description = description or text or self.summary
        self.tags = list(tags)
        self.examples = list(examples)
        self.annotations = {key: value for key, value in (("readOnly", read_only), ("destructive", destructive), ("idempotent", idempotent)) if value is not None}
        hints = _hints(function)
        self.parameters = {key: (hints.get(key, str if parameter.default is parameter.empty else _type_of(parameter.default)), parameter.default) for key, parameter in inspect.signature(function).parameters.items()}
        self.schema = _object_schema({key: (hint, default) for key, (hint, default) in self.parameters.items()})

    def manifest(self):
        manifest = {"name": self.name, "summary": self.summary, "description": self.description, "streaming": False, "session_mode": False, "schema": self.schema}
        if self.annotations:
            manifest["annotations"] = self.annotations
        if self.examples:
            manifest["examples"] = self.examples
        if self.tags:
            manifest["tags"] = self.tags
        return manifest

    def inputs(self):
        required = self.schema.get("required", [])
        return [{"name": name, "type": "path" if schema.get("format") == "path" else schema.get("type", "any"), "required": name in required} for name, schema in self.schema["properties"].items()]


_tools = {}


def tool(function=None, *, summary=None, description=None, tags=(), examples=(), read_only=None, destructive=None, idempotent=None, name=None):
    """Makes a function a tool. Its parameters, their types and defaults are the input; what it returns is the result. The function stays an ordinary function."""
    def register(given):
        made = _Tool(given, summary, description, tags, examples, read_only, destructive, idempotent, name)
        if _key(made.name) in _tools:
            raise ToolError("CONFIG", "two tools are called '%s'" % made.name)
        _tools[_key(made.name)] = made
        return given
    return register if function is None else register(function)


def progress(message, percent=None):
    """Tells how far the work is; `percent` only when it is truly known."""
    _emit(dict({"type": "progress", "message": str(message)}, **({} if percent is None else {"percent": percent})))


def log(message, level="info"):
    """Says something to whoever follows the call; never part of the result."""
    _emit({"type": "log", "level": level, "message": str(message)})


def artifact(name, uri=None):
    """Tells that the call left something behind: a name and an address, or the path of a file alone."""
    uri = os.fspath(name if uri is None else uri)
    name = os.path.basename(uri.rstrip("/")) if name is None or os.fspath(name) == uri else str(name)
    _call["artifacts"].append({"name": name, "uri": uri})
    _emit({"type": "artifact", "name": name, "uri": uri})


def metrics(**numbers):
    """Adds numbers to the end of the run: rows, files, seconds."""
    _call["metrics"].update(numbers)


def item(value):
    """Hands out one item of a long list before the call is over."""
    _emit({"type": "item", "value": value})


_NOTHING = object()


def ask(prompt, action="input", default=_NOTHING, timeout=None, key=None, schema=None, **context):
    """Asks somebody and waits for the answer. `context` are facts for whoever answers; `timeout` (seconds) and `default` are for the case that nobody does.
    Fails with ANSWER_REQUIRED where there is neither an answer nor a default."""
    question = dict(context, id=os.urandom(4).hex(), prompt=str(prompt))
    question.update({name: value for name, value in (("timeout", timeout), ("key", key), ("schema", schema)) if value is not None})
    if default is not _NOTHING:
        question["default"] = default
    given = _answers.ask(action, question) if _call["mode"] == "acor" else _ask_terminal(question)
    if given is not _NOTHING:
        return given
    if default is not _NOTHING:
        return default
    raise ToolError("ANSWER_REQUIRED", "the tool asks '%s' and nobody can answer" % prompt, details={"interaction": dict(question, kind=action)},
                    suggestion="Give the answer before: toolable run --answer %s=<value> ..." % (key or action))


def choose(prompt, options, action="decision", **more):
    """Lets somebody choose one of the options: texts, or objects with value, label and description. Gives the value."""
    listed = [dict(each) if isinstance(each, dict) else {"value": str(each)} for each in options]
    chosen = ask(prompt, action=action, options=listed, **more)
    values = [each["value"] for each in listed]
    if chosen not in values:
        raise ToolError("INVALID_INPUT", "the answer to '%s' must be one of %s, got %s" % (prompt, ", ".join(values), json.dumps(chosen)[:80]), field="answer")
    return chosen


def confirm(prompt, **more):
    """Asks for a yes or a no. Gives True or False."""
    answer = ask(prompt, action="confirm", **more)
    if not isinstance(answer, bool):
        raise ToolError("INVALID_INPUT", "the answer to '%s' must be true or false, got %s" % (prompt, json.dumps(answer)[:80]), field="answer")
    return answer


def workspace():
    """The folder of the run: the tool may do there what it likes, and finds it again when the run is resumed."""
    import pathlib
    return pathlib.Path(os.environ.get("WORKSPACE") or os.getcwd())


def deadline():
    """Seconds until the runner ends the call; None where there is no limit."""
    text = os.environ.get("DEADLINE_TS")
    if not text:
        return None
    import calendar
    whole, _, fraction = text.rstrip("Z").partition(".")
    return max(0.0, calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + float("0." + (fraction or "0")) - time.time())


def cancelled():
    """To be called between two pieces of work: ends the call when somebody has cancelled it, and gives False otherwise."""
    if _is_cancelled():
        raise KeyboardInterrupt
    return False


def secret(name):
    """A secret that the run was given. It comes by a file that only this tool can read: never by arguments, never by the environment."""
    variable = name.upper().replace("-", "_").replace(".", "_") + "_FILE"
    try:
        with open(os.environ[variable], encoding="utf-8") as file:
            return file.read().rstrip("\r\n")
    except (KeyError, OSError):
        raise ToolError("CONFIG", "the secret '%s' was not given" % name, suggestion="Give it by a file with mode 0600: toolable run --secret-file %s=<path> ..." % name)


class checkpoint:
    """What a stage of a long job remembers: `.checkpoints/<stage>.json` in the workspace, replaced whole. A run that is resumed finds it."""

    def __init__(self, stage):
        if not stage or not all(each.isalnum() and each.isascii() or each in "._-" for each in stage) or stage[0] in "._-":
            raise ToolError("INVALID_INPUT", "checkpoint stage '%s' must be letters, digits, '.', '_' and '-'" % stage)
        self.stage = stage
        self.file = workspace() / ".checkpoints" / (stage + ".json")

    def load(self, default=None):
        """What was saved last, or the default."""
        try:
            saved = json.loads(self.file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return default
        except ValueError:
            saved = None
        if not isinstance(saved, dict) or saved.get("stage") != self.stage or "data" not in saved:
            raise ToolError("PRECONDITION", "the checkpoint %s is damaged: remove it to start over" % self.file)
        return saved["data"]

    def save(self, data):
        """Remembers. What was saved before is there until this is whole, on the disk."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        waiting = "%s.%d.%d.tmp" % (self.file, os.getpid(), threading.get_ident())
        try:
            with open(waiting, "w", encoding="utf-8") as file:
                json.dump({"stage": self.stage, "data": data}, file, allow_nan=False, default=_plain)
                file.flush()
                os.fsync(file.fileno())
            os.replace(waiting, self.file)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(waiting)
            raise


def task(command, task_id=None, cwd=None):
    """For orchestrators: runs another tool as a run of its own and waits for it. `command` is its name with its arguments, a list or one text.
    Tells task_submitted, task_started, task_progress, task_action_required, task_error and task_done; a question of the tool becomes ours.
    Gives {task_id, rc, child_run_id, result}; a failure is a value, and rc says so."""
    return _Task(command, task_id, cwd).run()


def parallel_tasks(commands, max_concurrency=4, task_ids=None, cwd=None):
    """For orchestrators: several tasks, `max_concurrency` at a time. Gives their results in the order of the commands; ends all of them when the call is cancelled."""
    import concurrent.futures
    tasks = [_Task(command, task_ids[index] if task_ids else None, cwd) for index, command in enumerate(commands)]
    pool = concurrent.futures.ThreadPoolExecutor(max_workers=max(1, int(max_concurrency)))
    try:
        return [each.result() for each in [pool.submit(one.run) for one in tasks]]
    except BaseException:
        for one in tasks:
            one.stop()
        raise
    finally:
        pool.shutdown(wait=True)


def run(name=None, version="0.1.0", argv=None, exit_codes=None, selftest=None):
    """The command line of the script; ends the process with the right status. `exit_codes` are those of a manifest: {"retryable_error": 20, "fatal_error": 30}.
    `selftest` is a function that raises where the tool could not work here; --selftest calls it."""
    _call.update(exit_codes=exit_codes or {}, selftest=selftest)
    program = name or os.path.splitext(os.path.basename(sys.argv[0]))[0].replace("_", "-")
    argv = list(sys.argv[1:] if argv is None else argv)
    # What functions print belongs to people: stdout carries the answer alone, whoever writes to its number included.
    _call["stdout"] = _identity(1)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    with contextlib.suppress(OSError):
        os.dup2(2, 1)
    sys.stdout = sys.stderr
    try:
        status = _main(program, version, argv, answers)
        answers.flush()
    except BrokenPipeError:
        status = 0
    except OSError as error:
        sys.stderr.write("%s: the answer could not be written: %s\n" % (program, error.strerror))
        status = 73
    with contextlib.suppress(Exception):
        sys.stderr.flush()
    os._exit(status)


_call = {"mode": "none", "artifacts": [], "metrics": {}, "exit_codes": {}, "selftest": None}
_write_lock = threading.Lock()


class _Answers:
    """Reads answers from stdin, one JSON line each, for whichever thread asked."""

    def __init__(self):
        self.arrived = threading.Condition()
        self.given = {}
        self.waiting = []
        self.reading = False
        self.over = False

    def ask(self, action, question):
        with self.arrived:
            self.waiting.append(question["id"])
        _emit({"type": "action_required", "action": action, "context": question})
        with self.arrived:
            if not self.reading:
                self.reading = True
                threading.Thread(target=self.read, daemon=True).start()
            # A wait without end would not hear signals on every system.
            while question["id"] not in self.given and not self.over:
                self.arrived.wait(1)
            self.waiting.remove(question["id"])
            return self.given.pop(question["id"], _NOTHING)

    def read(self):
        with contextlib.suppress(OSError, ValueError):
            for line in sys.stdin.buffer:
                self.take(line)
        with self.arrived:
            self.over = True
            self.arrived.notify_all()

    def take(self, line):
        try:
            message = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError):
            return
        with self.arrived:
            if isinstance(message, dict) and "value" in message and self.waiting:
                # An answer without an id is for the question that has waited longest.
                self.given[message.get("id") or self.waiting[0]] = message["value"]
                self.arrived.notify_all()


_answers = _Answers()


def _ask_terminal(question):
    try:
        if not (os.isatty(0) and os.isatty(2)):
            return _NOTHING
        options = "".join("\n  %s" % each.get("label", each["value"]) for each in question.get("options", []))
        sys.stderr.write("%s%s\n> " % (question["prompt"], options))
        sys.stderr.flush()
        line = sys.stdin.readline()
    except (OSError, ValueError):
        return _NOTHING
    text = line.strip()
    if line == "" or text == "" and "default" in question:
        return _NOTHING
    return {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}.get(text.lower(), text) if "options" not in question else text


def _is_cancelled():
    file = os.environ.get("CANCEL_FILE")
    return "signal" in _call or bool(file) and os.path.exists(file)


# The longest event of a task that is told on: a line of the protocol has its limits.
_LARGEST_TASK_EVENT = 256 * 1024
# Variables that are about our own run.
_OF_THIS_RUN = ("RUN_ID", "WORKSPACE", "LOG_DIR", "CANCEL_FILE", "DEADLINE_TS", "AI_PROTOCOL_VERSION", "IDEMPOTENCY_KEY", "RUN_STDOUT", "SECRETS_DIR")


class _Task:
    def __init__(self, command, task_id, cwd):
        import shlex
        self.argv = shlex.split(command) if isinstance(command, str) else [str(word) for word in command]
        self.command = command if isinstance(command, str) else " ".join(shlex.quote(word) for word in self.argv)
        self.id = task_id or "t-" + os.urandom(4).hex()
        self.cwd = cwd
        self.child = None
        self.child_run_id = None
        self.end = None
        self.events = 0
        self.stopped = False
        self.starting = threading.Lock()

    def run(self):
        import subprocess
        self.tell("task_submitted", payload={"command": self.command})
        try:
            with self.starting:
                if self.stopped:
                    return self.done(130)
                env = {name: value for name, value in os.environ.items() if name not in _OF_THIS_RUN}
                self.child = subprocess.Popen(_runner() + self.argv, cwd=self.cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except OSError as error:
            self.end = {"status": "error", "error": {"code": "E_CONFIG", "msg": "the task could not be started: %s" % error}}
            return self.done(78)
        drain = threading.Thread(target=self.drain, daemon=True)
        drain.start()
        try:
            for line in self.child.stdout:
                self.hear(line)
            status = self.child.wait()
        except BaseException:
            self.stop()
            # Its runner needs a moment to end the tool and to finish the record; ours ends us all where that takes too long.
            for line in self.child.stdout:
                self.hear(line)
            self.child.wait()
            raise
        finally:
            self.child.stdout.close()
            with contextlib.suppress(OSError):
                self.child.stdin.close()
        drain.join()
        return self.done(status if status >= 0 else 128 - status)

    def hear(self, line):
        try:
            event = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, dict):
            log("%s printed: %s" % (self.id, line[:2000].decode("utf-8", "replace").rstrip()), "debug")
            return
        self.events += 1
        kind = event.get("type")
        if self.child_run_id is None and isinstance(event.get("run_id"), str):
            self.child_run_id = event["run_id"]
            self.tell("task_started")
        if kind == "result":
            self.end = event
        elif kind in ("error", "runner_error"):
            self.end = {"status": "error", "error": event}
        elif kind is None and event.get("ok") is False:
            self.end = {"status": "error", "error": event.get("error")}
        if kind in ("progress", "action_required", "error"):
            self.tell("task_" + kind, child_event=event if len(line) <= _LARGEST_TASK_EVENT else {"type": kind, "left_out": "%d bytes" % len(line)})
        if kind == "action_required":
            threading.Thread(target=self.pass_on, args=(event,), daemon=True).start()

    def pass_on(self, event):
        question = event.get("interaction") if isinstance(event.get("interaction"), dict) else {}
        context = event.get("context") if isinstance(event.get("context"), dict) else {}
        about = dict(context, task_id=self.id, child_run_id=self.child_run_id)
        for name in ("id", "prompt", "default", "timeout", "key", "schema"):
            about.pop(name, None)
        known = {name: question.get(name, context.get(name)) for name in ("default", "timeout", "key", "schema")}
        try:
            value = ask(str(question.get("prompt", context.get("prompt", event.get("action")))), action=str(event.get("action", "input")), **dict(about, **{name: each for name, each in known.items() if each is not None}))
            self.child.stdin.write(json.dumps({"id": question.get("id", context.get("id")), "value": value}).encode("utf-8") + b"\n")
            self.child.stdin.flush()
        except (ToolError, OSError, ValueError):
            # Nobody answers: the task hears of it as every tool does.
            with contextlib.suppress(OSError):
                self.child.stdin.close()

    def drain(self):
        with contextlib.suppress(OSError, ValueError):
            for line in self.child.stderr:
                sys.stderr.write("%s: %s" % (self.id, line.decode("utf-8", "replace")))

    def stop(self):
        with self.starting:
            self.stopped = True
            child = self.child
        if child is not None and child.poll() is None:
            with contextlib.suppress(OSError):
                child.terminate()

    def tell(self, kind, **fields):
        _emit(dict({"type": kind, "task_id": self.id}, **({"child_run_id": self.child_run_id} if self.child_run_id else {}), **fields))

    def done(self, status):
        end = self.end
        if end is not None and len(json.dumps(end)) > _LARGEST_TASK_EVENT:
            end = {"type": end.get("type"), "status": end.get("status"), "left_out": "it is too large; see the log of the run"}
        self.tell("task_done", status="ok" if status == 0 else "failed", child_result=end, child_rc=status, events_count=self.events)
        return {"task_id": self.id, "rc": status, "child_run_id": self.child_run_id, "result": self.end}


def _runner():
    """The command that runs a tool: `./tool` of the project that this script lies in, else `toolable run`."""
    folder = os.path.dirname(os.path.abspath(sys.argv[0]))
    while True:
        file = os.path.join(folder, "tool")
        if os.path.isfile(file) and os.access(file, os.X_OK):
            return [file]
        if os.path.dirname(folder) == folder:
            return ["toolable", "run"]
        folder = os.path.dirname(folder)


def _dialect():
    """The run protocol under a runner. Its variables are inherited by everything below it, its stdout is not."""
    if not os.environ.get("RUN_ID") or not os.environ.get("AI_PROTOCOL_VERSION"):
        return "native"
    stdout = os.environ.get("RUN_STDOUT")
    return "acor" if stdout is None or stdout == _call["stdout"] else "native"


def _identity(descriptor):
    try:
        stats = os.fstat(descriptor)
    except OSError:
        return None
    return "%d:%d" % (stats.st_dev, stats.st_ino)


def _main(program, version, argv, answers):
    dialect = _dialect()
    if argv == [SIMPLE_TEST]:
        return _print(answers, {"success": True, "_simple": True})
    chosen, error = None, None
    try:
        answer, chosen, given = _read_argv(program, version, argv)
        if answer is not None:
            return _print(answers, answer)
        return _run_call(program, version, chosen, given, dialect, answers)
    except ToolError as thrown:
        error = thrown
    if isinstance(getattr(error, "text", None), str):
        answers.write(error.text)
        return 0
    return _finish(program, version, chosen, None, error, dialect, answers, time.monotonic())


def _read_argv(program, version, argv):
    """What is asked: a document about the tools, or a tool and its input."""
    only = next(iter(_tools.values())) if len(_tools) == 1 else None
    if argv and argv[0] in ("--help", "-h"):
        raise _text(_tool_help(program, only) if only else _help(program))
    if argv and argv[0] == "--version":
        raise _text("%s %s\n" % (program, version))
    if argv == ["--selftest"]:
        if _call["selftest"]:
            _call["selftest"]()
        return {"selftest": "ok"}, None, None
    document = _program_document(program, version, argv[0]) if argv else None
    if document is not None:
        return document, None, None
    chosen, rest = only, argv
    if argv and not argv[0].startswith("-") and _key(argv[0]) in _tools:
        chosen, rest = _tools[_key(argv[0])], argv[1:]
    elif only is None:
        if not argv:
            raise _text(_help(program))
        raise _unknown("command", argv[0], [known.name for known in _tools.values()], "USAGE")
    try:
        return _read_tool_argv(program, chosen, rest)
    except ToolError as error:
        error.chosen = chosen
        raise


def _read_tool_argv(program, chosen, rest):
    if rest and rest[0] in ("--help", "-h"):
        raise _text(_tool_help(program, chosen))
    if rest == ["--manifest"]:
        return chosen.manifest(), chosen, None
    if rest == ["--schema"]:
        return {"name": chosen.name, "description": chosen.description, "input_schema": chosen.schema}, chosen, None
    if len(rest) == 2 and rest[0] == "--validate":
        issues = _issues(chosen.schema, _parse_json(rest[1]), "")
        return {"valid": not issues, **({"errors": [{"path": path, "message": message} for path, message, _ in issues]} if issues else {})}, chosen, None
    if rest and rest[0].startswith("{"):
        if len(rest) > 1:
            raise ToolError("USAGE", "the input is given whole as JSON; '%s' is too much" % rest[1])
        return None, chosen, _checked(chosen, _parse_json(rest[0]), 65)
    if rest == ["-"]:
        return None, chosen, _checked(chosen, _parse_json(sys.stdin.buffer.read().decode("utf-8", "replace")), 65)
    if len(rest) == 1 and rest[0].startswith("@"):
        try:
            with open(rest[0][1:], encoding="utf-8") as file:
                return None, chosen, _checked(chosen, _parse_json(file.read()), 65)
        except OSError as error:
            raise ToolError("INVALID_PATH", "%s: %s" % (rest[0][1:], error.strerror))
    return None, chosen, _checked(chosen, _read_flags(chosen, rest), 2)


def _program_document(program, version, flag):
    tools = list(_tools.values())
    if flag == "--discover":
        return {"name": program, "version": version, "tools": [{"name": each.name, "summary": each.summary, "streaming": False, "session_mode": False} for each in tools], "resources": [], "prompts": [], "stdin": True}
    if flag == "--tools":
        return {"tools": [{"name": each.name, "summary": each.summary} for each in tools]}
    if flag == "--manifest":
        return {"name": program, "version": version, "tools": [each.manifest() for each in tools], "resources": [], "prompts": []}
    if flag == "--schema":
        return {"tools": [{"name": each.name, "description": each.description, "input_schema": each.schema} for each in tools]}
    if flag == "--describe":
        described = [{"name": each.name, "version": version, "protocol_version": 1, "summary": each.summary, "inputs": each.inputs()} for each in tools]
        about = {"exit_codes": dict({"ok": 0}, **_call["exit_codes"]), "health": {"selftest": ["--selftest"], "describe": ["--describe"]}}
        return dict(described[0] if len(tools) == 1 else {"name": program, "version": version, "tools": described}, **about)
    if flag == "--fractalic-dump-schema" and len(tools) == 1:
        return {"name": tools[0].name, "description": tools[0].description, "parameters": tools[0].schema}
    if flag in ("--fractalic-dump-schema", "--fractalic-dump-multi-schema"):
        return [{"name": each.name, "description": each.description, "parameters": each.schema} for each in tools]
    return None


def _read_flags(chosen, words):
    given, properties = {}, chosen.schema["properties"]
    flags = {_flag(name): name for name in properties}
    positional = [name for name in properties if name in chosen.schema.get("required", [])]
    words, literal = list(words), False
    while words:
        word = words.pop(0)
        if word == "--" and not literal:
            literal = True
        elif literal or not word.startswith("-") or word == "-":
            name = next((each for each in positional if each not in given), None)
            if name is None:
                raise ToolError("USAGE", "unexpected argument '%s'" % word)
            given[name] = _coerce(properties[name], name, word)
        else:
            _take_flag(given, properties, flags, word, words)
    return given


def _take_flag(given, properties, flags, word, words):
    flag, has_value, value = word.partition("=")
    if flag.startswith("--no-") and flag not in flags and "--" + flag[5:] in flags and not has_value:
        given[flags["--" + flag[5:]]] = False
        return
    # A parameter of the tool wins over a flag that every program has.
    if flag not in flags and flag in ("--json", "--output", "-o", "--stream", "--dialect", "--yes", "-y", "--quiet", "-q", "--verbose", "-v"):
        if flag in ("--output", "-o", "--dialect") and not has_value:
            value = words.pop(0) if words else ""
        _call["stream"] = _call.get("stream", False) or flag == "--stream"
        return
    if flag not in flags:
        raise _unknown("flag", flag, list(flags), "USAGE")
    name = flags[flag]
    schema = properties[name]
    if schema.get("type") == "boolean" and not has_value:
        given[name] = True
        return
    if not has_value:
        if not words:
            raise ToolError("USAGE", "%s needs a value" % flag, field=name)
        value = words.pop(0)
    if schema.get("type") == "array":
        given.setdefault(name, []).extend(_parse_json(value) if value.startswith("[") else [_coerce(schema.get("items", {}), name, value)])
    else:
        given[name] = _coerce(schema, name, value)


def _coerce(schema, name, text):
    kind = schema.get("type")
    try:
        if kind == "integer":
            return int(text)
        if kind == "number":
            return float(text)
        if kind == "boolean" and text in ("true", "false"):
            return text == "true"
        if kind in ("object", "array"):
            return _parse_json(text)
    except ValueError:
        pass
    return text


def _parse_json(text):
    try:
        return json.loads(text, parse_constant=lambda word: _refuse("%s is not JSON" % word))
    except (ValueError, RecursionError) as error:
        bad = ToolError("INVALID_INPUT", "the input is not JSON: %s" % error, suggestion="Give one JSON object")
        bad.status = 65
        raise bad


def _refuse(message):
    raise ValueError(message)


def _checked(chosen, given, status):
    issues = _issues(chosen.schema, given, "")
    if not issues:
        return given
    path, message, code = issues[0]
    error = ToolError(code, "%s %s" % (path or "the input", message), suggestion=("Add %s" if code == "MISSING_PARAM" else "Correct %s") % (path or "the input"), field=path or None, details={"issues": [{"path": each[0], "message": each[1]} for each in issues]})
    error.status = 2 if code == "MISSING_PARAM" else status
    error.chosen = chosen
    raise error


def _issues(schema, value, path):
    """What is wrong with a value, as (path, message, code): the part of JSON Schema that types of Python need."""
    if "anyOf" in schema:
        tried = [_issues(each, value, path) for each in schema["anyOf"]]
        return [] if any(not each for each in tried) else tried[0]
    if "enum" in schema and not any(value == each and type(value) is type(each) for each in schema["enum"]):
        near = difflib.get_close_matches(str(value), [str(each) for each in schema["enum"]], 1)
        return [(path, "must be one of %s%s" % (", ".join(json.dumps(each) for each in schema["enum"]), "; did you mean %s?" % json.dumps(near[0]) if near else ""), "INVALID_INPUT")]
    kind = schema.get("type")
    if kind is not None and not _is(kind, value):
        return [(path, "must be %s, got %s" % (_WORDS[kind], json.dumps(value)[:80]), "INVALID_INPUT")]
    found = []
    if kind == "object" and "properties" in schema:
        found += [(_join(path, name), "is required", "MISSING_PARAM") for name in schema.get("required", []) if name not in value]
        for name, each in value.items():
            if name in schema["properties"]:
                found += _issues(schema["properties"][name], each, _join(path, name))
            elif schema.get("additionalProperties") is False:
                near = difflib.get_close_matches(name, list(schema["properties"]), 1)
                found.append((_join(path, name), "is unknown%s" % ("; did you mean '%s'?" % near[0] if near else ""), "INVALID_INPUT"))
    elif kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        for name, each in value.items():
            found += _issues(schema["additionalProperties"], each, _join(path, name))
    elif kind == "array" and "items" in schema:
        for index, each in enumerate(value):
            found += _issues(schema["items"], each, "%s[%d]" % (path, index))
    return found


_WORDS = {"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false", "array": "a list", "object": "an object", "null": "null"}


def _is(kind, value):
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool) or isinstance(value, float) and value.is_integer()
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, {"string": str, "boolean": bool, "array": list, "object": dict, "null": type(None)}[kind])


def _join(path, name):
    return "%s.%s" % (path, name) if path else name


def _hints(function):
    try:
        return typing.get_type_hints(function, include_extras=True) if sys.version_info >= (3, 9) else typing.get_type_hints(function)
    except Exception:
        return {}


def _type_of(default):
    return type(default) if isinstance(default, (str, bool, int, float, list, dict)) else typing.Any


def _object_schema(fields):
    properties, required = {}, []
    for name, (hint, default) in fields.items():
        schema = _schema_of(hint)
        if default is inspect.Parameter.empty:
            required.append(name)
        elif default is not None and isinstance(default, (str, bool, int, float, list, dict)):
            schema = dict(schema, default=default)
        properties[name] = schema
    return dict({"type": "object", "properties": properties}, **({"required": required} if required else {}), additionalProperties=False)


def _schema_of(hint):
    """The JSON Schema of a type; a type that nobody can write down lets everything through."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    plain = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object", type(None): "null"}
    if hasattr(hint, "__metadata__"):
        text = next((each for each in hint.__metadata__ if isinstance(each, str)), None)
        return dict(_schema_of(hint.__origin__), **({"description": text} if text else {}))
    if hint in plain:
        return {"type": plain[hint]}
    if inspect.isclass(hint) and issubclass(hint, os.PathLike):
        return {"type": "string", "format": "path"}
    if inspect.isclass(hint) and issubclass(hint, enum.Enum):
        return {"enum": [each.value for each in hint]}
    if origin is typing.Literal:
        kinds = {plain.get(type(each)) for each in args}
        return dict({"type": kinds.pop()} if len(kinds) == 1 else {}, enum=list(args))
    if origin in (list, tuple, set, frozenset) or origin is not None and inspect.isclass(origin) and origin.__module__ == "collections.abc" and origin.__name__ in ("Sequence", "Iterable"):
        return dict({"type": "array"}, **({"items": _schema_of(args[0])} if args else {}))
    if origin is dict:
        return dict({"type": "object"}, **({"additionalProperties": _schema_of(args[1])} if len(args) == 2 else {}))
    if origin is typing.Union or type(hint).__name__ == "UnionType":
        return {"anyOf": [_schema_of(each) for each in args]} if len(args) > 1 else _schema_of(args[0])
    if inspect.isclass(hint) and hasattr(hint, "__total__"):
        fields = {name: (each, inspect.Parameter.empty if name in hint.__required_keys__ else None) for name, each in typing.get_type_hints(hint).items()}
        return _object_schema(fields)
    return {}


def _convert(hint, value):
    """The value as the function's own types want it: paths and members of enumerations."""
    hint = hint.__origin__ if hasattr(hint, "__metadata__") else hint
    if inspect.isclass(hint) and issubclass(hint, enum.Enum):
        return hint(value)
    if inspect.isclass(hint) and issubclass(hint, os.PathLike) and isinstance(value, str):
        import pathlib
        return pathlib.Path(value) if inspect.isabstract(hint) else hint(value)
    if hint is int and isinstance(value, float):
        return int(value)
    return value


def _run_call(program, version, chosen, given, dialect, answers):
    started = time.monotonic()
    _call.update(mode=dialect if dialect == "acor" else "stream" if _call.get("stream") else "notify", answers=answers, artifacts=[], metrics={}, step=chosen.name)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda got, _frame: _stop(got))
    result, error = None, None
    try:
        if dialect == "acor":
            _line(answers, {"type": "start", "step": chosen.name, "args": given})
            threading.Thread(target=_beat, args=(stop, answers), daemon=True).start()
        result = chosen.function(**{name: _convert(chosen.parameters[name][0], value) for name, value in given.items()})
        if inspect.isgenerator(result):
            result = list(result)
        json.dumps(result, allow_nan=False, default=_plain)
    except ToolError as thrown:
        error = thrown
    except KeyboardInterrupt:
        # A runner says both by its file and by a signal; a signal alone has a status of its own.
        by_file = os.path.exists(os.environ.get("CANCEL_FILE") or "")
        error = ToolError("CANCELLED", "cancel-file" if by_file and dialect == "acor" else "the call was cancelled")
        error.status = 130 if by_file else 128 + _call.get("signal", signal.SIGINT)
    except SystemExit as thrown:
        error = ToolError("INTERNAL", "the tool ended the program with status %s" % thrown.code)
    except FileNotFoundError as thrown:
        error = ToolError("NOT_FOUND", "there is no %s" % thrown.filename if thrown.filename else str(thrown))
    except PermissionError as thrown:
        error = ToolError("PERMISSION", str(thrown))
    except OSError as thrown:
        import errno
        error = ToolError("DISK_FULL" if thrown.errno in (errno.ENOSPC, errno.EDQUOT) else "INTERNAL", str(thrown))
    except MemoryError:
        error = ToolError("INTERNAL", "there is not enough memory")
    except Exception as thrown:
        error = ToolError("INTERNAL", "%s: %s" % (type(thrown).__name__, thrown))
        import traceback
        traceback.print_exc()
    # Whatever comes from now on comes too late to change the answer.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    stop.set()
    return _finish(program, version, chosen, result, error, dialect, answers, started)


def _stop(number):
    _call["signal"] = number
    raise KeyboardInterrupt


def _beat(stop, answers):
    while not stop.wait(HEARTBEAT_SECONDS):
        with contextlib.suppress(OSError, ValueError):
            _line(answers, {"type": "heartbeat", "step": _call["step"]})


def _finish(program, version, chosen, result, error, dialect, answers, started):
    chosen = chosen or getattr(error, "chosen", None)
    meta = {"tool": "%s.%s" % (program, chosen.name) if chosen else program, "version": version, "duration_ms": int((time.monotonic() - started) * 1000)}
    if _call["artifacts"]:
        meta["artifacts"] = _call["artifacts"]
    if dialect == "acor":
        _line(answers, _protocol_end(result, error, started))
    else:
        outcome = {"ok": False, "status": "error", "error": error.error, "meta": meta} if error else {"ok": True, "status": "success", "result": result, "meta": meta}
        _write(answers, dict({"type": "result"}, **outcome) if _call["mode"] == "stream" else outcome)
        if error:
            sys.stderr.write(json.dumps({"error": error.error}, ensure_ascii=False) + "\n")
    return _status_of(error)


def _status_of(error):
    if error is None:
        return _call["exit_codes"].get("ok", 0)
    if error.error["code"] == "CANCELLED":
        return error.status
    return _call["exit_codes"].get("retryable_error" if error.error["retryable"] else "fatal_error", error.status)


def _protocol_end(result, error, started):
    if error is None:
        return {"type": "result", "status": "ok", "result": result, "artifacts": [_hashed(each) for each in _call["artifacts"]], "metrics": dict(_call["metrics"], duration_s=round(time.monotonic() - started, 3))}
    if error.error["code"] == "CANCELLED":
        return {"type": "cancelled", "reason": error.error["message"]}
    context = dict(error.error.get("details", {}), **{name: error.error[name] for name in ("code", "field") if name in error.error and error.error[name] != error.protocol_name})
    return dict({"type": "error", "code": error.protocol_name, "msg": error.error["message"], "hint": error.error.get("suggestion", {}).get("fix", ""), "retryable": error.error["retryable"]}, **({"context": context} if context else {}))


def _hashed(made):
    """An artifact as the protocol writes it: a file with its hash; a folder is hashed by the runner."""
    uri = made["uri"]
    if "://" in uri and not uri.startswith("file://"):
        return made
    import hashlib
    import urllib.parse
    path = urllib.parse.unquote(uri[7:]) if uri.startswith("file://") else uri
    entry = {"name": made["name"], "path": path}
    with contextlib.suppress(OSError):
        if os.path.isfile(path):
            digest = hashlib.sha256()
            with open(path, "rb") as file:
                for chunk in iter(lambda: file.read(1 << 20), b""):
                    digest.update(chunk)
            entry["sha256"] = digest.hexdigest()
    return entry


def _emit(event):
    mode, answers = _call["mode"], _call.get("answers")
    if mode == "acor":
        words = {"message": "msg", "percent": "pct"}
        step = {"step": _call["step"]} if event["type"] == "progress" else {}
        _line(answers, dict({words.get(key, key): value for key, value in event.items()}, **step))
    elif mode == "stream":
        _write(answers, event)
    elif mode == "notify" and event["type"] in ("progress", "log", "artifact"):
        fields = {key: value for key, value in event.items() if key != "type"}
        sys.stderr.write(json.dumps(dict({"type": "notification", "kind": event["type"]}, **fields), ensure_ascii=False, default=_plain) + "\n")
        sys.stderr.flush()


def _line(answers, fields):
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + "Z"
    _write(answers, dict({"v": 1, "type": fields["type"], "ts": stamp, "run_id": os.environ["RUN_ID"]}, **fields))


def _write(answers, document):
    with _write_lock:
        answers.write(json.dumps(document, ensure_ascii=False, allow_nan=False, default=_plain, separators=(",", ":")).encode("utf-8", "surrogatepass").decode("utf-8", "replace") + "\n")
        answers.flush()


def _print(answers, document):
    answers.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    return 0


def _plain(value):
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "__dataclass_fields__"):
        import dataclasses
        return dataclasses.asdict(value)
    raise TypeError("a result of type %s cannot be written as JSON" % type(value).__name__)


def _text(text):
    stop = ToolError("INTERNAL", "")
    stop.text = text
    return stop


def _unknown(kind, given, known, code):
    near = difflib.get_close_matches(given.replace("_", "-"), [each.replace("_", "-") for each in known], 1)
    names = ", ".join(each.replace("_", "-") for each in known[:20])
    return ToolError(code, "unknown %s %s%s" % (kind, given, "; did you mean %s?" % near[0] if near else ""), suggestion="The %ss are %s" % (kind, names))


def _key(name):
    return name.replace("-", "_")


def _flag(name):
    return "--" + name.replace("_", "-")


def _help(program):
    width = max([len(each.name) for each in _tools.values()] + [4])
    lines = ["  %-*s  %s" % (width, each.name.replace("_", "-"), each.summary) for each in _tools.values()]
    return "Usage: %s <tool> [options]\n\nTools:\n%s\n\nOptions:\n  --discover  Print what this program offers, as JSON\n  --help      Show this help\n  --version   Show the version\n\n%s <tool> --help tells more about a tool.\n" % (program, "\n".join(lines), program)


def _tool_help(program, chosen):
    required = chosen.schema.get("required", [])
    rows = [("%s%s" % (_flag(name), "" if schema.get("type") == "boolean" else " <%s>" % (schema.get("type") or "value")), "%s%s%s" % (schema.get("description", ""), " [required]" if name in required else "", " [default: %s]" % json.dumps(schema["default"], ensure_ascii=False) if "default" in schema else "")) for name, schema in chosen.schema["properties"].items()]
    width = max([len(left) for left, _ in rows] + [4])
    options = "\n".join(("  %-*s  %s" % (width, left, right.strip())).rstrip() for left, right in rows)
    name = "" if len(_tools) == 1 else " " + chosen.name.replace("_", "-")
    return "Usage: %s%s%s [options]\n\n%s\n%s" % (program, name, "".join(" <%s>" % each for each in required), chosen.description, "\nOptions:\n%s\n" % options if rows else "")
