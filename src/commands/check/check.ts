import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { quoteForShell } from '../../contract/quote-for-shell.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { findProgram } from '../../process/find-program.ts'
import type { Report } from './check-type.ts'
import { runChecks } from './run-checks.ts'
import { sandboxFor } from './sandbox.ts'
import { withAsking } from './subject/ask.ts'
import { look } from './subject/look.ts'
import { startCommand } from './subject/start-command.ts'
import type { StartCommand } from './subject/start-command.ts'

/** What `check` is asked. */
export type CheckInput = {
  readonly path: readonly string[]
  readonly min: number
  readonly runSeconds: number
  readonly call?: boolean
}
type Where = {
  readonly cwd: string
  readonly env: { readonly [name: string]: string | undefined }
  readonly signal: AbortSignal
}

/** What `check` gives: each program, and all of them together. */
export type CheckResult = Pick<Report, 'score' | 'of' | 'percent'> & {
  readonly min: number
  readonly enough: boolean
  readonly sandboxed: boolean
  readonly checks?: Report['checks']
  readonly programs: readonly Report[]
}

const RESERVED = /^(\.|_lib$|venv$|shared_venv$|node_modules$|registry$)/

/** Checks programs, and every program of folders. Throws INVALID_PATH for what is neither. */
export async function checkPaths(
  { path: paths, min, runSeconds, call = false }: CheckInput,
  where: Where,
): Promise<CheckResult> {
  const found = paths.flatMap((path) => listPrograms(locate(path, where), path))
  const programs: Report[] = []
  let sandboxed = true
  for (const { file, shown, start } of found) {
    const sandbox = await sandboxFor(file, where.env)
    sandboxed &&= sandbox !== undefined
    programs.push(
      await withAsking(
        start,
        { env: where.env, signal: where.signal, sandbox, runSeconds },
        async (asking) => runChecks(await look(shown, asking, call)),
      ),
    )
  }
  const percent =
    programs.length === 1
      ? programs[0]!.percent
      : Math.floor(sum(programs, 'percent') / programs.length)
  return {
    score: sum(programs, 'score'),
    of: sum(programs, 'of'),
    percent,
    min,
    enough: percent >= min,
    sandboxed,
    ...(programs.length === 1 && { checks: programs[0]!.checks }),
    programs,
  }
}

type Program = { readonly file: string; readonly shown: string; readonly start: StartCommand }

// A bare word may be a file here, or a program that is installed.
function locate(given: string, { cwd, env }: Where): string {
  const path = resolve(cwd, given)
  return statSync(path, { throwIfNoEntry: false })
    ? path
    : (findProgram(given, env['PATH'], cwd) ?? path)
}

function listPrograms(path: string, given: string): readonly Program[] {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats)
    throw new ToolError('INVALID_PATH', `path: there is no '${given}'`, {
      field: 'path',
      suggestion: 'Give a program or a folder that exists',
    })
  if (!stats.isDirectory()) {
    const start = startCommand(path)
    if (!start)
      throw new ToolError('INVALID_PATH', `path: '${given}' cannot be run`, {
        field: 'path',
        suggestion: `Make it executable: chmod +x ${quoteForShell(given)}`,
      })
    return [{ file: path, shown: given, start }]
  }
  const files = readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !RESERVED.test(entry.name))
    .map(({ name }) => name)
    .sort()
  const programs = files.flatMap((name) => {
    const start = startCommand(join(path, name))
    // A module that nobody may execute is for other modules.
    return start && start.command[0] !== 'node'
      ? [{ file: join(path, name), shown: join(given, name), start }]
      : []
  })
  if (programs.length === 0)
    throw new ToolError('INVALID_PATH', `path: the folder '${given}' holds no programs`, {
      field: 'path',
      suggestion: 'Give a folder with scripts or executables',
    })
  return programs
}

function sum(programs: readonly Report[], key: 'score' | 'of' | 'percent'): number {
  return programs.reduce((total, program) => total + program[key], 0)
}
