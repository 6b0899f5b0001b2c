import { COMPLETE_COMMAND } from '../../surfaces/cli/builtin-commands.ts'
import { AGENT_VARIABLES } from '../../surfaces/cli/caller.ts'
import type { Answer } from '../look/answer.ts'
import { answer } from './answer.ts'
import { launch } from './launch.ts'
import { launchSlowly } from './launch-slowly.ts'
import { sealOf } from './seal-code.ts'
import { ascii } from './wrap.ts'

export type ProgramText = {
  readonly name: string
  readonly version: string
  /** What the registry reads of the file without running it. */
  readonly manifest: object
  readonly answers: readonly Answer[]
  readonly bundle: BundleFacts
  /** Node is started at once: the form that the shims of npm on Windows can start too. */
  readonly portable: boolean
}

/** What a program knows about the bundle that belongs to it. */
export type BundleFacts = {
  readonly id: string
  /** How much of it is loaded at once. */
  readonly length: number
  /** Where `slowText` stands in it. */
  readonly slowly: readonly [from: number, to: number]
  /** The length and the seal of its compiled code. */
  readonly code: { readonly size: number; readonly seal: string }
}

// A shell reads through what stands before the answer that it looks for; behind this node is no slower. Node looks for it in no time.
const MOST_ANSWERS = { shell: 256 * 1024, node: 1024 * 1024 }
// In double quotes: single ones mark the answers.
const HELP = '"0 "|*" --help"|*" -h"'

// The last words of all questions, with spaces around; nothing at all is one too.
const QUESTIONS = ' --help -h --version -V --discover --tools --manifest  '
/** The variables that give an agent away, as the programs know them. */
export const AGENTS = JSON.stringify(AGENT_VARIABLES)

/** The piece of a bundle that does what most starts of its program do not need. */
export function slowText(portable: boolean): string {
  return `(function(rest){${portable ? '' : `if(!(${answer.toString()})(rest.fs,rest.file,${AGENTS}))`}(${launchSlowly.toString()})(rest,${sealOf.toString()})})\n`
}

/** The file of a program: a shell script that answers questions about it, and the JavaScript that does the rest. */
export function programText({
  name,
  version,
  manifest,
  answers,
  bundle: { id, length, slowly, code },
  portable,
}: ProgramText): string {
  return [
    portable ? '#!/usr/bin/env node' : '#!/bin/sh',
    portable ? '/*' : '__toolable=/*',
    `# ${name} ${version}, built by toolable. ${portable ? 'What is known about it stands first' : 'A shell script and a JavaScript file at once: the shell answers what is known, node does the rest'}.`,
    `# toolable: ${ascii(JSON.stringify(manifest)).replaceAll('*/', '*\\/')}`,
    ...(portable ? [] : shellBegin(name)),
    ...answerLines(answers, portable ? MOST_ANSWERS.node : MOST_ANSWERS.shell),
    ...(portable ? [] : ['__toolable_node "$@"']),
    `*/${portable ? `(${answer.toString()})(process.getBuiltinModule("node:fs"),typeof __filename==="string"?__filename:process.argv[1],${AGENTS})||` : '0;var __toolable;'}(${launch.toString()})(${[id, length, code.size, code.seal, portable ? '' : QUESTIONS, ...slowly].map((given) => JSON.stringify(given)).join()},a=>import(a))`,
    '',
  ].join('\n')
}

// Names that nobody exports: a variable of the environment that the shell sets reaches the program changed.
function shellBegin(name: string): string[] {
  return [
    // In a function of zsh $0 is the name of the function.
    '__toolable_p=$0',
    '__toolable_node() {',
    `command -v node >/dev/null 2>&1 || { echo ${quote(`${name}: needs Node.js 20.19 or newer, and there is no 'node' in PATH`)} >&2; exit 127; }`,
    'exec node "$__toolable_p" "$@"',
    '}',
    '__toolable_q="$# $*"',
    `case $__toolable_q in ${HELP}|"1 --version"|"1 -V"|"1 --discover"|"1 --tools"|*" --manifest"|"3 ${COMPLETE_COMMAND} -- ") ;; *) __toolable_node "$@";; esac`,
    '__toolable_a=',
    `case $__toolable_q in ${HELP})`,
    '[ -z "$FORCE_COLOR" ] && ! [ -t 1 ] || __toolable_node "$@"',
    `for __toolable_v in ${AGENT_VARIABLES.map((variable) => `"$${variable}"`).join(' ')}; do`,
    `case $__toolable_v in '') ;; [0nNfF]*|[[:space:]]*) __toolable_node "$@";; *) __toolable_a='agent ';; esac`,
    'done',
    ';; esac',
    '__toolable_q=$__toolable_a$__toolable_q',
  ]
}

function answerLines(answers: readonly Answer[], most: number): string[] {
  let size = 0
  return answers.flatMap(({ questions, text }) => {
    const lines = [
      'case $__toolable_q in',
      `${questions.map((question) => `'${question}'`).join('|')})`,
      `printf %b ${quote(escapeForPrintf(text))} 2>/dev/null && exit;;`,
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
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''").replaceAll('*/', "*''/")}'`
}
