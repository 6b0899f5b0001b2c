import { createHash } from 'node:crypto'
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { tool, toolset } from 'toolable'
import type { Toolset } from 'toolable'
import { runCli } from 'toolable/testing'
import { makeFolder, runProgram, startProgram } from '../support/run-program.ts'
import type { Ended, Running } from '../support/run-program.ts'

/** How a command line ended, with its stdout as JSON. */
export type Answer = {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
  readonly json: any
}

/** A home and a project of their own, and programs that are run there. */
export type Machine = {
  readonly home: string
  readonly project: string
  /** Runs the command line in this process. */
  run(...argv: string[]): Promise<Answer>
  /** The same for a program of another name or other tools. */
  runAs(program: Toolset, ...argv: string[]): Promise<Answer>
  /** Runs the fixture as a process of its own. */
  spawn(
    argv: readonly string[],
    env?: { readonly [name: string]: string },
    nodeArgs?: readonly string[],
  ): Promise<Ended>
  start(
    argv: readonly string[],
    env?: { readonly [name: string]: string },
    nodeArgs?: readonly string[],
  ): Running
  write(path: string, text: string | Uint8Array): string
  read(path: string): string
  /** Everything that is there: kind, mode and content of each path. */
  tree(): { readonly [path: string]: string }
  /** The environment that the programs get. */
  readonly env: { [name: string]: string }
}

/** A program with two tools; the summary of one can be another, which makes another skill. */
export function program(name = 'file-tools', summary = 'Count files'): Toolset {
  const find = tool({
    name: 'find',
    summary: 'Find files',
    input: { type: 'object', properties: { pattern: { type: 'string' } }, required: ['pattern'] },
    run: ({ pattern }: any) => [pattern],
  })
  return toolset({
    name,
    version: '1.0.0',
    tools: [find, tool({ name: 'count', summary, run: () => 0 })],
  })
}

/** A machine without any agent. */
export function makeMachine(): Machine {
  const root = makeFolder()
  const [home, project] = [join(root, 'home'), join(root, 'project')]
  for (const folder of [home, project]) mkdirSync(folder)
  const env: { [name: string]: string } = { HOME: home, PATH: '' }
  const at = (path: string): string => join(root, path)
  const runAs = async (set: Toolset, ...argv: string[]): Promise<Answer> => {
    const { exitCode, stdout, stderr } = await runCli(set, argv, { env, cwd: project })
    return {
      status: exitCode,
      stdout,
      stderr,
      get json() {
        return JSON.parse(stdout)
      },
    }
  }
  // The interpreter has to be found there, and nothing else.
  const options = (extra: object = {}) => ({
    cwd: project,
    env: { XDG_CONFIG_HOME: '', ...env, ...extra },
  })
  return {
    home,
    project,
    env,
    run: (...argv) => runAs(program(), ...argv),
    runAs,
    spawn: (argv, extra, nodeArgs) =>
      runProgram('installs-itself.mjs', argv, { ...options(extra), ...(nodeArgs && { nodeArgs }) }),
    start: (argv, extra, nodeArgs) =>
      startProgram('installs-itself.mjs', argv, {
        ...options(extra),
        ...(nodeArgs && { nodeArgs }),
      }),
    write(path, text) {
      mkdirSync(dirname(at(path)), { recursive: true })
      writeFileSync(at(path), text)
      return at(path)
    },
    read: (path) => readFileSync(at(path), 'utf8'),
    tree: () =>
      Object.fromEntries(
        readdirSync(root, { recursive: true, encoding: 'utf8' })
          .sort()
          .map((path) => [path, describe(at(path))]),
      ),
  }
}

function describe(path: string): string {
  const stats = lstatSync(path)
  if (stats.isSymbolicLink()) return `link to ${readlinkSync(path)}`
  if (stats.isDirectory()) return 'folder'
  return stats.isFile()
    ? `${(stats.mode & 0o777).toString(8)} ${createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 12)}`
    : 'other'
}
