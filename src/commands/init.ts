/**
 * `toolable init`: a project with its first tool. Writes nothing where a file exists and differs. The
 * texts of the files (the shortcut `./tool`, toolable.yaml, a first tool in each language, files for
 * Claude Code) are below.
 */

import { lstatSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ResultRenderer } from '../cli/formats/envelope.ts'
import { cleanLine, createTextPainter } from '../cli/formats/terminal-text.ts'
import type { Context } from '../protocol/context.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { hasErrorCode, readTextFile } from '../util/files.ts'
import { quoteForShell } from '../util/text.ts'

/** What `init` is asked. */
type InitInput = {
  readonly folder: string
  readonly language: TemplateLanguage
  readonly name: string
  readonly agent?: readonly 'claude'[]
}

/** What `init` gives. */
type InitResult = {
  readonly folder: string
  readonly written: readonly string[]
  /** Files that existed with the same text. */
  readonly unchanged: readonly string[]
  /** What to type next. */
  readonly next: readonly string[]
}

/**
 * Writes a project with its first tool. Throws CONFLICT, before anything is written, where a file
 * exists that differs.
 */
export async function initProject(
  { folder: given, language, name, agent = [] }: InitInput,
  ctx: Context,
): Promise<InitResult> {
  const folder = resolve(ctx.cwd, given)
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false)
    throw new ToolError('INVALID_PATH', `folder: '${given}' is not a folder`, {
      field: 'folder',
      suggestion: 'Give a folder, or the name of a new one',
    })
  const files = [
    ...PROJECT_FILES,
    ...listFirstToolFiles(language, name),
    ...(agent.length > 0 ? CLAUDE_FILES : []),
  ]
  const existing = files.filter(({ path }) =>
    lstatSync(join(folder, path), { throwIfNoEntry: false }),
  )
  const differing = existing.filter(({ path, text }) => readOwnText(join(folder, path)) !== text)
  if (differing.length > 0) throw createConflictError(differing, name)
  const wanted = files.filter((file) => !existing.includes(file))
  for (const { path } of wanted) ctx.plan('write', join(folder, path))
  if (!ctx.dryRun) {
    mkdirSync(folder, { recursive: true })
    writeNewFiles(folder, wanted)
  }
  return {
    folder,
    written: wanted.map(({ path }) => path),
    unchanged: existing.map(({ path }) => path),
    next: nextCommands(folder === ctx.cwd ? '' : given, language, name),
  }
}

function nextCommands(way: string, language: TemplateLanguage, name: string): readonly string[] {
  return [
    ...(way === '' ? [] : [`cd ${quoteForShell(way)}`]),
    ...(language === 'ts' ? ['npm install toolable'] : []),
    './tool --list',
    `./tool ${name} --who World`,
    'toolable runs show latest',
  ]
}

// A link is no file of ours, even where it leads to the same text.
function readOwnText(path: string): string | undefined {
  return lstatSync(path).isFile() ? readTextFile(path) : undefined
}

function createConflictError(files: readonly NewFile[], name: string): ToolError {
  const paths = files.map(({ path }) => path)
  const ofTool = paths.every((path) => dirname(path).includes(name))
  const [subject, verb] =
    paths.length === 1 ? ['this file is', 'differs'] : ['these files are', 'differ']
  return new ToolError('CONFLICT', `${subject} there already, and ${verb}: ${paths.join(', ')}`, {
    details: { files: paths },
    suggestion: ofTool
      ? 'Give the tool another name: --name <name>'
      : 'Move them away, or begin in another folder',
  })
}

/** What was written, and what to type next. */
export const renderInit: ResultRenderer = (result, { color }) => {
  const paint = createTextPainter(color)
  const { written, unchanged, next } = result as InitResult
  const rows = [
    ...written.map((path) => `${paint('green', 'written')}    ${cleanLine(path)}`),
    ...unchanged.map((path) => `${paint('dim', 'unchanged')}  ${cleanLine(path)}`),
  ]
  return [...rows, '', 'Next:', ...next.map((command) => `  ${cleanLine(command)}`), ''].join('\n')
}

const CONFIGURATION = `# Where the tools of this project come from; see the page "registry" of the documentation of toolable.
folders: [tools]
`

/** `exec`, so that a signal reaches the runner and not a shell in front of it. */
const SHORTCUT = `#!/bin/sh
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

/** The files that every project has. */
const PROJECT_FILES: readonly NewFile[] = [
  { path: 'tool', text: SHORTCUT, program: true },
  { path: 'toolable.yaml', text: CONFIGURATION },
]

/**
 * A first tool, with its manifest, and in languages that have no package of ours with the helper
 * that it needs.
 */
function listFirstToolFiles(language: TemplateLanguage, name: string): readonly NewFile[] {
  const folder = `tools/${name}`
  const entry = ENTRY_FILES[language]
  const files: NewFile[] = [
    { path: `tools/registry/${name}/tool.yaml`, text: renderManifest(name, entry) },
    { path: `${folder}/${entry}`, text: PROGRAM_TEMPLATES[language](name), program: true },
  ]
  if (language !== 'ts') {
    const file = EMITTER_FILES[language]
    files.push({ path: `${folder}/${basename(file)}`, text: readEmitter(file) })
  }
  return files
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

/** A file of the package that helps a language. */
function readEmitter(path: string): string {
  const text = PARENT_PATHS.map((above) =>
    readTextFile(fileURLToPath(new URL(`${above}${path}`, import.meta.url))),
  ).find((found) => found !== undefined)
  if (text === undefined)
    throw new ToolError('INTERNAL', `the package misses its file ${path}`, {
      suggestion: 'npm install toolable',
    })
  return text
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

/**
 * What makes Claude Code work with the tools of a project: a command, and an agent that supervises
 * runs.
 */
const CLAUDE_FILES: readonly NewFile[] = [
  { path: '.claude/commands/run-tool.md', text: CLAUDE_COMMAND },
  { path: '.claude/agents/tool-runner.md', text: CLAUDE_AGENT },
]

/** A file of a new project. */
type NewFile = {
  readonly path: string
  readonly text: string
  /** It can be executed. */
  readonly program?: true
}

/**
 * Writes files that are not there yet, all or none. Throws CONFLICT for one that has come in
 * between, DISK_FULL, PERMISSION or INVALID_PATH.
 */
function writeNewFiles(folder: string, files: readonly NewFile[]): void {
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
  const cause = error
  if (hasErrorCode(error, 'EEXIST'))
    return new ToolError('CONFLICT', `${where} is there already`, {
      cause,
      suggestion: 'Move it away, or begin in another folder',
    })
  if (hasErrorCode(error, 'ENOSPC', 'EDQUOT'))
    return new ToolError('DISK_FULL', `no space is left for ${where}`, { cause })
  const message = `${where} cannot be written (${error.code ?? error.message})`
  if (hasErrorCode(error, 'EACCES', 'EPERM', 'EROFS'))
    return new ToolError('PERMISSION', message, { cause })
  return new ToolError('INVALID_PATH', message, { cause, suggestion: 'Begin in another folder' })
}

/** What a first tool can be written in. */
type TemplateLanguage = 'ts' | 'python' | 'sh'
