import { randomUUID } from 'node:crypto'
import type { Io } from '../../contract/io.ts'
import type { Host } from '../../surfaces/cli/host.ts'
import type { Backend } from '../../views/server/backend.ts'
import type { Surroundings } from '../config/load.ts'

export type BackendOptions = { readonly root: string; readonly readOnly: boolean; readonly surroundings: Surroundings; readonly io: Io; readonly host: Host }

export async function openBackend({ root, io, readOnly }: BackendOptions): Promise<Backend & { close(): Promise<void> }> {
  const epoch = randomUUID()
  const nothing = async (): Promise<never> => { throw new Error('not yet') }
  const rows: never[] = []
  return {
    runs: { epoch, list: async () => ({ rows, counts: {} as never, matching: 0, total: 0, complete: true }), detail: nothing, events: nothing, log: nothing, verify: nothing, decisions: nothing, plans: nothing, close: async () => undefined,
      artifact: async () => ({ name: 'x"<script>.html', bytes: 3, body: (async function* () { yield Buffer.from('abc') })() }),
      async *news(_after, signal) { yield { version: 1, news: { rows, removed: [], counts: {} as never, open: 0, total: 0 } }; await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })) },
      async *follow(_id, after, signal) { for (let seq = after + 1; seq <= after + 1200; seq++) yield [{ seq, type: 'log' } as never]; await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })) } },
    actions: { start: nothing, cancel: async () => undefined, resume: nothing, retry: nothing, answer: nothing, clean: nothing },
    catalogue: { about: () => ({ name: 'x', version: '1', project: io.cwd, runs_folder: root, read_only: readOnly, epoch, now: new Date(io.now()).toISOString() }), tools: nothing, tool: nothing, preview: nothing, rescan: nothing, workflows: nothing, workflow: nothing, doctor: nothing },
    close: async () => undefined,
  }
}
