import { ToolError } from '../../contract/tool-error.ts'
import { probeEnvironment } from '../../process/base-environment.ts'
import type { Environment } from '../../process/base-environment.ts'
import { runChild } from '../../process/run-child.ts'
import { PRIVATE_FOLDER } from '../../process/sandbox/profile.ts'
import { findSandbox } from '../../process/sandbox/find-sandbox.ts'
import type { RunForHelp } from './describe-program.ts'

export type AskOptions = {
  readonly command: readonly [program: string, ...args: string[]]
  /** The environment of the host; the program gets very little of it. */
  readonly env: Environment
  /** Variables that the program gets besides. */
  readonly given?: { readonly [name: string]: string }
  /** Ask even where there is no sandbox. */
  readonly unsandboxed: boolean
  readonly signal?: AbortSignal
}

const PATIENCE = 10_000
const LARGEST_HELP = 8 * 1024 * 1024
// Wide enough that few lines are wrapped, and no pager waits for somebody.
const PLAIN = {
  COLUMNS: '120',
  PAGER: 'cat',
  MANPAGER: 'cat',
  GIT_PAGER: 'cat',
  MANWIDTH: '120',
  LC_ALL: 'C.UTF-8',
  LANGUAGE: 'en',
}

/** A way to ask a program for help in a sandbox. Throws SANDBOX_UNAVAILABLE where there is none and it was not allowed to do without. */
export async function openAsking({
  command: [program, ...fixed],
  env,
  given = {},
  unsandboxed,
  signal,
}: AskOptions): Promise<RunForHelp> {
  const sandbox = await findSandbox(env)
  if (!sandbox.available && !unsandboxed) throw sandbox.problem
  const neighbours = await readableFor(program)
  const ask = async (args: readonly string[], home: string): Promise<string> => {
    const { reason, problem, stdout, stderr } = await runChild({
      command: [program, ...fixed, ...args],
      cwd: '/',
      env: { ...probeEnvironment(env, home), ...PLAIN, ...given },
      timeout: PATIENCE,
      maxStdout: LARGEST_HELP,
      maxStderr: LARGEST_HELP,
      ...(signal && { signal }),
      ...(sandbox.available && {
        sandbox: { writable: 'private-tmp', network: 'none', readable: neighbours },
      }),
    })
    if (reason === 'not-started')
      throw problem ?? new ToolError('CONFIG', `${program} cannot be started`)
    const text = stdout.toString()
    return text.trim() === '' ? stderr.toString() : text
  }
  return (args) =>
    sandbox.available ? ask(args, PRIVATE_FOLDER) : inEmptyFolder((home) => ask(args, home))
}

// Some programs write into their home when they are only asked for help.
async function inEmptyFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const [{ mkdtemp, rm }, { tmpdir }] = await Promise.all([
    import('node:fs/promises'),
    import('node:os'),
  ])
  const folder = await mkdtemp(`${tmpdir()}/toolable-help-`)
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The file, and where it really is: what lies in a home is hidden otherwise. */
async function readableFor(program: string): Promise<readonly string[]> {
  const { realpath } = await import('node:fs/promises')
  const real = await realpath(program).catch(() => program)
  return [...new Set([program, real])]
}
