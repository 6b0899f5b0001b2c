/**
 * Secrets of a run: reads them from files or stdin, hands them to the tool as files, and wipes them
 * afterwards.
 */

import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { host } from '../core/host.ts'
import type { ToolProfile } from '../process/child.ts'
import type { IsolationLevel } from '../process/grants.ts'
import { MIN_SECRET_LENGTH } from '../process/redaction.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact } from '../util/values.ts'
import type { RunPermissions } from './permissions.ts'
import type { RunRequest } from './request.ts'
import type { RunHost } from './run-target.ts'

/** The secrets of a run: what is taken out of every record, and how the tool gets them. */
export type PreparedSecrets = DeliveredSecrets & {
  readonly values: readonly string[]
  /** For a tool in this process: by name. */
  readonly named: { readonly [name: string]: string }
}

const NOTHING_DELIVERED: DeliveredSecrets = {
  env: {},
  files: undefined,
  release: async () => undefined,
}

/**
 * Reads the secrets that a run was given and may have. Throws PERMISSION for one that it may not
 * have, or that others can read.
 */
export async function prepareSecrets(
  request: RunRequest,
  host: Pick<RunHost, 'secrets'>,
  { level, secrets: allowed, secretFiles }: RunPermissions,
): Promise<PreparedSecrets> {
  const files = { ...secretFiles, ...request.secrets }
  if (Object.keys(files).length === 0 && !host.secrets)
    return { values: [], named: {}, ...NOTHING_DELIVERED }
  const loaded = await loadSecrets(
    files,
    compact({ given: host.secrets ?? {}, cwd: request.cwd, allowed }),
  )
  const laid = await deliverSecrets(loaded, level)
  return { values: [...loaded.values()], named: Object.fromEntries(loaded), ...laid }
}

const SECRET_NAME_PATTERN = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/

type SecretSources = {
  /** Values that came by stdin; their file is called `-`. */
  readonly given?: { readonly [name: string]: string }
  /** What relative paths mean. */
  readonly cwd: string
  /** Names that the tool may have; default all. */
  readonly allowed?: readonly string[]
}

/**
 * Reads secrets from files, without the line feed at their end. Throws PERMISSION for a name that
 * the tool may not have and for a file that is not ours alone
 * (mode 0600 or stricter, our own, no link), INVALID_PATH where there is none, CONFIG for a name or
 * a value that cannot be a secret.
 */
export async function loadSecrets(
  files: { readonly [name: string]: string },
  { given = {}, cwd, allowed }: SecretSources,
): Promise<Map<string, string>> {
  const secrets = new Map<string, string>()
  const variables = new Map<string, string>()
  for (const [name, file] of [
    ...Object.entries(files),
    ...Object.keys(given)
      .filter((name) => !Object.hasOwn(files, name))
      .map((name) => [name, '-'] as const),
  ]) {
    checkSecretName(name, allowed)
    const twin = variables.get(getSecretVariable(name))
    if (twin !== undefined)
      throw new ToolError(
        'CONFIG',
        `the secrets '${twin}' and '${name}' would both be ${getSecretVariable(name)}`,
        { suggestion: 'Give one of them another name' },
      )
    variables.set(getSecretVariable(name), name)
    secrets.set(
      name,
      checkSecretValue(
        name,
        file === '-'
          ? getStdinSecret(name, given)
          : await readSecretFile(`the secret '${name}'`, resolve(cwd, file), 'secret-file'),
      ),
    )
  }
  return secrets
}

/** The variable that names the file of a secret to the tool. */
function getSecretVariable(name: string): string {
  return `${name.toUpperCase().replace(/[.-]/g, '_')}_FILE`
}

function checkSecretName(name: string, allowed: readonly string[] | undefined): void {
  if (!SECRET_NAME_PATTERN.test(name))
    throw new ToolError('CONFIG', `'${name}' cannot be the name of a secret`, {
      suggestion: 'Use letters, digits, _, . and -, with a letter in front, 64 at most',
    })
  if (allowed && !allowed.includes(name))
    throw new ToolError(
      'PERMISSION',
      `the manifest of the tool does not ask for the secret '${name}'`,
      {
        suggestion:
          allowed.length > 0
            ? `It asks for ${allowed.join(', ')}`
            : `Add it to the manifest: permissions: { secrets: [${name}] }`,
      },
    )
}

function getStdinSecret(name: string, given: { readonly [name: string]: string }): string {
  if (!Object.hasOwn(given, name))
    throw new ToolError('CONFIG', `nobody gave the secret '${name}' by stdin`, {
      suggestion: `Give it again, or keep it in a file: --secret-file ${name}=./${name}`,
    })
  return given[name]!
}

function checkSecretValue(name: string, value: string): string {
  const secret = value.replace(/\r?\n$/, '')
  if (secret.includes('\0'))
    throw new ToolError('CONFIG', `the secret '${name}' is not text`, {
      suggestion: 'Keep it as base64, and let the tool decode it',
    })
  if (secret.trim().length < MIN_SECRET_LENGTH)
    throw new ToolError(
      'CONFIG',
      `the secret '${name}' has less than ${MIN_SECRET_LENGTH} characters: it could not be kept out of logs without hiding half of them`,
      { suggestion: 'Use a longer secret' },
    )
  return secret
}

const MAX_SECRET_BYTES = 64 * 1024

/**
 * The text of a file that is ours alone. Throws PERMISSION where it is not (mode 0600 or stricter,
 * our own, no link), INVALID_PATH where there is none, CONFIG where it cannot be a secret. `field`
 * is the flag that named it.
 */
export async function readSecretFile(what: string, file: string, field: string): Promise<string> {
  const { open } = await import('node:fs/promises')
  const refuse = (
    code: 'INVALID_PATH' | 'PERMISSION' | 'CONFIG',
    why: string,
    suggestion: string,
  ): ToolError => new ToolError(code, `${what}: ${file} ${why}`, { field, suggestion })
  const handle = await open(
    file,
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  ).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ELOOP') throw refuse('PERMISSION', 'is a link', 'Name the file itself')
    if (error.code === 'EACCES') throw refuse('PERMISSION', 'cannot be read', `chmod 600 ${file}`)
    throw refuse(
      'INVALID_PATH',
      error.code === 'ENOENT' || error.code === 'ENOTDIR'
        ? 'does not exist'
        : `cannot be opened (${error.code ?? error.message})`,
      'Write the secret into that file, with mode 0600',
    )
  })
  try {
    // Of the open file, so that it cannot be exchanged in between.
    const stats = await handle.stat()
    if (!stats.isFile()) throw refuse('INVALID_PATH', 'is not a file', 'Name a file')
    if (host.uid !== undefined && stats.uid !== host.uid)
      throw refuse('PERMISSION', 'belongs to another user', 'Use a file of your own')
    if (host.uid !== undefined && (stats.mode & 0o077) !== 0)
      throw refuse(
        'PERMISSION',
        `can be read by others (mode ${(stats.mode & 0o777).toString(8).padStart(4, '0')})`,
        `chmod 600 ${file}`,
      )
    if (stats.size > MAX_SECRET_BYTES)
      throw refuse(
        'CONFIG',
        `has ${stats.size} bytes, and a secret has ${MAX_SECRET_BYTES} at most`,
        'Keep large data in a file that the tool may read',
      )
    const { buffer, bytesRead } = await handle.read(
      Buffer.alloc(MAX_SECRET_BYTES + 1),
      0,
      MAX_SECRET_BYTES + 1,
      0,
    )
    const bytes = buffer.subarray(0, bytesRead)
    if (bytes.length > MAX_SECRET_BYTES || !isUtf8(bytes))
      throw refuse('CONFIG', 'is not text', 'Keep it as base64, and let the tool decode it')
    return bytes.toString()
  } finally {
    await handle.close()
  }
}

/**
 * How a tool gets its secrets: as files, never by arguments, and in its environment only where they
 * are.
 */
type DeliveredSecrets = {
  /** SECRETS_DIR, and `<NAME>_FILE` for each. */
  readonly env: { readonly [name: string]: string }
  /** For a sandbox: files that exist only inside. */
  readonly files: ToolProfile['files']
  /** Wipes them. */
  release(): Promise<void>
}

const SANDBOX_SECRETS_FOLDER = '/run/secrets'
/** A folder in memory, so that secrets never get on a disk. */
const MEMORY_FOLDER = '/dev/shm'
const SECRETS_FOLDER_PREFIX = 'toolable-secrets-'

/**
 * Lays secrets out for a tool: inside its sandbox, or, where it has none, in a folder of our own
 * with files of mode 0600.
 */
export async function deliverSecrets(
  secrets: ReadonlyMap<string, string>,
  level: IsolationLevel,
): Promise<DeliveredSecrets> {
  if (secrets.size === 0) return NOTHING_DELIVERED
  return level === 'L3' ? deliverInSandbox(secrets) : deliverInFolder(secrets)
}

function deliverInSandbox(secrets: ReadonlyMap<string, string>): DeliveredSecrets {
  const files = [...secrets].map(([name, value]) => ({
    path: join(SANDBOX_SECRETS_FOLDER, name),
    content: Buffer.from(value),
  }))
  return {
    env: createSecretVariables(secrets, SANDBOX_SECRETS_FOLDER),
    files,
    release: async () => files.forEach(({ content }) => content.fill(0)),
  }
}

async function deliverInFolder(secrets: ReadonlyMap<string, string>): Promise<DeliveredSecrets> {
  const { mkdtemp, open, rm, stat } = await import('node:fs/promises')
  const place = (await stat(MEMORY_FOLDER).then(
    (stats) => stats.isDirectory(),
    () => false,
  ))
    ? MEMORY_FOLDER
    : tmpdir()
  await sweepAbandonedFolders(place)
  // The number and the start of our process are in its name, so that what a killed process left can
  // be told from what is in use.
  const folder = await mkdtemp(
    join(place, `${SECRETS_FOLDER_PREFIX}${host.pid}-${host.startOf(host.pid) ?? '0'}-`),
  )
  // Kept open: the tool may put anything in the place of its files, and what is wiped has to be
  // ours.
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
  return { env: createSecretVariables(secrets, folder), files: undefined, release }
}

function createSecretVariables(
  secrets: ReadonlyMap<string, string>,
  folder: string,
): { readonly [name: string]: string } {
  return {
    SECRETS_DIR: folder,
    ...Object.fromEntries(
      [...secrets.keys()].map((name) => [getSecretVariable(name), join(folder, name)]),
    ),
  }
}

/** Removes what processes of ours left that were killed. */
async function sweepAbandonedFolders(place: string): Promise<void> {
  const { lstat, readdir, rm } = await import('node:fs/promises')
  for (const name of await readdir(place).catch(() => [])) {
    const [, pid, started] = new RegExp(`^${SECRETS_FOLDER_PREFIX}(\\d+)-(\\d+)-`).exec(name) ?? []
    if (pid === undefined || host.isAlive(Number(pid), started === '0' ? undefined : started))
      continue
    const stats = await lstat(join(place, name)).catch(() => undefined)
    if (stats?.isDirectory() && stats.uid === host.uid)
      await rm(join(place, name), { recursive: true, force: true }).catch(() => undefined)
  }
}
