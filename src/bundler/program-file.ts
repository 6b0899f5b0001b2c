/**
 * The file of a built program: a shell script that prints known answers, followed by the JavaScript
 * that starts node; or one executable with node in it.
 */

import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMPLETE_COMMAND } from '../cli/builtin-names.ts'
import { AGENT_VARIABLES } from '../cli/caller.ts'
import { host } from '../core/host.ts'
import { runChild } from '../process/run.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { MEBIBYTE } from '../util/units.ts'
import { compact } from '../util/values.ts'
import { escapeToAscii } from './chunks.ts'
import type { BuildEnvironment, KnownAnswer } from './inspect.ts'
import { withTemporaryFolder } from './inspect.ts'
import {
  launchExecutable,
  launchProgram,
  launchWithoutCodeCache,
  printKnownAnswer,
} from './launchers.ts'
import { computeChecksum } from './output-files.ts'
import { findPackageFile } from './packages.ts'

type ProgramTextOptions = {
  readonly name: string
  readonly version: string
  /** What the registry reads of the file without running it. */
  readonly manifest: object
  readonly answers: readonly KnownAnswer[]
  readonly bundle: BundleInfo
  /** Node is started at once: the form that the shims of npm on Windows can start too. */
  readonly portable: boolean
}

/** What a program knows about the bundle that belongs to it. */
type BundleInfo = {
  readonly id: string
  /** How much of it is loaded at once. */
  readonly length: number
  /** Where `slowText` stands in it. */
  readonly slowly: readonly [from: number, to: number]
  /** The length and the seal of its compiled code. */
  readonly code: { readonly size: number; readonly seal: string }
}

// A shell reads through what stands before the answer that it looks for; behind this node is no
// slower. Node looks for it in no time.
const MAX_ANSWER_BYTES = { shell: 256 * 1024, node: MEBIBYTE }
// In double quotes: single ones mark the answers.
const HELP_PATTERNS = '"0 "|*" --help"|*" -h"'

// The last words of all questions, with spaces around; nothing at all is one too.
const QUESTION_WORDS = ' --help -h --version -V --discover --tools --manifest  '
/** The variables that give an agent away, as the programs know them. */
const AGENT_VARIABLES_JSON = JSON.stringify(AGENT_VARIABLES)

/** The piece of a bundle that does what most starts of its program do not need. */
export function renderSlowLauncher(portable: boolean): string {
  return `(function(rest){${portable ? '' : `if(!(${printKnownAnswer.toString()})(rest.fs,rest.file,${AGENT_VARIABLES_JSON}))`}(${launchWithoutCodeCache.toString()})(rest,${computeChecksum.toString()})})\n`
}

/**
 * The file of a program: a shell script that answers questions about it, and the JavaScript that
 * does the rest.
 */
export function renderProgram({
  name,
  version,
  manifest,
  answers,
  bundle: { id, length, slowly, code },
  portable,
}: ProgramTextOptions): string {
  return [
    portable ? '#!/usr/bin/env node' : '#!/bin/sh',
    portable ? '/*' : '__toolable=/*',
    `# ${name} ${version}, built by toolable. ${portable ? 'What is known about it stands first' : 'A shell script and a JavaScript file at once: the shell answers what is known, node does the rest'}.`,
    `# toolable: ${escapeToAscii(JSON.stringify(manifest)).replaceAll('*/', '*\\/')}`,
    ...(portable ? [] : renderShellHead(name)),
    ...renderAnswers(answers, portable ? MAX_ANSWER_BYTES.node : MAX_ANSWER_BYTES.shell),
    ...(portable ? [] : ['__toolable_node "$@"']),
    `*/${portable ? `(${printKnownAnswer.toString()})(process.getBuiltinModule("node:fs"),typeof __filename==="string"?__filename:process.argv[1],${AGENT_VARIABLES_JSON})||` : '0;var __toolable;'}(${launchProgram.toString()})(${[id, length, code.size, code.seal, portable ? '' : QUESTION_WORDS, ...slowly].map((given) => JSON.stringify(given)).join()},a=>import(a))`,
    '',
  ].join('\n')
}

// Names that nobody exports: a variable of the environment that the shell sets reaches the program
// changed.
function renderShellHead(name: string): string[] {
  return [
    // In a function of zsh $0 is the name of the function.
    '__toolable_p=$0',
    '__toolable_node() {',
    `command -v node >/dev/null 2>&1 || { echo ${quoteForShellComment(`${name}: needs Node.js 20.19 or newer, and there is no 'node' in PATH`)} >&2; exit 127; }`,
    'exec node "$__toolable_p" "$@"',
    '}',
    '__toolable_q="$# $*"',
    `case $__toolable_q in ${HELP_PATTERNS}|"1 --version"|"1 -V"|"1 --discover"|"1 --tools"|*" --manifest"|"3 ${COMPLETE_COMMAND} -- ") ;; *) __toolable_node "$@";; esac`,
    '__toolable_a=',
    `case $__toolable_q in ${HELP_PATTERNS})`,
    '[ -z "$FORCE_COLOR" ] && ! [ -t 1 ] || __toolable_node "$@"',
    `for __toolable_v in ${AGENT_VARIABLES.map((variable) => `"$${variable}"`).join(' ')}; do`,
    `case $__toolable_v in '') ;; [0nNfF]*|[[:space:]]*) __toolable_node "$@";; *) __toolable_a='agent ';; esac`,
    'done',
    ';; esac',
    '__toolable_q=$__toolable_a$__toolable_q',
  ]
}

function renderAnswers(answers: readonly KnownAnswer[], most: number): string[] {
  let size = 0
  return answers.flatMap(({ questions, text }) => {
    const lines = [
      'case $__toolable_q in',
      `${questions.map((question) => `'${question}'`).join('|')})`,
      `printf %b ${quoteForShellComment(escapeForPrintf(text))} 2>/dev/null && exit;;`,
      'esac',
    ]
    size += lines[2]!.length
    return size > most ? [] : lines
  })
}

// Bytes that are not ASCII as printf reads them; the shell passes everything else on.
function escapeForPrintf(text: string): string {
  return Buffer.from(text.replaceAll('\\', '\\\\'))
    .toString('latin1')
    .replace(/[\u0080-\u00ff]/g, (byte) => `\\0${byte.charCodeAt(0).toString(8)}`)
}

// For a shell, inside a comment of JavaScript.
function quoteForShellComment(text: string): string {
  return `'${text.replaceAll("'", "'\\''").replaceAll('*/', "*''/")}'`
}

/** What a program consists of that becomes one executable. */
type ExecutableProgram = {
  /** The file of the program, from which questions are answered. */
  readonly answers: string
  /** Its bundle, of which `length` bytes are loaded at once, and what V8 has compiled of that. */
  readonly bundle: string
  readonly length: number
  readonly code: Uint8Array | undefined
}

/** The script that such an executable starts, and what it reads. */
export function createExecutableParts({
  answers,
  bundle,
  length,
  code,
}: ExecutableProgram): ExecutableParts {
  return {
    main: `(${launchExecutable.toString()})(${length},${code !== undefined},${AGENT_VARIABLES_JSON},${printKnownAnswer.toString()})\n`,
    assets: compact({
      answers: Buffer.from(answers, 'latin1'),
      bundle: Buffer.from(bundle, 'latin1'),
      code,
    }),
  }
}

/**
 * What becomes one executable together with node: the script that it starts, and what that reads.
 */
type ExecutableParts = {
  readonly main: string
  readonly assets: { readonly [name: string]: Uint8Array }
}

const MAX_STEP_MS = 300_000
// What node looks for in itself, and postject sets.
const SEA_FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/**
 * Makes sure that one executable can be made here, before anything else is done, and gives a
 * function that makes it. Throws CONFIG where system or node cannot, DEPENDENCY where 'postject' is
 * missing.
 */
export function prepareExecutable(
  entry: string,
  { cwd, env, signal }: BuildEnvironment,
): (parts: ExecutableParts) => Promise<Uint8Array> {
  // Elsewhere the file has to be signed anew after it was changed, which nobody has tried with
  // these programs.
  if (host.platform !== 'linux')
    throw new ToolError(
      'CONFIG',
      `one executable can be made on Linux only so far; this is ${host.platform}`,
      { suggestion: 'Build without --single: the program then needs a node that is installed' },
    )
  if (!readFileSync(host.node).includes(`${SEA_FUSE}:0`))
    throw new ToolError(
      'CONFIG',
      `${host.node} cannot become part of a program: it was built without single executable applications`,
      { suggestion: 'Build with a node from nodejs.org' },
    )
  const postject = findPackageFile('postject', 'postject/dist/cli.js', entry, 'one executable')
  const whole = Object.fromEntries(
    Object.entries(env).filter((each): each is [string, string] => each[1] !== undefined),
  )
  const run = async (what: string, ...args: string[]): Promise<void> => {
    const { status, stdout, stderr } = await runChild(
      compact({ command: [host.node, ...args], cwd, env: whole, timeout: MAX_STEP_MS, signal }),
    )
    if (status !== 0)
      throw new ToolError('DEPENDENCY', `${what} failed (${status ?? 'it was ended'})`, {
        retryable: false,
        details: { output: `${stdout.toString()}${stderr.toString()}`.trim().slice(-2000) },
      })
  }
  return ({ main, assets }) =>
    withTemporaryFolder(async (folder) => {
      const at = (name: string): string => join(folder, name)
      for (const [name, content] of Object.entries(assets)) writeFileSync(at(name), content)
      writeFileSync(at('main.cjs'), main)
      writeFileSync(
        at('config.json'),
        JSON.stringify({
          main: at('main.cjs'),
          output: at('blob'),
          disableExperimentalSEAWarning: true,
          assets: Object.fromEntries(Object.keys(assets).map((name) => [name, at(name)])),
        }),
      )
      await run('node --experimental-sea-config', '--experimental-sea-config', at('config.json'))
      copyFileSync(host.node, at('program'))
      chmodSync(at('program'), 0o755)
      await run(
        'postject',
        postject,
        at('program'),
        'NODE_SEA_BLOB',
        at('blob'),
        '--sentinel-fuse',
        SEA_FUSE,
      )
      return readFileSync(at('program'))
    })
}
