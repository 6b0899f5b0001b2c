import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { fixture, makeFolder, runProgram, startProgram } from '../support/run-program.ts'
import type { Ended, Running, RunOptions } from '../support/run-program.ts'
import { TOOLABLE } from '../support/toolable-program.ts'

/** A line of the record of a run, as a test looks at it. */
export type Line = {
  readonly type: string
  readonly seq: number
  readonly attempt: number
  readonly [field: string]: any
}

/** A project with tools that are programs, and what its workflows left. */
export type Project = {
  readonly folder: string
  /** The folder of its runs. */
  readonly runs: string
  path(name: string): string
  write(path: string, text: string): string
  toolable(args: readonly string[], options?: RunOptions): Promise<Ended>
  start(args: readonly string[], options?: RunOptions): Running
  /** The ids of all runs. */
  ids(): string[]
  request(id: string): any
  log(id: string): Line[]
  /** What a tool wrote down, line by line. */
  counted(name?: string): string[]
}

/**
 * Makes a project in which fixtures are tools under the names of their files; the value is the rest
 * of their manifests, in which FOLDER is that of the project.
 */
export function makeProject(
  tools: { readonly [fixture: string]: string } = { 'workflow/count.sh': COUNT },
): Project {
  const folder = makeFolder()
  // What is confined is somebody else where the tests run as root.
  chmodSync(folder, 0o777)
  const write = (path: string, text: string): string => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
    return join(folder, path)
  }
  for (const [file, manifest] of Object.entries(tools)) {
    const extension = extname(file)
    const name = file.slice(file.lastIndexOf('/') + 1, -extension.length).replaceAll('-', '_')
    write(
      `tools/registry/${name}/tool.yaml`,
      `name: ${name}\nversion: 1.0.0\nentry: cli${extension}\nprotocol_version: 1\n${manifest.replaceAll('FOLDER', folder)}\n`,
    )
    mkdirSync(join(folder, 'tools', name))
    const program = join(folder, 'tools', name, `cli${extension}`)
    copyFileSync(fixture(file), program)
    chmodSync(program, 0o755)
  }
  write('toolable.yaml', 'folders: [tools]\n')
  const runs = join(folder, '.runs')
  return {
    folder,
    runs,
    write,
    path: (name) => join(folder, name),
    toolable: (args, options = {}) => runProgram(TOOLABLE, args, { cwd: folder, ...options }),
    start: (args, options = {}) => startProgram(TOOLABLE, args, { cwd: folder, ...options }),
    ids: () => (existsSync(runs) ? readdirSync(runs).filter((name) => name.startsWith('r-')) : []),
    request: (id) => JSON.parse(readFileSync(join(runs, id, 'run.json'), 'utf8')) as unknown,
    log: (id) =>
      readFileSync(join(runs, id, 'events.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Line),
    counted: (name = 'counted') =>
      existsSync(join(folder, name))
        ? readFileSync(join(folder, name), 'utf8')
            .trim()
            .split('\n')
            .filter((line) => line !== '')
        : [],
  }
}

/** The inputs of the tool that counts. */
export const COUNT =
  'inputs:\n  - {name: name, type: string, required: true}\n  - {name: log, type: string}\n  - {name: gate, type: string}\n  - {name: fail, type: string}\npermissions: {filesystem: {read: ["FOLDER/**"], write: ["FOLDER/**"]}}\n'
