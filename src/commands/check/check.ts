import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ToolError } from '../../contract/tool-error.ts'
import type { SandboxProfile } from '../../process/sandbox/profile.ts'
import type { Report } from './check-type.ts'
import { runChecks } from './run-checks.ts'
import { withAsking } from './subject/ask.ts'
import { look } from './subject/look.ts'
import { startCommand } from './subject/start-command.ts'

/** What `check` is asked. */
export type CheckInput = { readonly path: string; readonly min: number; readonly call?: boolean }
type Where = { readonly cwd: string; readonly env: { readonly [name: string]: string | undefined }; readonly signal: AbortSignal }

/** What `check` gives: each program, and all of them together. */
export type CheckResult = Pick<Report, 'score' | 'of' | 'percent'> & { readonly min: number; readonly enough: boolean; readonly sandboxed: boolean; readonly checks?: Report['checks']; readonly programs: readonly Report[] }

const RESERVED = /^(\.|_lib$|venv$|shared_venv$|node_modules$|registry$)/

/** Checks a program, or every program of a folder. Throws INVALID_PATH for what is neither. */
export async function checkPath({ path, min, call = false }: CheckInput, where: Where): Promise<CheckResult> {
  const sandbox = await findSandbox()
  const programs: Report[] = []
  for (const [file, shown] of listPrograms(resolve(where.cwd, path), path)) {
    const start = startCommand(file)
    if (!start) throw new ToolError('INVALID_PATH', `path: '${path}' cannot be run`, { field: 'path', suggestion: `Make it executable: chmod +x ${path}` })
    programs.push(await withAsking(start, { ...where, sandbox }, async (asking) => runChecks(await look(shown, asking, call))))
  }
  const score = sum(programs, 'score')
  const of = sum(programs, 'of')
  const percent = programs.length === 1 ? programs[0]!.percent : Math.floor(sum(programs, 'percent') / programs.length)
  return { score, of, percent, min, enough: percent >= min, sandboxed: sandbox !== undefined, ...(programs.length === 1 && { checks: programs[0]!.checks }), programs }
}

function listPrograms(path: string, given: string): readonly (readonly [file: string, shown: string])[] {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) throw new ToolError('INVALID_PATH', `path: there is no '${given}'`, { field: 'path', suggestion: 'Give a program or a folder that exists' })
  if (!stats.isDirectory()) return [[path, given]]
  const files = readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !RESERVED.test(entry.name) && startCommand(join(path, entry.name)) !== undefined)
    .map(({ name }) => [join(path, name), join(given, name)] as const)
    .sort(([left], [right]) => (left < right ? -1 : 1))
  if (files.length === 0) throw new ToolError('INVALID_PATH', `path: the folder '${given}' holds no programs`, { field: 'path', suggestion: 'Give a folder with scripts or executables' })
  return files
}

async function findSandbox(): Promise<SandboxProfile | undefined> {
  return undefined
}

function sum(programs: readonly Report[], key: 'score' | 'of' | 'percent'): number {
  return programs.reduce((total, program) => total + program[key], 0)
}
