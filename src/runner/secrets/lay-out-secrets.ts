import type { FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { host } from '../../call/host.ts'
import type { Level } from '../../process/permissions/grants.ts'
import type { ToolProfile } from '../../process/sandbox/profile.ts'
import { variableOf } from './load-secrets.ts'

/** How a tool gets its secrets: as files, never by arguments, and in its environment only where they are. */
export type LaidOutSecrets = {
  /** SECRETS_DIR, and `<NAME>_FILE` for each. */
  readonly env: { readonly [name: string]: string }
  /** For a sandbox: files that exist only inside. */
  readonly files: ToolProfile['files']
  /** Wipes them. */
  release(): Promise<void>
}

const INSIDE = '/run/secrets'
/** A folder in memory, so that secrets never get on a disk. */
const IN_MEMORY = '/dev/shm'
const PREFIX = 'toolable-secrets-'

/** Lays secrets out for a tool: inside its sandbox, or, where it has none, in a folder of our own with files of mode 0600. */
export async function layOutSecrets(
  secrets: ReadonlyMap<string, string>,
  level: Level,
): Promise<LaidOutSecrets> {
  if (secrets.size === 0) return { env: {}, files: undefined, release: async () => undefined }
  return level === 'L3' ? layOutInside(secrets) : layOutInFolder(secrets)
}

function layOutInside(secrets: ReadonlyMap<string, string>): LaidOutSecrets {
  const files = [...secrets].map(([name, value]) => ({
    path: join(INSIDE, name),
    content: Buffer.from(value),
  }))
  return {
    env: environment(secrets, INSIDE),
    files,
    release: async () => files.forEach(({ content }) => content.fill(0)),
  }
}

async function layOutInFolder(secrets: ReadonlyMap<string, string>): Promise<LaidOutSecrets> {
  const { mkdtemp, open, rm, stat } = await import('node:fs/promises')
  const place = (await stat(IN_MEMORY).then(
    (stats) => stats.isDirectory(),
    () => false,
  ))
    ? IN_MEMORY
    : tmpdir()
  await sweep(place)
  // The number and the start of our process are in its name, so that what a killed process left can be told from what is in use.
  const folder = await mkdtemp(
    join(place, `${PREFIX}${host.pid}-${host.startOf(host.pid) ?? '0'}-`),
  )
  // Kept open: the tool may put anything in the place of its files, and what is wiped has to be ours.
  const files: { readonly handle: FileHandle; readonly bytes: Buffer }[] = []
  const release = async (): Promise<void> => {
    for (const { handle, bytes } of files) {
      await handle.write(bytes.fill(0), 0, bytes.length, 0).catch(() => undefined)
      await handle.close().catch(() => undefined)
    }
    await rm(folder, { recursive: true, force: true })
  }
  try {
    for (const [name, value] of secrets) {
      const file = {
        handle: await open(join(folder, name), 'wx', 0o600),
        bytes: Buffer.from(value),
      }
      files.push(file)
      await file.handle.write(file.bytes, 0, file.bytes.length, 0)
    }
  } catch (error) {
    await release()
    throw error
  }
  return { env: environment(secrets, folder), files: undefined, release }
}

function environment(
  secrets: ReadonlyMap<string, string>,
  folder: string,
): { readonly [name: string]: string } {
  return {
    SECRETS_DIR: folder,
    ...Object.fromEntries(
      [...secrets.keys()].map((name) => [variableOf(name), join(folder, name)]),
    ),
  }
}

/** Removes what processes of ours left that were killed. */
async function sweep(place: string): Promise<void> {
  const { lstat, readdir, rm } = await import('node:fs/promises')
  for (const name of await readdir(place).catch(() => [])) {
    const [, pid, started] = new RegExp(`^${PREFIX}(\\d+)-(\\d+)-`).exec(name) ?? []
    if (pid === undefined || host.isAlive(Number(pid), started === '0' ? undefined : started))
      continue
    const stats = await lstat(join(place, name)).catch(() => undefined)
    if (stats?.isDirectory() && stats.uid === host.uid)
      await rm(join(place, name), { recursive: true, force: true }).catch(() => undefined)
  }
}
