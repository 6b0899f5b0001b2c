/**
 * `toolable read-help`: what is understood of a help text.
 */

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { printDocument } from '../cli/documents.ts'
import { readStdinText } from '../cli/input.ts'
import { findProgram } from '../process/programs.ts'
import type { Io } from '../protocol/io.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { readHelp } from '../registry/help/read-help.ts'
import { createHelpRunner, describeProgram } from '../registry/help/run-help.ts'
import type { HelpDocument } from '../registry/help/sections.ts'
import { compact } from '../util/values.ts'

type ReadHelpInput = {
  readonly program?: readonly string[]
  readonly text?: string
  readonly probeUnsandboxed?: boolean
}

/** Prints what is understood of a help text; gives the exit status. */
export async function printHelpDocument(
  { program = [], text, probeUnsandboxed = false }: ReadHelpInput,
  io: Io,
  signal: AbortSignal,
): Promise<number> {
  if (program.length > 0 === (text !== undefined))
    throw new ToolError('USAGE', 'give either a program or --text <file>', {
      suggestion: 'toolable read-help git remote',
    })
  const document =
    text === undefined
      ? await readProgramHelp(program, probeUnsandboxed, io, signal)
      : readHelp(await readHelpText(text, io, signal))
  return printDocument(io, document)
}

async function readProgramHelp(
  [name = '', ...words]: readonly string[],
  unsandboxed: boolean,
  { env, cwd }: Io,
  signal: AbortSignal,
): Promise<HelpDocument> {
  const file = findProgram(name, env['PATH'], cwd)
  if (file === undefined)
    throw new ToolError('NOT_FOUND', `there is no program '${name}'`, {
      field: 'program',
      suggestion: 'Give a program on the PATH, or the path of a file',
    })
  const run = await createHelpRunner({ command: [file], env, unsandboxed, signal })
  const root = await describeProgram(
    run,
    compact({ depth: 0, most: 1, only: words.length > 0 ? [words.join(' ')] : undefined }),
  )
  const found = words.length === 0 ? root : root?.children[0]
  if (!found)
    throw new ToolError(
      'NOT_FOUND',
      `'${[name, ...words].join(' ')}' prints no help that says how it is called`,
      {
        field: 'program',
        suggestion: `Look at what it prints: ${[name, ...words].join(' ')} --help`,
      },
    )
  return found.help.document
}

async function readHelpText(name: string, io: Io, signal: AbortSignal): Promise<string> {
  if (name === '-') return (await readStdinText(io.stdin, { signal })) ?? ''
  try {
    return readFileSync(resolve(io.cwd, name), 'utf8')
  } catch (error) {
    throw new ToolError(
      'INVALID_PATH',
      `text: ${name} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'error'}`,
      { field: 'text', suggestion: 'Give a file that exists, or - for stdin' },
    )
  }
}
