import { realpathSync } from 'node:fs'
import { basename, relative } from 'node:path'
import type { Started } from '../../cli/host.ts'
import type { Scope, Surroundings } from '../agents/agent.ts'
import { findProgram } from '../find-program.ts'

/** A program and the arguments before those that are for it. */
export type StartCommand = { readonly command: string; readonly args: readonly string[] }

/** How an agent can start the program that runs now: by its name where it is installed, through npx where it is a package of the project, else by interpreter and file. */
export function startCommand(
  { args = [], ...started }: Started,
  program: string,
  scope: Scope,
  surroundings: Surroundings,
): StartCommand {
  const start = startScript(started, program, scope, surroundings)
  return { command: start.command, args: [...start.args, ...args] }
}

function startScript(
  { execPath, execArgv, script }: Started,
  program: string,
  scope: Scope,
  surroundings: Surroundings,
): StartCommand {
  if (script === undefined) return { command: program, args: [] }
  if (script === execPath) return { command: execPath, args: [] }
  const name = basename(script)
  const installed = findProgram(name, surroundings, (folder) => !isOfPackages(folder))
  if (installed !== undefined && realPath(installed) === realPath(script))
    return { command: name, args: [] }
  return (
    startByNpx(script, scope, surroundings) ?? {
      command: interpreter(execPath, surroundings),
      args: [...execArgv.filter((option) => !option.startsWith('--inspect')), script],
    }
  )
}

// npm puts such folders on the PATH of what it runs; agents do not have them there.
function isOfPackages(folder: string): boolean {
  return /[\\/]node_modules[\\/]\.bin[\\/]?$/.test(folder)
}

function startByNpx(script: string, scope: Scope, { cwd }: Surroundings): StartCommand | undefined {
  const name = /[\\/]node_modules[\\/]\.bin[\\/]([^\\/]+)$/.exec(script)?.[1]
  if (name === undefined) return undefined
  // What npx fetched for this one call may be gone tomorrow.
  const fetched = /[\\/]_npx[\\/]/.test(script)
    ? /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(realPath(script) ?? '')?.[1]
    : undefined
  if (fetched !== undefined)
    return { command: 'npx', args: ['-y', `--package=${fetched.replaceAll('\\', '/')}`, name] }
  // Never fetched by a name that might be somebody else's.
  return scope === 'project' && !relative(cwd, script).startsWith('..')
    ? { command: 'npx', args: ['--no-install', name] }
    : undefined
}

function interpreter(execPath: string, surroundings: Surroundings): string {
  const name = basename(execPath).replace(/\.exe$/i, '')
  return findProgram(name, surroundings) === undefined ? execPath : name
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}
