import { AGENT } from './requirements/agent.ts'
import { BUILD } from './requirements/build.ts'
import { FUNCTIONS } from './requirements/functions.ts'
import { EXAMPLES } from './requirements/examples.ts'
import { DOCTOR, EGRESS } from './requirements/egress.ts'
import { PERMISSIONS } from './requirements/permissions.ts'
import { FILES } from './requirements/files.ts'
import { GUARDS } from './requirements/guards.ts'
import { OUTPUT } from './requirements/output.ts'
import { PLANNING } from './requirements/planning.ts'
import { SECTIONS } from './requirements/prompting.ts'
import { REGISTRY } from './requirements/registry.ts'
import { RUNNER } from './requirements/runner.ts'
import { RUNS } from './requirements/runs.ts'
import { SANDBOX } from './requirements/sandbox.ts'
import { STATE } from './requirements/state.ts'
import { VIEWS_HTTP } from './requirements/views-http.ts'
import { VIEWS_MODEL } from './requirements/views-model.ts'
import { VIEWS_SHELL } from './requirements/views-shell.ts'
import { VIEWS_TERMINAL } from './requirements/views-terminal.ts'
import { VIEWS_TOOLS } from './requirements/views-tools.ts'
import { VIEWS_RUNS } from './requirements/views-runs.ts'
import { RUN_ASKED, VIEWS_ACTIONS } from './requirements/views-actions.ts'
import { WORKFLOW_BUILD } from './requirements/workflow-build.ts'
import { WORKFLOW_DEFINITION } from './requirements/workflow-definition.ts'
import { WORKFLOW_ENGINE } from './requirements/workflow-engine.ts'
import { WORKFLOW_HOST } from './requirements/workflow-host.ts'
import { WORKFLOW_INTERPRETER } from './requirements/workflow-interpreter.ts'
import { WORKFLOW_RESTATE } from './requirements/workflow-restate.ts'
import { WORKFLOW_RUNS } from './requirements/workflow-runs.ts'
import { VIEWS_RUN_PAGE } from './requirements/views-runpage.ts'

/**
 * One promise of the specification; `later` exempts it from the coverage test until the work that
 * brings it.
 */
export type Requirement = {
  readonly section: '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9' | '10' | '11' | '12'
  readonly sentence: string
  readonly later?: true
}

/**
 * Every promise by its id. A test cites it as `[id]` in its title; test/requirements.test.ts finds
 * the ones that no test cites.
 */
export const requirements: { readonly [id: string]: Requirement } = {
  ...section('2', {
    'kit-run-cli':
      'runCli of toolable/testing runs a command line in this process and gives exit code, streams, outcome and events.',
    'kit-answers':
      'Answers and samples of a test are typed at a terminal and sent as JSON lines in a session.',
    'kit-terminal': 'With tty the streams of runCli are terminals of a known width.',
    'kit-stray-output':
      'What handlers print in runCli goes to its stderr, never to its stdout, and runs at the same time do not mix.',
    'kit-leaves-nothing':
      'The kit leaves the process as it was: no listeners, no exit code, no replaced functions.',
    'kit-call-tool': 'callTool gives outcome, events and the plan of a dry run.',
    'kit-pure-stdout':
      'expectPureStdout throws when stdout is not exactly what the output mode promises.',
    'kit-schema-snapshot':
      'schemaSnapshot gives what callers depend on as plain JSON in a stable order.',
  }),
  ...section('3', FUNCTIONS),
  ...section('11', BUILD),
  ...section('3', {
    'name-pattern': 'A tool name matches ^[a-z0-9_-]{1,64}$; any other is refused at definition.',
    'name-dash-underscore': "'-' and '_' are equal when a tool is looked up.",
    'summary-length': 'A summary has 1 to 200 characters; any other is refused at definition.',
    'tool-is-function':
      'A tool is an ordinary function: it validates, runs, and returns the result.',
    'tool-throws-tool-error': 'A tool called as a function throws ToolError on every failure.',
    'call-never-throws': 'call(tool, input, options) gives an Outcome and never throws.',
    'stream-events': 'tool.stream(input, options) is an async iterable of events.',
    'call-options': 'One CallOptions serves call, stream and toolset alike.',
    'run-only-as-entry':
      'toolset.run(import.meta) runs the command line only when the file is the entry point; run() runs always.',
    'single-tool-shorthand': 'toolset(tool) makes a program of one tool.',
    'toolset-add': 'toolset.add(tool, name?) adds a tool, under another name where one is given.',
    groups:
      'Keys of a record of tools name groups: `prog pr list` on the command line, pr_list elsewhere.',
    'duplicate-names': 'Two tools of one name in a toolset are refused at definition.',
    'standard-schema': 'input and output take any Standard Schema that can give its JSON Schema.',
    'plain-json-schema':
      'input and output take plain JSON Schema; jsonSchema<T>() gives it a type.',
    'schema-thunk': 'A schema may be a thunk, and only the schema of the called tool is built.',
    'unknown-keys-refused':
      'Unknown keys are refused at every depth unless the schema is explicitly open.',
    'camel-case-flags': 'Field maxDepth is the flag --max-depth.',
    'zod-path':
      'path({exists, kind, resolve, direction}) in toolable/zod checks and resolves paths.',
    'tool-without-run': 'A tool without run is advertised, and calling it is a failed result.',
    'contradicting-types': 'Contradicting types of run and output do not compile.',
    'types-inferred': 'Types of input and result are inferred from the schemas.',
    'run-sync-or-async': 'run may return a value or a promise.',
    'run-generator-streaming':
      'A streaming tool is a generator that yields events; its return value or its result event is the result.',
    'run-generator-session':
      'A session tool yields session.start, ask and end, and receives the answers.',
    'declared-streaming-session':
      'streaming and session can be declared, and discovery shows them.',
    'context-progress-log-artifact':
      'ctx.progress, ctx.log, ctx.artifact and ctx.item become events.',
    'context-ask':
      'ctx.ask gives a boolean for confirm, the option value for decision and a typed value for input.',
    'context-ask-default-timeout':
      'A question that is not answered in time takes its default, or fails.',
    'context-sample':
      'ctx.sample(prompt, options) gives the text of the answer of the model that the caller brings.',
    'context-checkpoint': 'ctx.checkpoint(stage) saves atomically and loads what was saved.',
    'context-signal-deadline': 'ctx.signal aborts and ctx.deadline tells when the time is over.',
    'context-plan': 'ctx.plan(action, target, details?) collects the plan of a dry run.',
    'context-caller-env-cwd':
      'ctx.caller, ctx.env and ctx.cwd come from the call, not from the process.',
    'context-secret': 'ctx.secret(name) gives a secret that came by file or stdin.',
    'context-state': 'ctx.state is the typed store of the call.',
    heartbeats: 'Heartbeats are sent for the author while run is working.',
    'reserved-working-dir': 'A declared working_dir (workingDir) becomes ctx.cwd.',
    'reserved-timeout': 'A declared field timeout bounds the call.',
    'reserved-dry-run': 'A declared field dry_run (dryRun) makes the call a dry run.',
    'reserved-verbose': 'A declared field verbose is fed by --verbose.',
    'reserved-inactive': 'A reserved field that is not declared does nothing.',
    'hook-pre-validate':
      'preValidate(input, ctx) runs after validation and before run, and may refuse.',
    'hook-context': 'context(input) adds to the context of the call.',
    'hook-redact': 'redact(input) decides what of the input is shown in events and logs.',
    'dry-run-supported':
      'A handler with dryRun: true runs in a dry run and the result is {plan: [...]}.',
    'dry-run-unsupported': 'Any other dry run answers {dry_run, would_execute} without running.',
    durations: "A duration is a number of seconds or a text such as '500ms'.",
    'resource-read-forms': 'A resource reads a string, bytes, JSON or {mimeType, text|blob}.',
    'prompt-arguments':
      "Prompt arguments are the seed's record or a schema; render gives a string or messages.",
    'uri-linear-time': 'URI patterns are matched in linear time.',
    'fail-options':
      'fail(code, message, options) throws ToolError with recoverable, retryable, suggestion, details, field and cause.',
    'fail-string-suggestion': 'A suggestion given as a string means {fix}.',
    'suggestion-input':
      'suggestion.input is a repaired input, rendered as a command line on the terminal and as JSON elsewhere.',
    'ok-outcome': 'ok(value, {message, hidden}) builds a success with text for the model.',
    'partial-outcome':
      'partial(result, errors, options?) builds a partial outcome with its summary.',
    'examples-args': "Examples are {input} or the seed's {args: [...]}.",
    'declared-errors':
      "Declared errors are {category, message} or the seed's text, and fail(code) uses them.",
    'flag-short-env': 'flags gives a field a short flag and an environment variable.',
    positional: 'positional names the fields that are given by place.',
    'timeout-option': 'timeout of a tool bounds every call of it.',
    content:
      'ok and partial carry content for models in the forms of MCP, built by content; content that nobody could show is INTERNAL.',
    'content-shown':
      'Content stands behind the message in the envelope, and is readable in text, md and csv.',
    'context-roots':
      'ctx.roots gives the places that the caller works in, the working folder by default.',
    'question-key':
      'key names a question, a completion or a request for roots, and travels with it.',
    'questions-at-once':
      'Several questions may be open at once: the deadline stands still until the last is answered, and whoever is asked hears when the call is over.',
    'reading-context': 'Prompts and resources ask, sample, log and see the roots like tools.',
    completers:
      'Arguments of prompts and placeholders of resources complete by function; enum, const, boolean and examples of a schema by themselves.',
    'list-resources': 'toolset.listResources gives the addresses that can be read right now.',
    'protocol-error':
      'protocolError(code, message, data) fails with E_PROTOCOL and the number in its details.',
    'mcp-options':
      'mcp of a tool is checked at definition, stands in its manifest, and is printed by no document flag.',
    'toolset-remove': 'Tools, resources and prompts can be taken out of a toolset while it lives.',
    'toolset-changes':
      'onChange tells at once of what is added, removed or changed, and a listener that throws disturbs nobody.',
    'manifest-projections':
      '--discover, --manifest, --schema and --describe are projections of one ToolManifest.',
  }),
  ...later('3', {
    'plain-functions':
      'Every function that a module itself exports becomes a tool; types and TSDoc give schema, help and examples.',
    'plain-functions-cached':
      'The types that were read are cached, and `toolable build` writes them down once.',
  }),
  ...section('4', {
    'json-never-coerced': 'JSON input is never coerced.',
    'argv-coerced-by-schema':
      'Strings from argv and environment are coerced by the declared schema only.',
    'guards-before-run': 'Guards decide before run, and a guard that fails closes.',
    'deadline-at-entry': 'A call whose deadline is over does not run.',
    'deadline-while-running': 'A deadline is enforced while the handler runs.',
    'output-validated':
      'The result is validated against the output schema; a wrong result is INTERNAL, not a success.',
    'state-rolls-back': 'State is restored on any failure; logs stay.',
    'one-outcome-one-event': 'A call gives one outcome and one tool_invoked event.',
    'failure-is-a-value':
      'Nothing a tool does can crash the host: throws, rejections, thrown non-errors, late rejections, process.exit.',
    'console-never-on-stdout': 'console.log inside a handler never reaches protocol stdout.',
    'destructive-needs-confirmation':
      'A destructive tool needs --yes or an answer on the command line; otherwise CONFIRMATION_REQUIRED, and PERMISSION when the answer is no.',
    'direct-call-is-consent': 'A direct function call of a destructive tool is consent.',
    'envelope-success':
      'A success is {ok, status, result, meta}, keys in this order, absent values left out.',
    'envelope-error':
      'An error is {ok, status, error, meta} with code, category, message, recoverable, retryable and, where known, suggestion, field and details.',
    'envelope-partial': 'A partial outcome is {ok, status, result, errors, summary, meta}.',
    'envelope-message': 'message follows result where a tool gave one.',
    'envelope-meta':
      'meta carries tool, version, duration_ms and, where they apply, dry_run, warnings, truncated, next_cursor, caller, run_id and artifacts.',
    'partial-nothing-succeeded':
      'A partial outcome in which nothing succeeded is ok:false with an error.',
    'recoverable-retryable':
      'recoverable and retryable are two facts, given by the table of codes and changeable by fail.',
    'error-table':
      'Category, class, exit code, recoverable and retryable of every code are those of the one table.',
    'exit-invalid-input':
      'INVALID_INPUT exits 2 when it came by flags and 65 when by JSON, stdin or file.',
    'seed-codes-read':
      "Seed names of errors are read as the row that lists them; event lines write the seed's E_ name.",
    'own-codes':
      'Other codes are the tools own: category as declared, else by the first digit, E_* is runtime; exit by category.',
    'own-codes-text-only':
      'A tool that declares one of our Ex000 to Ex009 overrides its text only.',
    'dialect-flag':
      '--dialect toolable|tooli|acor|simple selects the writer of the seed, byte for byte as in its examples.',
    'dialect-simple-test': '{"__test__": true} and the dump flags mean the simple dialect.',
    'dialect-acor-environment':
      'RUN_ID with AI_PROTOCOL_VERSION means acor, unless RUN_STDOUT says that stdout is not the runners.',
    'dialect-explicit-wins': 'An explicit --output or --dialect always wins.',
    'dialect-readers': 'Readers of foreign output accept every dialect.',
    'prototype-keys':
      '__proto__, constructor and toString are ordinary keys: nothing is polluted and nothing is found that was not given.',
    'concurrent-calls':
      'Calls at the same time do not see the state, context or console output of one another.',
    'confirm-http':
      'Over HTTP a destructive tool is confirmed by the header Toolable-Confirm: yes.',
  }),
  ...section('4', {
    'confirm-mcp':
      'Over MCP a destructive tool is confirmed by elicitation, or by the hosts own approval unless --confirm always.',
  }),
  ...later('4', {
    'error-codes-yaml': "A tools/registry/error_codes.yaml in the seed's form is read and merged.",
  }),
  ...section('5', {
    'help-program':
      'prog and prog --help print help: examples first, commands, options, exit codes.',
    'help-tool':
      'prog <tool> --help prints examples first, arguments, options, global options, exit codes.',
    'flag-forms':
      '--flag value, --flag=value, --no-flag, repeated --list and -- literal are understood.',
    'object-flags': '--object \'{"json":1}\' and --object.key value fill an object field.',
    'json-argument':
      "prog <tool> '{…}' takes the whole input as JSON; only the first positional argument can be that.",
    'stdin-dash': 'prog <tool> - reads the input from stdin.',
    'stdin-piped':
      'Piped stdin is the input when no input argument was given and a required field is missing.',
    'stdin-silent-pipe': 'A pipe that stays silent is waited for only a bounded time.',
    'at-file': '@file.json reads the input from a file.',
    'single-tool-no-name': 'A single-tool program needs no tool name.',
    'control-flags-position':
      'Control flags are recognised only in flag position, never as values and never after --.',
    'program-flags-before-tool': 'Program-level flags act only before the tool name.',
    'did-you-mean': 'Unknown flags, commands, keys and enum values get a "did you mean".',
    discover: "--discover prints the seed's bare JSON document of tools, resources and prompts.",
    'tools-resources-prompts': '--tools, --resources and --prompts print their bare JSON lists.',
    'resource-flag': '--resource <uri> reads a resource.',
    'prompt-flag': '--prompt <name> <json> renders a prompt.',
    manifest: "--manifest prints the library seed's form.",
    schema: '--schema prints input and output JSON Schema of one tool or of all.',
    describe: "--describe prints the orchestration manifest's form.",
    validate: '--validate <json> checks an input without running.',
    'document-failures': 'Failures of the document flags are envelopes with a non-zero exit.',
    selftest: '--selftest runs the examples and says what does not hold.',
    'stream-flag': '--stream prints event lines that end in the result line.',
    'session-flag': '--session converses in JSON lines.',
    'sample-via': '--sample-via stdin or an http(s) URL answers ctx.sample.',
    'dump-flags': 'The seed\'s dump flags and {"__test__": true} answer in the simple form.',
    'output-formats':
      '--output auto|json|jsonl|text|yaml|toon|md|csv, with --json and --jsonl as aliases.',
    'output-order':
      'The output mode comes from the flag, then TOOLABLE_OUTPUT or TYPER_AGENT_OUTPUT, then a known agent or CI, then the terminal.',
    'one-document': 'json, yaml and toon print exactly one document, on failure too.',
    'bare-formats': 'csv, md and text print the bare result, and failures go to stderr.',
    'stderr-error-line': 'In JSON mode stderr carries one line {"error":{…}} on failure.',
    'jsonl-items':
      'jsonl prints the items of a list one per line, and anything else as the one envelope line.',
    notifications: 'Notifications go to stderr in JSON modes and are a live display on a terminal.',
    'text-tables': 'Text mode draws tables and trees within the width of the terminal.',
    'control-sequences': 'Text mode strips control sequences from data.',
    colours: 'NO_COLOR, FORCE_COLOR and --no-color are honoured.',
    'quiet-verbose': '--quiet says less and --verbose, stackable, says more.',
    'dry-run-flag': '--dry-run makes the call a dry run.',
    'timeout-flag': '--timeout ends the call on time with TIMEOUT, exit 124.',
    'fields-filter-limit-cursor':
      '--fields, --filter, --limit, --cursor and --max-tokens cut the result and say so in meta.',
    'own-field-wins': 'For limit, cursor, fields, filter and max-tokens a field of the tool wins.',
    'flag-clash':
      'Any other clash with an injected flag is refused at definition with the way out.',
    'stdin-one-owner': 'A run has one owner of stdin: input, dialogue or sampling.',
    'never-hang': 'Nothing is asked unless stdin and stderr are terminals.',
    'answer-required':
      'A question that nobody can answer is ANSWER_REQUIRED with the way to go on.',
    signals: 'SIGINT and SIGTERM abort the handler, answer, and exit 130 or 143.',
    'closed-pipe': 'A closed pipe ends the program quietly.',
    'whole-output': 'Stdout is flushed whole before exit, also past 64 KiB.',
    'idempotency-key':
      'The same --idempotency-key gives the first outcome again, across processes, for 24 hours.',
    'idempotency-conflict': 'The same idempotency key with another input is a CONFLICT.',
    'settings-order':
      'Settings: flag, then environment, then project file, then user file, then default.',
    'secrets-not-by-argv': 'Secrets come by --secret-file or stdin, never by argv.',
    'completion-bash': 'completion bash completes in a real bash.',
    'completion-zsh': 'completion zsh completes in a real zsh.',
    'completion-fish': 'completion fish completes in a real fish.',
    'completion-powershell': 'completion powershell prints a script for PowerShell.',
    'builtin-commands':
      'Commands that every program has are tools themselves: help, flags, did-you-mean, --json and exit codes are those of a tool.',
    'builtin-yields':
      'A tool or group hides the built-in command of its name, and the only tool of a program gets words unless a sub-word follows them.',
    'mcp-add':
      'prog mcp add|remove|list merges into the files of the agents on the machine, never clobbers, and has --dry-run.',
    'skills-add': 'prog skills add|remove|list does the same for skills.',
    'serve-mcp-alias': '--serve-mcp X hands all that follows to mcp serve --transport X.',
    docs: 'prog docs prints skill, agents, claude, command, subagent, llms, man, openapi and markdown forms, and writes them with --write.',
    'docs-check':
      'prog docs --check fails with PRECONDITION and the command that mends it when a document on disk is missing, stale or left over.',
    'docs-write-safe':
      'prog docs --write replaces files at once, never one of somebody else unless forced, never through a link that leaves the folder, and leaves nothing behind when it fails.',
    'lazy-loading': '--help and a plain call load no MCP, YAML or prompt code.',
    'bad-json': 'JSON that does not parse is INVALID_INPUT and says where.',
    'bad-not-an-object': 'A JSON input that is no object is INVALID_INPUT.',
    'bad-utf8': 'Input that is not UTF-8 is INVALID_INPUT, not a crash.',
    'bad-empty-stdin': 'Empty stdin where input was wanted is a structured failure.',
    'bad-missing-file': 'A missing @file or --secret-file is INVALID_PATH.',
    'bad-flag-without-value': 'A flag without its value is USAGE and names the flag.',
    'bad-unknown-tool': 'An unknown tool is USAGE and lists the nearest names.',
    'bad-several-problems': 'All problems of one input are told at once, each with its field.',
  }),
  ...section('5', {
    'serve-mcp': '--serve-mcp stdio|http serves the tools over MCP.',
    'mcp-conformance':
      'The official conformance suite passes in both revisions, unscored scenarios and recommendations included, without a list of expected failures.',
    'mcp-clients':
      'Clients that others wrote list, call, read, answer, cancel and hear of progress, over stdio and HTTP, in both generations of the protocol.',
    'mcp-both-eras':
      'Each request is taken by what it says itself, so that both generations may be mixed.',
    'mcp-bad-messages':
      'A message that is no JSON, no UTF-8, no request, too long or wrong is answered with an error, and the server goes on.',
    'mcp-pure-stdout':
      'Over stdio nothing but the protocol stands on stdout, whatever a handler or its library prints.',
    'mcp-crash': 'A crash in a handler fails its call alone.',
    'mcp-drain':
      'A server whose stdin ends, or that is told to stop, answers what it has begun, exits and leaves no child.',
    'mcp-client-gone': 'When a client disappears in the middle of a call, the handler is aborted.',
    'mcp-cancel': 'A cancelled call is aborted and never answered.',
    'mcp-progress':
      'Progress goes to clients that gave a token, always grows, and is thinned in a flood.',
    'mcp-log': 'Log lines go to the clients that asked for their level.',
    'mcp-pages': 'Lists come in pages, and a cursor that nobody gave is refused.',
    'mcp-slow-reader':
      'What a client does not read does not pile up: log lines and progress are left out, answers never.',
    'mcp-results':
      'Results fit the output schema that was listed, dry runs included; artifacts can be read by their address, and no other file can.',
    'mcp-leaves-nothing':
      'Calls, questions, streams, sessions and subscriptions that are over take no memory.',
    'mcp-list-changed':
      'Clients hear that tools, prompts and resources have changed: older ones always, newer ones by subscription.',
    'mcp-rounds':
      'A call that asks goes on where it was with the signed state of its last round, and no other state is accepted.',
    'mcp-tasks':
      'A long call becomes a task for clients that know tasks, as its tool says: never, after a while, or always.',
    'mcp-progressive':
      'With --progressive, and by itself above 30 tools, three tools are listed that find, describe and run the others.',
    'mcp-guards':
      'Over HTTP a foreign Host or Origin is 403, a missing token 401, a body too big 413.',
    'mcp-port-taken': 'A port that is taken is told at once.',
    'mcp-no-sse': 'The transport sse is a usage error that names http.',
  }),
  ...section('6', REGISTRY),
  ...section('7', OUTPUT),
  ...section('7', PERMISSIONS),
  ...section('7', EXAMPLES),
  ...section('7', { ...DOCTOR, ...EGRESS }),
  ...section('7', RUNS),
  ...section('7', SANDBOX),
  ...section('7', RUNNER),
  ...section('8', FILES),
  ...section('8', GUARDS),
  ...section('8', PLANNING),
  ...section('8', SECTIONS),
  ...section('8', AGENT),
  ...section('8', STATE),
  ...section('9', WORKFLOW_DEFINITION),
  ...section('9', WORKFLOW_ENGINE),
  ...section('9', WORKFLOW_HOST),
  ...section('9', WORKFLOW_INTERPRETER),
  ...section('9', WORKFLOW_RESTATE),
  ...section('9', WORKFLOW_RUNS),
  ...section('10', VIEWS_RUN_PAGE),
  ...section('7', RUN_ASKED),
  ...section('10', VIEWS_ACTIONS),
  ...section('9', WORKFLOW_BUILD),
  ...section('10', VIEWS_HTTP),
  ...section('10', VIEWS_MODEL),
  ...section('10', VIEWS_SHELL),
  ...section('10', VIEWS_TERMINAL),
  ...section('10', VIEWS_TOOLS),
  ...section('10', {
    'http-handler':
      'createHandler makes a toolset a web-standard fetch handler with /tools/<name>, /mcp and /openapi.json; toNode serves it by node:http and Express.',
    'http-status': 'Over HTTP a success has the status 200 and an error the status of the table.',
    'http-refusals': 'Whatever HTTP refuses, it refuses with an envelope.',
    'http-events':
      'Over HTTP a call streams its events as server-sent events that end in the result.',
    'http-discovery': 'GET /.well-known/toolable.json shows what a server offers and where.',
    'http-openapi': 'GET /openapi.json is a valid OpenAPI 3.1 document.',
    'http-guards': 'A server on loopback refuses foreign Host and Origin headers with 403.',
    'http-token':
      'A token is checked in constant time; a server beyond loopback does not start without one.',
    'http-body-limit':
      'A body above the limit is refused with 413 while it is read; memory stays bounded.',
    'http-slow-sender': 'A client that sends too slowly is cut off.',
    'http-client-gone': 'A client that goes away cancels its call.',
    'http-port-taken': 'A port that is taken is CONFIG at once, with a free port to paste.',
    'http-graceful-stop':
      'A server that is told to stop lets running calls end, then cuts them, leaves nothing behind and exits 0.',
    'http-crash': 'A handler that crashes fails its own call, and the server lives on.',
    'http-mounted': 'The handler is shown mounted in Hono and in Express.',
  }),
  ...section('10', VIEWS_RUNS),
  ...section('12', {
    'search-query-discover': '`search --query --discover` searches.',
    'config-json-is-one-flag': '`--config \'{"a":1}\'` is one flag.',
    'query-1-10-stays-text': '`--query 1.10` stays the text 1.10.',
    'errors-exit-non-zero': 'Errors exit non-zero.',
    'validate-without-model': '`--validate` validates also without hand-written model.',
    'uri-escaped-anchored': '`/files/{id}.json` does not match `/files/12Xjson/extra`.',
    'eof-ends-session': 'EOF ends a session.',
    'bad-line-keeps-session': 'A bad line does not end a session.',
    'error-document-with-exit-0': '`{"error":…}` with exit code 0 is an error.',
    'describe-nosuch-fails': '`describe nosuch` fails.',
    'status-active-is-a-result': '`{"status":"active"}` is a result.',
    'resume-resumes': 'Resume resumes, and the documented command works the second time too.',
    'probe-without-side-effects': "A probe never runs a script's side effects on the user's files.",
  }),
  ...later('12', {
    'silent-tool-killed': 'A silent tool is killed on time.',
    'grandchildren-die': 'Grandchildren die.',
    'run-evil-path-refused': '`run ../../evil` is refused.',
  }),
}

function section(
  number: Requirement['section'],
  sentences: { readonly [name: string]: string },
): { [id: string]: Requirement } {
  return Object.fromEntries(
    Object.entries(sentences).map(([name, sentence]) => [
      `${number}.${name}`,
      { section: number, sentence },
    ]),
  )
}

function later(
  number: Requirement['section'],
  sentences: { readonly [name: string]: string },
): { [id: string]: Requirement } {
  return Object.fromEntries(
    Object.entries(section(number, sentences)).map(([id, promise]) => [
      id,
      { ...promise, later: true },
    ]),
  )
}
