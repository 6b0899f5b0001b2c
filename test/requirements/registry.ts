/** The promises of section 6 of the specification: the registry and what stands behind it. */
export const REGISTRY: { readonly [name: string]: string } = {
  'yaml-bounds':
    'YAML of others cannot grow, merge, repeat keys, make objects or pollute: it is refused with file and line.',
  'fractalic-manifest':
    'Manifests of the fractalic form are read: python, python-cli, bash, bash-cli, mcp, node, exec.',
  'orchestration-manifest':
    'Manifests registry/<tool>/tool.yaml of the orchestration form are read, with entries by preference.',
  'error-codes': 'registry/error_codes.yaml is read and merged into the errors of the tools.',
  'told-apart-by-keys':
    'Manifests are told apart by their keys; other YAML is no problem, and what is nearly one is told what it misses.',
  'in-file-manifest':
    'A comment `toolable: {json}` among the first lines of a file of any language is its manifest; the file is not run.',
  'simple-json': 'Scripts that answer the test are tools, with the schema that they dump.',
  'discover-documents': 'Resources and prompts of executables are read and rendered by them.',
  'reserved-names': 'Reserved names of a tools folder are never tools and never run.',
  'companion-yaml':
    'A YAML file of the same name, or a manifest inside, speaks for a script, which is not probed.',
  'entry-confined': 'An entry stays in its folder, whatever paths and links say.',
  'change-noticed': 'A file that changed after it was found is noticed before it is run.',
  'hostile-answers':
    'What a candidate prints, however deep or strange, costs its own tool and no other, and never becomes a command in a fix.',
  'folder-cache':
    'What was found in a folder is remembered in one file; only what changed is asked again, and a cache that is not ours is ignored.',
  'folder-watch': 'A watched folder is looked at again by itself.',
  'changes-calm':
    'Changes are looked at one after the other, many at once as one, and a source that never rests keeps nobody busy.',
  'names-valid':
    'Any text that somebody calls a tool becomes a valid name, the same one each time, and long or foreign ones stay apart.',
  'names-providers':
    'Exported names are valid for every provider, unique, reversible and independent of the order of sources.',
  'names-stable':
    'Adding a tool renames no other tool for models, except that a bare name goes to its owner.',
  'to-openai': 'toOpenAI gives the tools of chat completions or of responses.',
  'to-openai-strict':
    'In strict mode schemas are closed, every field is required, and what cannot be strict is exported without it, with a note.',
  'to-anthropic': 'toAnthropic gives the tools of the Messages API.',
  'to-gemini': 'toGemini gives function declarations in the subset of OpenAPI that Gemini reads.',
  'to-mcp': 'toMcp gives tools as tools/list shows them.',
  'exported-schemas':
    'Exported schemas obey the rules of each provider, have no references, and never allow less than the tool does.',
  'handle-tool-call':
    'handleToolCall recognises the call of each provider by its shape, runs it, and gives the tool message of that provider.',
  'handle-bad-calls':
    'Bad JSON, unknown tools and empty arguments are answered with a tool message that says how to repair the call.',
  'foreign-schemas':
    'A foreign description may be wrong in any way: what cannot be used is left open, and the tool works.',
  'foreign-refs': 'A remote reference in a schema is never fetched.',
  'foreign-bounds':
    'Schemas that are huge, deep, circular or multiply themselves cost a bounded amount of time and size.',
  'foreign-patterns':
    'A pattern of a foreign schema cannot block the host, whatever text it is tried on.',
  'child-nothing-inherited':
    'A child gets exactly the arguments, directory, environment and input that it is given, and no shell is in between.',
  'child-environment':
    'Programs get a short list of variables of the host; probes get fewer, and a home of their own.',
  'child-never-throws':
    'However a child goes, starts or does not start, there is one end that says how, with a reason and what to do.',
  'child-bounded-output':
    'Bytes are counted before anything reads them: too many on stdout, or in one line, end the child; stderr is kept from its beginning.',
  'child-lines':
    'Lines end at \\n and \\r\\n only, come whole however the bytes come, and bytes that are no UTF-8 break nothing.',
  'child-tree-ends':
    'When a child is over or its time is up, its whole tree ends, and nobody waits for what it left behind.',
  'child-open':
    'A child can be kept and talked to in lines, with backpressure, without keeping its owner alive.',
  'child-named-pipes':
    'A child can open its own streams by name: /dev/stdin, /dev/stdout and /dev/stderr.',
  'sandbox-writes-nothing':
    'A sandboxed program writes nowhere but into a small temporary directory of its own.',
  'sandbox-hides':
    'A sandboxed program sees no homes and no temporary files but those that it is shown, and no variables but those that it is given.',
  'sandbox-reaches-nobody':
    'A sandboxed program reaches no network, no socket and no process outside.',
  'sandbox-honest':
    'Where a machine cannot make a sandbox, it is said why, and nothing that asked for one is run.',
  'probe-forms':
    'Scripts and executables are asked for Simple JSON, schema dumps, --discover and, where it is wanted, --help; the richest answer decides.',
  'probe-slow': 'An answer after 200 ms counts, with a warning.',
  'probe-reasons': 'Every candidate that is not a tool has a reason and a fix.',
  'probe-leaves-nothing':
    'A probe changes no file and leaves no process, whatever the candidate does.',
  'probe-no-sandbox': 'Without a sandbox nothing is probed unless that is asked for.',
  'help-exact':
    'Of the flags that git, argparse, pip and openssl print, the reader finds 98 % and invents 1 % at most, and knows of 97 % whether they take a value.',
  'help-fish':
    'Of the flags that common programs print, the reader finds 95 % of those that fish knows, and knows of 92 % whether they take a value.',
  'help-styles':
    'Help of GNU, git, argparse, click, typer, cobra, clap, yargs, commander, BSD, docopt, npm, busybox and manual pages is read, and prose is not.',
  'help-any-text': 'No text makes the help reader throw, and its time grows with the text only.',
  'help-facts': 'A help text becomes fields with types, choices and what is required.',
  'help-argv': 'Calls of ordinary programs build arguments so that no value can become a flag.',
  'help-program':
    'A program becomes tools by --discover, or one tool for each command of its help, asked in a sandbox and remembered until the file changes.',
  conformance:
    'Every source passes one suite: listed, described, called with any text, refused before it runs, cancelled, and nothing left behind.',
  'ids-and-tiers':
    'Every entry has the id `<source>.<tool>`; a bare name means the highest tier, and what is shadowed is recorded and shown.',
  'strict-duplicates':
    'Same tier, same name: an error in strict mode, first wins with a warning otherwise.',
  'registry-filters':
    'Tools are chosen by name, id, tag and source, and a filter that means nothing is an error that names what exists.',
  'registry-served': 'A whole registry is served over MCP and HTTP like a toolset.',
  emitters:
    'One file makes a Python or shell script a full tool: discovery, schema, events, errors, by the same suite as ours.',
  'registry-life':
    'A registry looks again, tells of changes, and leaves nothing open when it is closed.',
  'serve-lines':
    '`prog --serve` keeps a program alive and answers calls, resources, prompts and pings by JSON lines until stdin ends.',
  'serve-no-cross-talk':
    'Calls at the same time over one pair of pipes each get their own events and their own result.',
  'serve-bad-lines':
    'A line that cannot be understood, or is too long, is answered with an error and changes nothing else.',
  'serve-cancel': 'A cancelled call is aborted in the program that serves it.',
  'serve-crash':
    'An error that a handler leaves unhandled fails its own call, and the program goes on serving.',
  'serve-stray-output': 'What handlers of a serving program print never reaches the lines.',
  'serve-questions':
    'Questions, completions and consent of a served call are asked and answered by lines.',
  'serve-end':
    'A serving program ends with its stdin or by a signal, answers what it can, and leaves nothing behind.',
  'serve-discover': '--discover tells whether a program can serve.',
  'warm-calls':
    'A toolable executable that is called repeatedly is kept alive and reused, with many calls in one process.',
  'warm-crash':
    'A warm program that dies in a call fails that call with a retryable error, and the next call starts it anew.',
  'warm-never-twice': 'A call that was handed to a program is never made a second time by itself.',
  'warm-change':
    'A program whose file has changed answers new calls with its new version, and old calls end in the old one.',
  'warm-idle':
    'A warm program that nobody calls is ended, and of too many the one that was not used for longest.',
  'warm-questions': 'Events and questions of a warm call reach whoever made it.',
  'warm-fallback': 'A program that cannot be kept warm is called cold.',
  'child-forms':
    'A tool in another process is called as it wants: by JSON, by flags, by stdin, by the run protocol, as a toolable executable, or by what its help says.',
  'child-argv':
    'Arguments reach a program exactly as they are, no shell is in between, and no value can become a flag.',
  'child-large-input':
    'Input that is too large or too secret for a command line goes by stdin, or is refused with the limit and the way out.',
  'call-environment':
    'A program gets a small environment, what it requires by name and what its configuration gives; what is missing is told before it starts.',
  'child-answers':
    'Answers are understood as one JSON document, JSON lines, plain text or any envelope, also behind log lines; what cannot be read is told.',
  'child-failures':
    'Whatever way a program fails in becomes one error with code, message, exit status and the end of stderr.',
  'child-side-channel':
    'Notifications on stderr are progress, messages and artifacts; stderr never decides how a call ends.',
  'child-cancel':
    'A call that is cancelled or out of time is answered at once, and the whole tree of its program ends; no misbehaviour of a program hangs a call.',
  'child-protocol':
    'A tool of the run protocol tells events, asks and is answered, and ends once; exit 0 without a result is a failure.',
  'warm-leaves-nothing': 'Warm programs keep no host alive and end with it, however it ends.',
  'mcp-real-servers':
    'MCP servers that others wrote are registered, listed and called; their resources, prompts, progress and questions work.',
  'mcp-own-servers':
    'A toolable MCP server behind a registry keeps codes, partial results and questions, on stdio and HTTP, in both eras of the protocol.',
  'mcp-restart':
    'A server that is killed in a call gives a retryable error, is started anew for the next call, and the others are untouched.',
  'mcp-dead-server':
    'One dead server delays nobody; it is shown as dead with the reason and a fix.',
  'mcp-hostile':
    'Floods, wrong ids, huge answers, changing tools and false results of a server are bounded and told.',
  'mcp-questions':
    'A server may ask only what somebody can answer, and the call that runs is asked.',
  'servers-leave-nothing':
    'Nothing of a server survives its registry, however either of them ends.',
  'tool-servers':
    'HTTP servers with /list_tools and /call_tool are listed and called, whatever form their manifests and answers have.',
  openapi:
    'Each operation of an OpenAPI document is a tool; parameters and bodies go where they belong, and credentials come from the configuration only.',
  'openapi-paths': 'No value of an input can lead a request to another path or server.',
  'openapi-own': 'A toolable HTTP server by its own OpenAPI document keeps its outcomes.',
  'command-list':
    '`toolable list` shows every tool with its origin, what is behind another of its name, and every candidate that is not a tool with reason and fix.',
  'command-describe': '`toolable describe` and `schema` show one tool by name or id.',
  'command-call':
    '`toolable call` gives everything behind the name to the tool and answers like a program of that tool, in the directory of the caller.',
  'command-program': '`toolable` has help, a version, and says which command was meant.',
  'command-completion': '`toolable` completes commands, names of tools and the flags of a tool.',
  'command-serve': '`toolable serve mcp|http` and `toolable mcp serve` serve the whole registry.',
  'command-lazy':
    '`toolable list` over a known folder loads no schema library, no YAML and no MCP, and starts nothing.',
  'command-read-help':
    '`toolable read-help` prints what is understood of the help of a program or of a text.',
  'config-file':
    'The nearest toolable.yaml, .yml or .json upwards holds the options of a registry; paths start at the file; ./tools counts without one.',
  'config-errors':
    'A wrong configuration is CONFIG, exit 78, with line, column and what was meant; two side by side are refused.',
  'check-examples': 'The examples of this house are found 100 % ready for agents.',
  'check-findings':
    '`toolable check` finds what is wrong with a program, says how to mend it, and lets it change nothing.',
  'check-report':
    '`toolable check` prints a line for each check, how to mend each finding, and the score; it exits 1 below the wanted percentage.',
}
