/**
 * Inspects a program in a child process: what it prints about itself, which chunks a call loads,
 * and the code that V8 compiled.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { host } from '../core/host.ts'
import { runChild } from '../process/run.ts'
import type { PreparedSchema } from '../protocol/built-program.ts'
import type { ToolsetManifest } from '../protocol/manifest.ts'
import type { SuggestionInput } from '../protocol/tool-error.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { hasErrorCode, withTemporaryFolder } from '../util/files.ts'
import { compact } from '../util/values.ts'
import type { ProgramScript } from './chunks.ts'

const MAX_INSPECTION_MS = 120_000

/** Where a program is built and inspected. */
export type BuildEnvironment = {
  readonly cwd: string
  readonly env: { readonly [name: string]: string | undefined }
  readonly signal?: AbortSignal
}

/** Inspects a program in a child process. Throws CONFIG with what it threw while it was loaded. */
export async function inspectInChild(
  ownFolder: string,
  subject: InspectedProgram,
  around: BuildEnvironment,
): Promise<ProgramInspection> {
  return runInspection('ask', ownFolder, subject, around, (output, stderr) => {
    if (!output)
      throw new ToolError(
        'CONFIG',
        `the program ended while it was loaded${stderr === '' ? '' : `: ${stderr}`}`,
        {
          suggestion:
            'An entry only defines tools and runs its toolset; whatever else it does belongs into the tools',
        },
      )
    const found = JSON.parse(output.toString()) as ProgramInspection | InspectionProblem
    if (!('problem' in found)) return found
    const { message, stack, suggestion } = found.problem
    throw new ToolError(
      'CONFIG',
      `the program cannot be loaded: ${message}`,
      compact({
        details: stack === undefined ? undefined : { stack: stack.split('\n').slice(0, 12) },
        suggestion: suggestion as SuggestionInput | undefined,
      }),
    )
  })
}

/** Finds the chunks that a call of the program loads; empty when no call could be generated. */
export async function traceLoadedChunks(
  ownFolder: string,
  subject: InspectedProgram,
  around: BuildEnvironment,
): Promise<readonly string[]> {
  return runInspection('trace', ownFolder, subject, around, (found) =>
    found ? (JSON.parse(found.toString()) as string[]) : [],
  )
}

/** Returns the code that V8 has compiled after a call; undefined when the program could not run. */
export async function compileCodeCache(
  ownFolder: string,
  subject: InspectedProgram,
  around: BuildEnvironment,
): Promise<Buffer | undefined> {
  return runInspection('warm', ownFolder, subject, around, (found) => found)
}

async function runInspection<T>(
  mode: string,
  ownFolder: string,
  { program, bundle, script: { text, length } }: InspectedProgram,
  { cwd, env, signal }: BuildEnvironment,
  read: (found: Buffer | undefined, stderr: string) => T,
): Promise<T> {
  return withBuildFolder(async (folder) => {
    const [input, script, out] = ['subject', 'script', 'found'].map((name) =>
      join(folder, name),
    ) as [string, string, string]
    const subject: InspectedProgramFile = { program, bundle, script, length }
    writeFileSync(script, text, 'latin1')
    writeFileSync(input, JSON.stringify(subject))
    const { stderr } = await runChild(
      compact({
        command: [host.node, join(ownFolder, 'look.js'), mode, input, out],
        cwd,
        env: toChildEnv(env),
        timeout: MAX_INSPECTION_MS,
        signal,
      }),
    )
    const found = existsSync(out) ? readFileSync(out) : undefined
    return read(found, stderr.toString().trim().slice(0, 2000))
  })
}

/**
 * What a program prints for some questions. A question is the number of arguments, a space and the
 * arguments; `agent ` precedes it when only agents get this answer.
 */
export type KnownAnswer = { readonly questions: readonly string[]; readonly text: string }

/** What a build learns about a program by running it. */
export type ProgramInspection = {
  readonly name: string
  readonly version: string
  readonly answers: readonly KnownAnswer[]
  readonly manifest: ToolsetManifest
  /** It supports --serve. */
  readonly serves: boolean
  /** Its zod schemas by fingerprint. */
  readonly schemas: readonly { readonly fingerprint: string; readonly prepared: PreparedSchema }[]
  /** Loading it needs more of zod than schemas, so records cannot replace zod. */
  readonly needsZod: boolean
}

/** What the program threw while it was loaded. */
export type InspectionProblem = {
  readonly problem: {
    readonly code: string
    readonly message: string
    readonly stack?: string
    readonly suggestion?: unknown
  }
}

/** The script of a program, and its future file names, which V8 keeps in compiled code. */
export type InspectedProgram = {
  readonly program: string
  readonly bundle: string
  readonly script: ProgramScript
}

/** The same for the child process: the script is in a file. */
export type InspectedProgramFile = Pick<InspectedProgram, 'program' | 'bundle'> & {
  readonly script: string
  readonly length: number
}

/** Runs work in a temporary folder. Throws DISK_FULL, with the folder, when the disk is full. */
export async function withBuildFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  try {
    return await withTemporaryFolder('toolable-build-', work)
  } catch (error) {
    if (!hasErrorCode(error, 'ENOSPC')) throw error
    throw new ToolError(
      'DISK_FULL',
      `no space is left in ${tmpdir()}, where a program lies while it is built`,
      { cause: error, suggestion: 'Make room, or name another folder in the variable TMPDIR' },
    )
  }
}

/** The environment without variables that are undefined. */
export function toChildEnv(env: BuildEnvironment['env']): { readonly [name: string]: string } {
  return compact(env) as { readonly [name: string]: string }
}
