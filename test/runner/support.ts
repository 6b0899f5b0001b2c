import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { extname, join } from 'node:path'
import { fixture, makeFolder, runProgram, startProgram } from '../support/run-program.ts'
import type { Ended, Running, RunOptions } from '../support/run-program.ts'
import { TOOLABLE } from '../support/toolable-program.ts'

/** A line of a run's log, as a test looks at it. */
export type Line = {
  readonly type: string
  readonly seq: number
  readonly attempt: number
  readonly [field: string]: any
}

/**
 * A project with tools of the orchestration's form: each a fixture, under a manifest of a few
 * lines.
 */
export type Project = {
  readonly folder: string
  /** Runs `toolable` there. */
  toolable(args: readonly string[], options?: RunOptions): Promise<Ended>
  start(args: readonly string[], options?: RunOptions): Running
  /** The log of the only run, or of the one that is named. */
  log(id?: string): Line[]
  /** The folder of the only run, or of the one that is named. */
  run(id?: string): string
  write(path: string, text: string): string
}

/**
 * Makes a project in which each fixture is a tool of the same name without its ending; the value is
 * the rest of its manifest. `plain` tools have a manifest without the protocol.
 */
export function makeProject(tools: { readonly [fixture: string]: string }): Project {
  const folder = makeFolder()
  for (const [file, manifest] of Object.entries(tools)) {
    const extension = extname(file)
    const name = file.slice(0, -extension.length).replaceAll('-', '_')
    mkdirSync(join(folder, 'tools', 'registry', name), { recursive: true })
    mkdirSync(join(folder, 'tools', name))
    const entry = `cli${extension}`
    copyFileSync(fixture(`runner/${file}`), join(folder, 'tools', name, entry))
    chmodSync(join(folder, 'tools', name, entry), 0o755)
    const protocol =
      manifest.includes('protocol_version') || manifest.includes('plain')
        ? ''
        : 'protocol_version: 1\n'
    writeFileSync(
      join(folder, 'tools', 'registry', name, 'tool.yaml'),
      `name: ${name}\nversion: 1.0.0\nentry: ${entry}\n${protocol}${manifest.replace(/^#? ?plain$/m, '')}\n`,
    )
  }
  const runs = join(folder, '.runs')
  const run = (id?: string): string => {
    const ids = existsSync(runs) ? readdirSync(runs).filter((name) => name.startsWith('r-')) : []
    if (id === undefined && ids.length !== 1) throw new Error(`there are ${ids.length} runs`)
    return join(runs, id ?? ids[0]!)
  }
  return {
    folder,
    run,
    toolable: (args, options = {}) => runProgram(TOOLABLE, args, { cwd: folder, ...options }),
    start: (args, options = {}) => startProgram(TOOLABLE, args, { cwd: folder, ...options }),
    log: (id) =>
      readFileSync(join(run(id), 'events.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Line),
    write(path, text) {
      writeFileSync(join(folder, path), text)
      return join(folder, path)
    },
  }
}

/** The last line of a type. */
export function last(lines: readonly Line[], type: string): Line | undefined {
  return lines.findLast((line) => line.type === type)
}
