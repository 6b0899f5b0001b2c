import { onAbort } from '../../../call/on-abort.ts'
import type { Context } from '../../../contract/context.ts'

/** What a run has for itself while it lasts. */
export type RunFolder = {
  readonly env: { readonly [name: string]: string }
  readonly workspace: string
  /** What the tool reads besides: where the cancel file appears, and where logs lie. */
  readonly shown: readonly string[]
  remove(): Promise<void>
}

/** Makes the folder of a run in the temporary directory, with the variables that tell the tool about it. A call that is cancelled puts the cancel file there. */
export async function makeRunFolder({ env, deadline, signal }: Context): Promise<RunFolder> {
  const [{ mkdir, mkdtemp, realpath, rm, writeFile }, { tmpdir }, { join }] = await Promise.all([
    import('node:fs/promises'),
    import('node:os'),
    import('node:path'),
  ])
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'toolable-run-')))
  const inside = (name: string): string => join(folder, name)
  await Promise.all(['work', 'logs', 'control'].map((name) => mkdir(inside(name))))
  const stopListening = onAbort(
    signal,
    () => void writeFile(inside('control/CANCEL'), '').catch(() => undefined),
  )
  const runId = `r-${randomHex(5)}`
  return {
    workspace: inside('work'),
    shown: [inside('control'), inside('logs')],
    env: {
      RUN_ID: runId,
      TRACE_ID: env['TRACE_ID'] ?? `t-${randomHex(8)}`,
      WORKSPACE: inside('work'),
      LOG_DIR: inside('logs'),
      CANCEL_FILE: inside('control/CANCEL'),
      AI_PROTOCOL_VERSION: '1',
      IDEMPOTENCY_KEY: env['IDEMPOTENCY_KEY'] ?? runId,
      ...(deadline && { DEADLINE_TS: deadline.at.toISOString() }),
    },
    async remove() {
      stopListening()
      await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined)
    },
  }
}

function randomHex(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex')
}
