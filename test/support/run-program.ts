import { spawn } from 'node:child_process'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import { HANG_MS } from './limits.ts'

/** How a program ended and all that it said. */
export type Ended = {
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
  /** The whole of stdout as one JSON document; throws when it is not exactly one. */
  readonly json: any
  /** Each line of stdout as JSON. */
  readonly lines: any[]
}

/** A program that is still running. */
export type Running = {
  readonly pid: number
  readonly child: ChildProcessWithoutNullStreams
  readonly ended: Promise<Ended>
  /**
   * Resolves when the stream has said the text, now or before; rejects when the program ends
   * without it.
   */
  said(text: string, stream?: 'stdout' | 'stderr'): Promise<void>
  write(text: string | Uint8Array): void
  closeStdin(): void
  kill(signal: NodeJS.Signals): void
}

export type RunOptions = {
  /** What stdin carries; without it stdin is /dev/null. `open` keeps a pipe open and silent. */
  readonly input?: string | Uint8Array | 'open'
  /** Added to an environment that has nothing of the machine but PATH and a home of its own. */
  readonly env?: { readonly [name: string]: string }
  readonly cwd?: string
  readonly nodeArgs?: readonly string[]
  /** Milliseconds after which a program that still runs counts as hanging; default HANG_MS. */
  readonly longest?: number
}

/**
 * For a server that all tests of a file use: how long they take together says nothing about it, and
 * it goes with the file.
 */
export const AS_LONG_AS_ITS_FILE = 1_800_000
const home = mkdtempSync(join(tmpdir(), 'toolable-home-'))
const running = new Set<Running>()
afterAll(() => {
  for (const { pid } of running) killGroup(pid)
  rmSync(home, { recursive: true, force: true })
})

/**
 * The path of a fixture; of the program that was built of it where the suite runs against built
 * programs (scripts/test-built.mjs).
 */
export function fixture(name: string): string {
  return builtFixture(name) ?? sourceOf(name)
}

/** The path of a fixture as it is written. */
export function sourceOf(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))
}

function builtFixture(name: string): string | undefined {
  const { BUILT_PROGRAMS: folder } = process.env
  const built = folder && join(folder, name.replace(/\.mjs$/, ''))
  return built && existsSync(built) ? built : undefined
}

/** A new empty folder that is removed after the tests of this file. */
export function makeFolder(): string {
  return mkdtempSync(join(home, 'folder-'))
}

/** The whole environment of a program under test. */
export function cleanEnvironment(extra: { readonly [name: string]: string } = {}): {
  [name: string]: string
} {
  const { PATH = '', NODE_V8_COVERAGE } = process.env
  return {
    PATH,
    HOME: home,
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CONFIG_HOME: join(home, 'config'),
    TMPDIR: home,
    ...(NODE_V8_COVERAGE !== undefined && { NODE_V8_COVERAGE }),
    ...extra,
  }
}

/** Runs a fixture to its end. */
export function runProgram(
  name: string,
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<Ended> {
  return startProgram(name, args, options).ended
}

/** Runs a shell script in which `$PROG` stands for the fixture with its interpreter. */
export function runShell(name: string, script: string, options: RunOptions = {}): Promise<Ended> {
  return launch(
    '/bin/bash',
    ['-c', script.replaceAll('$PROG', `"${process.execPath}" "${fixture(name)}"`)],
    options,
  ).ended
}

/** Starts a fixture and lets the test talk to it. */
export function startProgram(
  name: string,
  args: readonly string[] = [],
  options: RunOptions = {},
): Running {
  const built = options.nodeArgs ? undefined : builtFixture(name)
  if (built !== undefined) return launch(built, args, options)
  return launch(process.execPath, [...(options.nodeArgs ?? []), fixture(name), ...args], options)
}

/** Starts any program, and lets the test talk to it. */
export function launch(
  command: string,
  args: readonly string[],
  { input, env, cwd, longest = HANG_MS }: RunOptions,
): Running {
  const child = spawn(command, args, {
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    env: cleanEnvironment(env),
    cwd: cwd ?? home,
    detached: true,
  }) as ChildProcessWithoutNullStreams
  const said = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
  const listeners = new Set<() => void>()
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].on('data', (chunk: Buffer) => {
      said[stream].push(chunk)
      for (const listener of listeners) listener()
    })
  }
  // A program that ended before it read everything is no failure of the test.
  child.stdin?.on('error', () => undefined)
  const text = (stream: 'stdout' | 'stderr'): string => Buffer.concat(said[stream]).toString()

  const ended = new Promise<Ended>((resolve, reject) => {
    const watchdog = setTimeout(() => {
      killGroup(child.pid ?? 0)
      reject(
        new Error(
          `${args.join(' ')} did not end\nstdout: ${text('stdout').slice(0, 2000)}\nstderr: ${text('stderr').slice(0, 2000)}`,
        ),
      )
    }, longest)
    child.on('error', reject)
    child.on('close', (status, signal) => {
      clearTimeout(watchdog)
      running.delete(program)
      resolve(describeEnd(status, signal, text('stdout'), text('stderr')))
    })
  })
  ended.catch(() => undefined)
  const program: Running = {
    pid: child.pid ?? 0,
    child,
    ended,
    said: (wanted, stream = 'stdout') =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!text(stream).includes(wanted)) return
          listeners.delete(look)
          resolve()
        }
        listeners.add(look)
        look()
        ended.then(
          (end) =>
            reject(
              new Error(`ended without '${wanted}'\nstdout: ${end.stdout}\nstderr: ${end.stderr}`),
            ),
          reject,
        )
      }),
    write: (chunk) => void child.stdin.write(chunk),
    closeStdin: () => void child.stdin.end(),
    kill: (signal) => void child.kill(signal),
  }
  running.add(program)
  if (input !== undefined && input !== 'open') child.stdin.end(input)
  return program
}

// A group of its own, so that what a program has started goes with it.
function killGroup(pid: number): void {
  try {
    if (pid > 0) process.kill(-pid, 'SIGKILL')
  } catch {
    /* gone already */
  }
}

function describeEnd(
  status: number | null,
  signal: NodeJS.Signals | null,
  stdout: string,
  stderr: string,
): Ended {
  return {
    status,
    signal,
    stdout,
    stderr,
    get json(): any {
      try {
        return JSON.parse(stdout)
      } catch {
        throw new Error(
          `stdout is not one JSON document (exit ${status})\nstdout: ${stdout.slice(0, 2000)}\nstderr: ${stderr.slice(0, 2000)}`,
        )
      }
    },
    get lines(): any[] {
      return stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line))
    },
  }
}
