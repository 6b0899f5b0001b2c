import { randomBytes } from 'node:crypto'
import type { Io } from '../../contract/io.ts'
import type { Host } from '../../surfaces/cli/host.ts'
import type { Backend } from '../../views/server/backend.ts'
import { openRunsSource } from '../../views/server/runs/open-runs-source.ts'
import type { Surroundings } from '../config/load.ts'

export type BackendOptions = { readonly root: string; readonly readOnly: boolean; readonly surroundings: Surroundings; readonly io: Io; readonly host: Host }

export async function openBackend({ root, io, readOnly }: BackendOptions): Promise<Backend & { close(): Promise<void> }> {
  const epoch = randomBytes(6).toString('hex')
  const nothing = async (): Promise<never> => { throw new Error('not yet') }
  return {
    runs: openRunsSource({ root, now: io.now, epoch }),
    actions: { start: nothing, cancel: async () => undefined, resume: nothing, retry: nothing, answer: nothing, clean: nothing },
    catalogue: { about: () => ({ name: 'x', version: '1', project: io.cwd, runs_folder: root, read_only: readOnly, epoch, now: new Date(io.now()).toISOString() }), tools: nothing, tool: nothing, preview: nothing, rescan: nothing, workflows: nothing, workflow: nothing, doctor: nothing },
    close: async () => undefined,
  }
}
