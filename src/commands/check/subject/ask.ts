import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { probeEnvironment } from '../../../process/base-environment.ts'
import type { ChildEnd } from '../../../process/child-type.ts'
import { runChild } from '../../../process/run-child.ts'
import type { SandboxProfile } from '../../../process/sandbox/profile.ts'
import type { StartCommand } from './start-command.ts'
import type { Ran, Subject } from './subject.ts'

/** The ways in which a program can be asked. */
export type Asking = Pick<Subject, 'command' | 'ask' | 'runs' | 'bareStart' | 'contained'>

export type AskingOptions = {
  readonly env: { readonly [name: string]: string | undefined }
  readonly signal: AbortSignal
  readonly sandbox: SandboxProfile | undefined
  /** A run that takes longer is ended. */
  readonly runSeconds: number
}

const LARGEST_OUTPUT = 16 * 1024 * 1024

/** Lets `work` ask a program in a folder that is empty before and gone afterwards. */
export async function withAsking<Result>(
  { command, bare }: StartCommand,
  { env, signal, sandbox, runSeconds }: AskingOptions,
  work: (asking: Asking) => Promise<Result>,
): Promise<Result> {
  const home = await mkdtemp(join(tmpdir(), 'toolable-check-'))
  const remembered = new Map<string, Promise<Ran>>()
  const runs: Ran[] = []
  const run = async (
    whole: readonly string[],
    args: readonly string[],
    extra: { readonly [name: string]: string } = {},
  ): Promise<Ran> => {
    const end = await runChild({
      command: whole as [string, ...string[]],
      cwd: home,
      env: { ...probeEnvironment(env, home), ...extra },
      timeout: runSeconds * 1000,
      maxStdout: LARGEST_OUTPUT,
      signal,
      ...(sandbox && { sandbox }),
    })
    signal.throwIfAborted()
    return toRan(args, end, runSeconds)
  }
  try {
    return await work({
      command,
      runs,
      contained: sandbox !== undefined,
      async ask(args, { env: extra, again, unread } = {}) {
        const key = JSON.stringify([args, extra, unread])
        const known = again ? undefined : remembered.get(key)
        if (known) return known
        // The reader is gone before the program can have said anything.
        const whole = unread
          ? ['sh', '-c', '"$@" | :', 'sh', ...command, ...args]
          : [...command, ...args]
        const asked = run(whole, args, extra)
        remembered.set(key, asked)
        runs.push(await asked)
        return asked
      },
      bareStart: async () => (await run(bare, [])).duration,
    })
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

function toRan(
  args: readonly string[],
  { reason, status, signal, stdout, stderr, duration, problem }: ChildEnd,
  runSeconds: number,
): Ran {
  const troubles: { readonly [reason: string]: string } = {
    timeout: `it did not end within ${runSeconds} seconds`,
    'stdout-limit': 'it printed without end',
    'not-started': 'it could not be started',
  }
  const trouble =
    reason === 'exited'
      ? signal === null
        ? undefined
        : `killed by ${signal}`
      : (troubles[reason] ?? reason)
  return {
    args,
    status: reason === 'exited' ? status : null,
    stdout: stdout.toString(),
    stderr: stderr.toString(),
    duration,
    ...(trouble !== undefined && { trouble: problem ? `${trouble}: ${problem.message}` : trouble }),
  }
}
