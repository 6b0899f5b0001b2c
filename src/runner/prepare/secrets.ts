import type { ToolProfile } from '../../process/sandbox/profile.ts'
import { loadSecrets } from '../secrets/load-secrets.ts'
import type { RunHost } from '../run-host.ts'
import type { RunRequest } from '../run-request.ts'
import { layOutSecrets } from '../secrets/lay-out-secrets.ts'
import type { Rights } from './rights.ts'

/** The secrets of a run: what is taken out of every record, and how the tool gets them. */
export type PreparedSecrets = {
  readonly values: readonly string[]
  /** For a tool in this process: by name. */
  readonly named: { readonly [name: string]: string }
  readonly env: { readonly [name: string]: string }
  readonly files: ToolProfile['files']
  release(): Promise<void>
}

const NONE: PreparedSecrets = {
  values: [],
  named: {},
  env: {},
  files: undefined,
  release: async () => undefined,
}

/** Reads the secrets that a run was given and may have. Throws PERMISSION for one that it may not have, or that others can read. */
export async function prepareSecrets(
  request: RunRequest,
  host: Pick<RunHost, 'secrets'>,
  { level, secrets: allowed, secretFiles }: Rights,
): Promise<PreparedSecrets> {
  const files = { ...secretFiles, ...request.secrets }
  if (Object.keys(files).length === 0 && !host.secrets) return NONE
  const loaded = await loadSecrets(files, {
    given: host.secrets ?? {},
    cwd: request.cwd,
    ...(allowed && { allowed }),
  })
  const laid = await layOutSecrets(loaded, level)
  return { values: [...loaded.values()], named: Object.fromEntries(loaded), ...laid }
}
