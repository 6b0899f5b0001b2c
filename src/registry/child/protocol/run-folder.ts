import { onAbort } from '../../../call/on-abort.ts'
import type { Context } from '../../../contract/context.ts'

/** What a run has for itself while it lasts. */
export type RunFolder = { readonly env: { readonly [name: string]: string }; remove(): Promise<void> }

/** Makes the folder of a run in the temporary directory, with the variables that tell the tool about it. A call that is cancelled puts the cancel file there. */
export async function makeRunFolder({ env, deadline, signal }: Context): Promise<RunFolder> {
  const [{ mkdir, mkdtemp, rm, writeFile }, { tmpdir }, { join }] = await Promise.all([import('node:fs/promises'), import('node:os'), import('node:path')])
  const folder = await mkdtemp(join(tmpdir(), 'toolable-run-'))
  const inside = (name: string): string => join(folder, name)
  await Promise.all(['work', 'logs'].map((name) => mkdir(inside(name))))
  const stopListening = onAbort(signal, () => void writeFile(inside('CANCEL'), '').catch(() => undefined))
  const runId = `r-${randomHex(5)}`
  return {
    env: {
      RUN_ID: runId,
      TRACE_ID: env['TRACE_ID'] ?? `t-${randomHex(8)}`,
      WORKSPACE: inside('work'),
      LOG_DIR: inside('logs'),
      CANCEL_FILE: inside('CANCEL'),
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
