/**
 * Inspects a program in a child process: what it prints about itself, which chunks a call loads,
 * and the code that V8 compiled.
 */

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { host } from '../core/host.ts'
import { runChild } from '../process/run.ts'
import type { PreparedSchema } from '../protocol/built-program.ts'
import type { ToolsetManifest } from '../protocol/manifest.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { SuggestionInput } from '../protocol/tool-error.ts'
import { compact } from '../util/values.ts'
import type { ProgramScript } from './chunks.ts'

const MAX_INSPECTION_MS = 120_000

/** Where a program is looked at. */
export type BuildEnvironment = {
  readonly cwd: string
  readonly env: { readonly [name: string]: string | undefined }
  readonly signal?: AbortSignal
}

/**
 * Looks at a program in a process of its own. Throws CONFIG with what it threw while it was loaded.
 */
export async function inspectInChild(
  ownFolder: string,
  subject: InspectedProgram,
  around: BuildEnvironment,
): Promise<ProgramInspection> {
  return runInspection('ask', ownFolder, subject, around, (out, said) => {
    if (!existsSync(out))
      throw new ToolError(
        'CONFIG',
        `the program ended while it was loaded${said === '' ? '' : `: ${said}`}`,
        {
          suggestion:
            'An entry only defines tools and runs its toolset; whatever else it does belongs into the tools',
        },
      )
    const found = JSON.parse(readFileSync(out, 'utf8')) as ProgramInspection | InspectionProblem
    if (!('problem' in found)) return found
    const { message, stack, suggestion } = found.problem
    throw new ToolError(
      'CONFIG',
      `the program cannot be loaded: ${message}`,
      compact({
        details: stack !== undefined ? { stack: stack.split('\n').slice(0, 12) } : undefined,
        suggestion: suggestion !== undefined ? (suggestion as SuggestionInput) : undefined,
      }),
    )
  })
}

/** The chunks that a call of the program asks for; empty where no call could be made up. */
export async function traceLoadedChunks(
  ownFolder: string,
  subject: InspectedProgram,
  around: BuildEnvironment,
): Promise<ReadonlySet<string>> {
  return runInspection(
    'trace',
    ownFolder,
    subject,
    around,
    (out) => new Set(existsSync(out) ? (JSON.parse(readFileSync(out, 'utf8')) as string[]) : []),
  )
}

/** What V8 has compiled of a program after a call; undefined where it could not be run. */
export async function compileCodeCache(
  ownFolder: string,
  subject: InspectedProgram,
  around: BuildEnvironment,
): Promise<Buffer | undefined> {
  return runInspection('warm', ownFolder, subject, around, (out) =>
    existsSync(out) ? readFileSync(out) : undefined,
  )
}

async function runInspection<T>(
  mode: string,
  ownFolder: string,
  { program, bundle, script: { text, length } }: InspectedProgram,
  { cwd, env, signal }: BuildEnvironment,
  read: (out: string, said: string) => T,
): Promise<T> {
  return withTemporaryFolder(async (folder) => {
    const [given, script, out] = [
      join(folder, 'subject'),
      join(folder, 'script'),
      join(folder, 'found'),
    ]
    writeFileSync(script, text, 'latin1')
    writeFileSync(
      given,
      JSON.stringify({ program, bundle, script, length } satisfies InspectedProgramFile),
    )
    const whole = Object.fromEntries(
      Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    )
    const { stderr } = await runChild(
      compact({
        command: [host.node, join(ownFolder, 'look.js'), mode, given, out],
        cwd,
        env: whole,
        timeout: MAX_INSPECTION_MS,
        signal,
      }),
    )
    return read(out, stderr.toString().trim().slice(0, 2000))
  })
}

/**
 * What a program prints for some questions: the number of arguments, a space, and the arguments;
 * `agent ` stands before what only agents are told so.
 */
export type KnownAnswer = { readonly questions: readonly string[]; readonly text: string }

/** What a build finds out about a program by looking at it. */
export type ProgramInspection = {
  readonly name: string
  readonly version: string
  readonly answers: readonly KnownAnswer[]
  readonly manifest: ToolsetManifest
  /** It answers calls by JSON lines when it is started with --serve. */
  readonly serves: boolean
  /** Schemas of zod by how they are made. */
  readonly schemas: readonly { readonly fingerprint: string; readonly prepared: PreparedSchema }[]
  /** Loading the program asked zod for more than schemas: records are of no use to it. */
  readonly needsZod: boolean
}

/** Why there is nothing to look at: what the program threw while it was loaded. */
export type InspectionProblem = {
  readonly problem: {
    readonly code: string
    readonly message: string
    readonly stack?: string
    readonly suggestion?: unknown
  }
}

/**
 * What is looked at: the script of a program, and the files that they will be. V8 keeps the name of
 * the script in what it compiles.
 */
export type InspectedProgram = {
  readonly program: string
  readonly bundle: string
  readonly script: ProgramScript
}

/** The same as a process is given it: the script is in a file. */
export type InspectedProgramFile = Pick<InspectedProgram, 'program' | 'bundle'> & {
  readonly script: string
  readonly length: number
}

/**
 * Does something in a folder of its own that is gone afterwards. Throws DISK_FULL, with the folder,
 * where there is no room for it.
 */
export async function withTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'toolable-build-'))
  try {
    return await work(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    throw new ToolError(
      'DISK_FULL',
      `no space is left in ${tmpdir()}, where a program lies while it is built`,
      { cause: error, suggestion: 'Make room, or name another folder in the variable TMPDIR' },
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
