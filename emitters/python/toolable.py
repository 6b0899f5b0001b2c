# toolable: {"tools": []}
"""Make the functions of a Python script full agent tools. One file, no dependencies, Python 3.8 or newer.

    from toolable import tool, run, fail

    @tool(summary="Find files by a glob pattern", read_only=True)
    def find_files(pattern: str, root: str = "."):
        ...
        return [{"path": path} for path in paths]

    run()

The script then answers --discover, --manifest, --schema, --help and calls by flags, by one JSON argument or by JSON on stdin.
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

__all__ = ["tool", "run", "fail", "ToolError", "progress", "log", "artifact", "item"]

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
    "DEPENDENCY": ("runtime", 69, False, True, "E_TRANSIENT_NET"),
    "RATE_LIMIT": ("runtime", 75, False, True, "E_RATE_LIMIT"),
    "TIMEOUT": ("runtime", 124, False, False, "E_TIMEOUT"),
    "DISK_FULL": ("runtime", 73, False, False, "E_DISK_FULL"),
    "CANCELLED": ("runtime", 130, False, False, "E_CANCELLED"),
    "CONFIG": ("internal", 78, True, False, "E_CONFIG"),
    "INTERNAL": ("internal", 1, False, False, "E_UNKNOWN"),
}
SIMPLE_TEST = '{"__test__": true}'
HEARTBEAT_SECONDS = 10


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


def artifact(name, uri):
    """Tells that the call left something behind."""
    _call["artifacts"].append({"name": name, "uri": uri})
    _emit({"type": "artifact", "name": name, "uri": uri})


def item(value):
    """Hands out one item of a long list before the call is over."""
    _emit({"type": "item", "value": value})


def run(name=None, version="0.1.0", argv=None):
    """The command line of the script; ends the process with the right status."""
    program = name or os.path.splitext(os.path.basename(sys.argv[0]))[0].replace("_", "-")
    argv = list(sys.argv[1:] if argv is None else argv)
    # What functions print belongs to people: stdout carries the answer alone, whoever writes to its number included.
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


_call = {"mode": "none", "artifacts": []}
_write_lock = threading.Lock()


def _main(program, version, argv, answers):
    dialect = "acor" if os.environ.get("RUN_ID") and os.environ.get("AI_PROTOCOL_VERSION") else "native"
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
        raise _text(_help(program))
    if argv and argv[0] == "--version":
        raise _text("%s %s\n" % (program, version))
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
    if flag in ("--json", "--output", "-o", "--stream", "--dialect", "--yes", "-y", "--quiet", "-q", "--verbose", "-v"):
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
    _call.update(mode=dialect if dialect == "acor" else "stream" if _call.get("stream") else "notify", answers=answers, artifacts=[])
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
        error = ToolError("CANCELLED", "the call was cancelled")
        error.status = 128 + _call.get("signal", signal.SIGINT)
    except SystemExit as thrown:
        error = ToolError("INTERNAL", "the tool ended the program with status %s" % thrown.code)
    except FileNotFoundError as thrown:
        error = ToolError("NOT_FOUND", "there is no %s" % thrown.filename if thrown.filename else str(thrown))
    except PermissionError as thrown:
        error = ToolError("PERMISSION", str(thrown))
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
        _line(answers, {"type": "heartbeat"})


def _finish(program, version, chosen, result, error, dialect, answers, started):
    chosen = chosen or getattr(error, "chosen", None)
    meta = {"tool": "%s.%s" % (program, chosen.name) if chosen else program, "version": version, "duration_ms": int((time.monotonic() - started) * 1000)}
    if _call["artifacts"]:
        meta["artifacts"] = _call["artifacts"]
    if dialect == "acor":
        _line(answers, _protocol_end(result, error))
    else:
        outcome = {"ok": False, "status": "error", "error": error.error, "meta": meta} if error else {"ok": True, "status": "success", "result": result, "meta": meta}
        _write(answers, dict({"type": "result"}, **outcome) if _call["mode"] == "stream" else outcome)
        if error:
            sys.stderr.write(json.dumps({"error": error.error}, ensure_ascii=False) + "\n")
    return error.status if error else 0


def _protocol_end(result, error):
    if error is None:
        return {"type": "result", "status": "ok", "result": result, "artifacts": _call["artifacts"]}
    if error.error["code"] == "CANCELLED":
        return {"type": "cancelled", "reason": error.error["message"]}
    return {"type": "error", "code": error.protocol_name, "msg": error.error["message"], "retryable": error.error["retryable"]}


def _emit(event):
    mode, answers = _call["mode"], _call.get("answers")
    if mode == "acor":
        words = {"message": "msg", "percent": "pct"}
        _line(answers, {words.get(key, key): value for key, value in event.items()})
    elif mode == "stream":
        _write(answers, event)
    elif mode == "notify" and event["type"] != "item":
        fields = {key: value for key, value in event.items() if key != "type"}
        sys.stderr.write(json.dumps(dict({"type": "notification", "kind": event["type"]}, **fields), ensure_ascii=False, default=_plain) + "\n")
        sys.stderr.flush()


def _line(answers, fields):
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + "Z"
    _write(answers, dict({"v": 1, "type": fields["type"], "ts": stamp, "run_id": os.environ["RUN_ID"]}, **fields))


def _write(answers, document):
    with _write_lock:
        answers.write(json.dumps(document, ensure_ascii=False, allow_nan=False, default=_plain).encode("utf-8", "surrogatepass").decode("utf-8", "replace") + "\n")
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
