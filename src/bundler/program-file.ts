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
import { toChildEnv, withBuildFolder } from './inspect.ts'
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
  /** What the registry reads from the file without running it. */
  readonly manifest: object
  readonly answers: readonly KnownAnswer[]
  readonly bundle: BundleInfo
  /** Starts node directly, so that the npm shims on Windows work too. */
  readonly portable: boolean
}

/** What the file of a program knows about its bundle. */
type BundleInfo = {
  readonly id: string
  /** How many bytes are loaded at the start. */
  readonly length: number
  /** The range of the slow launcher. */
  readonly slowly: readonly [from: number, to: number]
  /** The length and the checksum of its compiled code. */
  readonly code: { readonly size: number; readonly seal: string }
}

// A shell reads the file up to the answer; beyond this, node is not slower.
const MAX_ANSWER_BYTES = { shell: 256 * 1024, node: MEBIBYTE }
// In double quotes: single ones mark the answers.
const HELP_PATTERNS = '"0 "|*" --help"|*" -h"'

// The last words of all questions, with spaces around them; no arguments are a question too.
const QUESTION_WORDS = ' --help -h --version -V --discover --tools --manifest  '
/** The variables that identify agents. */
const AGENT_VARIABLES_JSON = JSON.stringify(AGENT_VARIABLES)

/** Renders the part of a bundle that most starts do not need. */
export function renderSlowLauncher(portable: boolean): string {
  return `(function(rest){${portable ? '' : `if(!(${printKnownAnswer.toString()})(rest.fs,rest.file,${AGENT_VARIABLES_JSON}))`}(${launchWithoutCodeCache.toString()})(rest,${computeChecksum.toString()})})\n`
}

/** Renders the file of a program: a shell script with known answers, and the JavaScript launcher. */
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

// These names are in no environment: an exported variable would reach the program changed.
function renderShellHead(name: string): string[] {
  return [
    // In a function of zsh, $0 is the name of the function.
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

// Escapes non-ASCII bytes for printf.
function escapeForPrintf(text: string): string {
  return Buffer.from(text.replaceAll('\\', '\\\\'))
    .toString('latin1')
    .replace(/[\u0080-\u00ff]/g, (byte) => `\\0${byte.charCodeAt(0).toString(8)}`)
}

// Quotes for a shell, inside a JavaScript comment.
function quoteForShellComment(text: string): string {
  return `'${text.replaceAll("'", "'\\''").replaceAll('*/', "*''/")}'`
}

/** The script that an executable starts, and the assets that it reads. */
type ExecutableParts = {
  readonly main: string
  readonly assets: { readonly [name: string]: Uint8Array }
}

/**
 * Creates the parts of an executable: `answers` is the file of the program, with the known answers,
 * and `code` is what V8 has compiled of the first `length` bytes of the bundle.
 */
export function createExecutableParts(
  answers: string,
  bundle: string,
  length: number,
  code: Uint8Array | undefined,
): ExecutableParts {
  return {
    main: `(${launchExecutable.toString()})(${length},${code !== undefined},${AGENT_VARIABLES_JSON},${printKnownAnswer.toString()})\n`,
    assets: compact({
      answers: Buffer.from(answers, 'latin1'),
      bundle: Buffer.from(bundle, 'latin1'),
      code,
    }),
  }
}

const MAX_STEP_MS = 300_000
// The mark in node that postject changes.
const SEA_FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/**
 * Checks that an executable can be built here and returns the function that builds it. Throws CONFIG
 * when system or node cannot, DEPENDENCY without 'postject'.
 */
export function prepareExecutable(
  entry: string,
  { cwd, env, signal }: BuildEnvironment,
): (parts: ExecutableParts) => Promise<Uint8Array> {
  // Other systems require a new signature, which is untested.
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
  const run = async (what: string, ...args: string[]): Promise<void> => {
    const { status, stdout, stderr } = await runChild(
      compact({
        command: [host.node, ...args],
        cwd,
        env: toChildEnv(env),
        timeout: MAX_STEP_MS,
        signal,
      }),
    )
    if (status !== 0)
      throw new ToolError('DEPENDENCY', `${what} failed (${status ?? 'it was ended'})`, {
        retryable: false,
        details: { output: `${stdout.toString()}${stderr.toString()}`.trim().slice(-2000) },
      })
  }
  return ({ main, assets }) =>
    withBuildFolder(async (folder) => {
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
      const args = [at('program'), 'NODE_SEA_BLOB', at('blob'), '--sentinel-fuse', SEA_FUSE]
      await run('postject', postject, ...args)
      return readFileSync(at('program'))
    })
}
