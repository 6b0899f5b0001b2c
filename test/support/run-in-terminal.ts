import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { cleanEnvironment, fixture, makeFolder } from './run-program.ts'
import { HANG_MS } from './limits.ts'

/** What happened on a terminal. */
export type Screen = {
  readonly status: number | null
  readonly signal: number | null
  /** Everything that the terminal got, echo of the keys included. */
  readonly screen: string
  /** What went to streams that were pipes. */
  readonly stdout: string
  readonly stderr: string
}

export type TerminalOptions = {
  readonly env?: { readonly [name: string]: string }
  readonly columns?: number
  /** Waits for each text on the screen in turn, and then types. */
  readonly steps?: readonly { readonly wait: string; readonly send: string }[]
  /** Streams that are pipes although stdin is a terminal. */
  readonly pipes?: readonly ('stdout' | 'stderr')[]
  readonly cwd?: string
}

/** The keys that a terminal turns into signals and ends. */
export const KEYS = { interrupt: '\u0003', end: '\u0004' } as const

const PYTHON = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3'
const SCRIPT = fileURLToPath(new URL('terminal.py', import.meta.url))
// Only what never ends is waited for so long.
const LONGEST_S = HANG_MS / 1000

/**
 * Runs a fixture on a real pseudo-terminal. Throws when it does not end, or when something that was
 * waited for never came.
 */
export async function runInTerminal(
  name: string,
  args: readonly string[],
  { env, columns = 100, steps = [], pipes = [], cwd }: TerminalOptions = {},
): Promise<Screen> {
  const plan = {
    argv: [process.execPath, fixture(name), ...args],
    env: { TERM: 'xterm-256color', ...cleanEnvironment(env) },
    columns,
    steps,
    pipes,
    cwd: cwd ?? makeFolder(),
    timeout: LONGEST_S,
  }
  const output = await new Promise<string>((resolve, reject) => {
    const child = spawn(PYTHON, ['-I', '-S', SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] })
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.on('error', reject)
    child.on('close', () => resolve(Buffer.concat(chunks).toString()))
    child.stdin.end(JSON.stringify(plan))
  })
  const { timed_out, steps_left, ...screen } = JSON.parse(output) as Screen & {
    timed_out: boolean
    steps_left: string[]
  }
  if (timed_out || steps_left.length > 0)
    throw new Error(
      `${timed_out ? 'did not end' : 'ended early'}; waiting for ${JSON.stringify(steps_left)}\n${screen.screen}\nstdout: ${screen.stdout}\nstderr: ${screen.stderr}`,
    )
  return screen
}
