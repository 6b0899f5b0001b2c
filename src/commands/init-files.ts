/**
 * The files of a new project (the shortcut `./tool`, toolable.yaml, a first tool in each language,
 * files for Claude Code), written all or none.
 */

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ToolError } from '../protocol/tool-error.ts'

/** The files that every project has: the shortcut and the configuration. */
export function listProjectFiles(): readonly NewFile[] {
  return [
    { path: 'tool', text: SHORTCUT, program: true },
    { path: 'toolable.yaml', text: CONFIGURATION },
  ]
}

const CONFIGURATION = `# Where the tools of this project come from; see the page "registry" of the documentation of toolable.
folders: [tools]
`

/** `exec`, so that a signal reaches the runner and not a shell in front of it. */
export const SHORTCUT = `#!/bin/sh
# Runs the tools of this project, supervised and on record.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd) || exit 1

start() {
  if [ -x "$here/node_modules/.bin/toolable" ]; then exec "$here/node_modules/.bin/toolable" "$@"; fi
  if command -v toolable > /dev/null; then exec toolable "$@"; fi
  exec npx --yes toolable "$@"
}

case "\${1-}" in
  --list | --describe) start --config "$here/toolable.yaml" "$@" ;;
  '' | -h | --help)
    echo 'Usage: ./tool <tool> [arguments] | ./tool --list | ./tool --describe <tool>'
    [ -n "\${1-}" ] || exit 2 ;;
  *) start run --config "$here/toolable.yaml" "$@" ;;
esac
`

/**
 * A first tool, with its manifest, and in languages that have no package of ours with the helper
 * that it needs.
 */
export function listFirstToolFiles(language: TemplateLanguage, name: string): readonly NewFile[] {
  const folder = `tools/${name}`
  return [
    { path: `tools/registry/${name}/tool.yaml`, text: renderManifest(name, ENTRY_FILES[language]) },
    {
      path: `${folder}/${ENTRY_FILES[language]}`,
      text: PROGRAM_TEMPLATES[language](name),
      program: true,
    },
    ...(language === 'ts'
      ? []
      : [
          {
            path: `${folder}/toolable.${language === 'python' ? 'py' : 'sh'}`,
            text: readEmitter(language),
          },
        ]),
  ]
}

const ENTRY_FILES = { ts: 'cli.mjs', python: 'cli.py', sh: 'cli.sh' } as const
const TOOL_SUMMARY = 'Greet somebody, and count the letters of the name'
const WHO_DESCRIPTION = 'Who is greeted'

function renderManifest(name: string, entry: string): string {
  return `name: ${name}
version: 0.1.0
summary: ${TOOL_SUMMARY}
entry: ${entry}
protocol_version: 1
inputs:
  - {name: who, type: string, required: true, description: ${WHO_DESCRIPTION}}
# What does not stand here is denied: other files, the network, more time and memory. Inputs of type path can be read, or written, without being named here.
permissions:
  filesystem:
    read: ["\${WORKSPACE}/**"]
    write: ["\${WORKSPACE}/**"]
resources: {cpu_seconds: 60, memory_mb: 1024}
health: {selftest: ["--selftest"]}
`
}

const PROGRAM_TEMPLATES: { readonly [language in TemplateLanguage]: (name: string) => string } = {
  // Types are inferred from the schema: the file is TypeScript without a single annotation, and
  // Node runs it without a build.
  ts: (name) => `#!/usr/bin/env node
// @ts-check
// ./tool ${name} --who World runs it under the runner; by itself it has --help and --discover too.
import { tool, toolset } from 'toolable'

await toolset({
  name: '${name}',
  version: '0.1.0',
  tools: [
    tool({
      name: '${name}',
      summary: '${TOOL_SUMMARY}',
      input: { type: 'object', properties: { who: { type: 'string', description: '${WHO_DESCRIPTION}' } }, required: ['who'], additionalProperties: false },
      annotations: { readOnly: true, idempotent: true },
      examples: [{ input: { who: 'World' } }],
      run({ who }, ctx) {
        ctx.progress('counting letters', 50)
        return { greeting: \`Hello \${who}\`, letters: [...who].length }
      },
    }),
  ],
}).run(import.meta)
`,
  python: (name) => `#!/usr/bin/env python3
"""./tool ${name} --who World runs it under the runner; by itself it has --help and --discover too."""
from typing import Annotated

from toolable import progress, run, tool


@tool(name="${name}", summary="${TOOL_SUMMARY}", read_only=True, idempotent=True, examples=[{"input": {"who": "World"}}])
def greet(who: Annotated[str, "${WHO_DESCRIPTION}"]):
    progress("counting letters", 50)
    return {"greeting": "Hello %s" % who, "letters": len(who)}


run()
`,
  sh: (name) => `#!/bin/sh
# ./tool ${name} --who World runs it under the runner; by itself it has --help and --discover too.
. "$(dirname "$0")/toolable.sh"

tool ${name} '${TOOL_SUMMARY}' readOnly idempotent
param who string required '${WHO_DESCRIPTION}'
run_${name}() {
  progress 'counting letters' 50
  result "{\\"greeting\\": $(json_string "Hello $who"), \\"letters\\": \${#who}}"
}

toolable_main "$@"
`,
}

const EMITTER_FILES = {
  python: 'emitters/python/toolable.py',
  sh: 'emitters/sh/toolable.sh',
} as const
/** From the built files, and from the sources. */
const PARENT_PATHS = ['../', '../../', '../../../', '../../../../']

/** The helper of a language, as the package brings it. */
function readEmitter(language: keyof typeof EMITTER_FILES): string {
  const file = PARENT_PATHS.map(
    (above) => new URL(`${above}${EMITTER_FILES[language]}`, import.meta.url),
  ).find((url) => existsSync(url))
  if (!file)
    throw new ToolError('INTERNAL', `the package misses its file ${EMITTER_FILES[language]}`, {
      suggestion: 'npm install toolable',
    })
  return readFileSync(file, 'utf8')
}

/**
 * What makes Claude Code work with the tools of a project: a command, and an agent that supervises
 * runs.
 */
export function listClaudeFiles(): readonly NewFile[] {
  return [
    { path: '.claude/commands/run-tool.md', text: CLAUDE_COMMAND },
    { path: '.claude/agents/tool-runner.md', text: CLAUDE_AGENT },
  ]
}

const CLAUDE_COMMAND = `---
description: Do a piece of work with the tools of this project
argument-hint: <what is to be done>
allowed-tools: Bash(./tool:*), Bash(npx toolable:*), Read
---

Do this with the tools of this project: $ARGUMENTS

1. See what there is: \`./tool --list\`. Read what a tool takes and may do: \`./tool --describe <tool>\`.
2. Run it: \`./tool <tool> --flag value ...\`. It prints one JSON object a line; the first has the \`run_id\`.
   For long work: \`npx toolable run --detach <tool> ...\`, then \`npx toolable watch <run_id>\`.
3. On \`{"type":"action_required"}\` the run waits. Decide by its \`context\`, ask the user where it is theirs to decide, and answer:
   \`npx toolable answer <run_id> <value>\`. What is known before can be given before: \`npx toolable run --answer <action>=<value> <tool> ...\`.
4. On \`result\` tell the user its \`artifacts\` and \`metrics\`. On \`error\` read \`code\`, \`msg\` and \`hint\`: what may pass has been tried again already.
   After the cause is gone, \`npx toolable resume <run_id>\` goes on at the last checkpoint.
`

const CLAUDE_AGENT = `---
name: tool-runner
description: Runs the tools of this project, follows their events, answers their questions and recovers failed runs
tools: Bash, Read
---

You run deterministic tools; you decide, they do.

- Learn what a tool takes with \`./tool --describe <tool>\`; never guess flags.
- Start it with \`./tool <tool> ...\` and read its JSON lines. stderr is for people and decides nothing.
- \`action_required\`: the run waits, without its deadline running. Answer with \`npx toolable answer <run_id> <value>\`, or hand the question to the user.
- \`error\` with \`retryable: true\` was tried again by the runner already, with growing pauses. Do not start it anew: correct the cause, then \`npx toolable resume <run_id>\`.
- No \`progress\` and no \`heartbeat\`: the runner ends such a run by itself (exit 124). Resume it, with smaller batches where the tool has them.
- To stop a run: \`npx toolable cancel <run_id>\`. To look back: \`npx toolable runs list\`, \`npx toolable runs show <run_id>\`, \`npx toolable runs logs <run_id>\`.
- Exit 77 is a permission or an open question, 78 a configuration, 69 a sandbox or a service that is not there: say so and stop, do not work around it.
`

/** A file of a new project. */
export type NewFile = {
  readonly path: string
  readonly text: string
  /** It can be started. */ readonly program?: true
}

/**
 * Writes files that are not there yet, all or none. Throws CONFLICT for one that has come in
 * between, DISK_FULL, PERMISSION or INVALID_PATH.
 */
export function writeNewFiles(folder: string, files: readonly NewFile[]): void {
  const written: string[] = []
  try {
    for (const { path, text, program } of files) {
      const file = join(folder, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, '', { flag: 'wx', mode: program ? 0o755 : 0o644 })
      written.push(file)
      writeFileSync(file, text)
    }
  } catch (error) {
    for (const file of written) rmSync(file, { force: true })
    throw toWriteError(error as NodeJS.ErrnoException)
  }
}

function toWriteError(error: NodeJS.ErrnoException): ToolError {
  const where = error.path ?? 'the project'
  if (error.code === 'EEXIST')
    return new ToolError('CONFLICT', `${where} is there already`, {
      cause: error,
      suggestion: 'Move it away, or begin in another folder',
    })
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT')
    return new ToolError('DISK_FULL', `no space is left for ${where}`, { cause: error })
  if (error.code === 'EACCES' || error.code === 'EPERM' || error.code === 'EROFS')
    return new ToolError('PERMISSION', `${where} cannot be written (${error.code})`, {
      cause: error,
    })
  return new ToolError(
    'INVALID_PATH',
    `${where} cannot be written (${error.code ?? error.message})`,
    { cause: error, suggestion: 'Begin in another folder' },
  )
}

/** What a first tool can be written in. */
export type TemplateLanguage = 'ts' | 'python' | 'sh'
