/**
 * Expands the permissions of a manifest into grants, and checks that a workflow step only narrows
 * them.
 */

import { findConfigMismatch } from '../protocol/config-shape.ts'
import type { KeyPath } from '../protocol/documents.ts'
import type { Permissions } from '../protocol/manifest.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { isPathInside } from '../util/files.ts'
import { findClosest, shorten } from '../util/text.ts'
import { compact, isObject } from '../util/values.ts'
import type { Grants, LimitName, PathGrant, ResourceLimits } from './grants.ts'
import { PERMISSIONS_SHAPE, RESOURCE_LIMITS, RESOURCES_SHAPE } from './grants.ts'
import {
  PermissionFault,
  readCallerFolder,
  readPathGrant,
  readServerGrant,
  toPermissionError,
} from './permission-entries.ts'

/** The permissions of a manifest, and its file for messages. */
type RequestedPermissions = {
  readonly permissions: unknown
  /** Absent when they are part of the permissions. */
  readonly resources?: unknown
  readonly file?: string | undefined
}

/** The folders that entries of a manifest are relative to. */
type GrantContext = { readonly workspace: string; readonly cwd: string }

const FILESYSTEM_WORDS = ['none', 'read', 'read-only', 'read-write']
const NETWORK_WORDS = ['none', 'full']
const USER_KEYS = ['user', 'uid', 'group', 'gid', 'run_as', 'root', 'privileged', 'sudo']
const MAX_ENTRIES = 256
const SECRET_NAME = /^[A-Za-z_][\w.-]{0,63}$/

/**
 * Expands and checks the permissions of a manifest. Throws CONFIG or PERMISSION, with file and line,
 * for entries that are not exact or ask for more than any tool gets.
 */
export async function readGrants(
  { permissions, resources, file }: RequestedPermissions,
  context: GrantContext,
): Promise<Grants> {
  try {
    return expandPermissions(permissions ?? {}, resources, context)
  } catch (error) {
    throw error instanceof PermissionFault ? await toPermissionError(error, file) : error
  }
}

function expandPermissions(
  permissions: unknown,
  resources: unknown,
  { workspace, cwd }: GrantContext,
): Grants {
  rejectUserKeys(permissions)
  rejectMisfit(findConfigMismatch(PERMISSIONS_SHAPE, permissions), [])
  if (resources !== undefined)
    rejectMisfit(findConfigMismatch(RESOURCES_SHAPE, resources), ['resources'])
  const {
    filesystem,
    network,
    secrets = [],
    resources: inside,
  } = permissions as PermissionsDocument
  return {
    read: readPathGrants(filesystem, 'read', workspace, cwd),
    write: readPathGrants(filesystem, 'write', workspace, cwd),
    network: readNetwork(network),
    limits: { ...readLimits(inside), ...readLimits(resources) },
    ...readSecrets(secrets),
  }
}

type PermissionsDocument = {
  readonly filesystem?:
    string | { readonly read?: readonly string[]; readonly write?: readonly string[] }
  readonly network?: string | { readonly egress_allow?: readonly string[] }
  readonly secrets?: readonly (string | { readonly name: string; readonly file?: string })[]
  readonly resources?: unknown
}

// A manifest that asks for another user gets a better message than "unknown key".
function rejectUserKeys(permissions: unknown): void {
  const key = isObject(permissions)
    ? USER_KEYS.find((name) => Object.hasOwn(permissions, name))
    : undefined
  if (key !== undefined)
    throw new PermissionFault(
      [key],
      `'${key}': a tool cannot choose the user that it runs as, and it never runs as root`,
      `Take '${key}' out`,
      'PERMISSION',
    )
}

function rejectMisfit(misfit: ReturnType<typeof findConfigMismatch>, before: KeyPath): void {
  if (misfit)
    throw new PermissionFault(
      [...before, ...misfit.path],
      `permissions: ${misfit.message}`,
      misfit.fix ?? 'See docs/permissions.md',
    )
}

function readPathGrants(
  filesystem: PermissionsDocument['filesystem'],
  wanted: 'read' | 'write',
  workspace: string,
  cwd: string,
): readonly PathGrant[] {
  if (filesystem === undefined || filesystem === 'none') return []
  if (typeof filesystem === 'string') {
    checkWord('filesystem', filesystem, FILESYSTEM_WORDS)
    return wanted === 'read' || filesystem === 'read-write'
      ? [readCallerFolder(cwd, filesystem, ['filesystem'])]
      : []
  }
  const entries = filesystem[wanted] ?? []
  checkCount(entries, ['filesystem', wanted])
  return entries.flatMap(
    (text, index) => readPathGrant(text, workspace, ['filesystem', wanted, index]) ?? [],
  )
}

function readNetwork(network: PermissionsDocument['network']): Grants['network'] {
  if (network === undefined || network === 'none') return 'none'
  if (typeof network === 'string') {
    checkWord('network', network, NETWORK_WORDS)
    return 'open'
  }
  const servers = network.egress_allow ?? []
  checkCount(servers, ['network', 'egress_allow'])
  if (servers.length === 0) return 'none'
  const read = servers.map((text, index) =>
    readServerGrant(text, ['network', 'egress_allow', index]),
  )
  return [...new Map(read.map((server) => [`${server.host}:${server.port}`, server])).values()]
}

function readLimits(resources: unknown): ResourceLimits {
  if (!isObject(resources)) return {}
  return Object.fromEntries(
    Object.entries(resources).map(([name, value]) => [
      RESOURCE_LIMITS[name as LimitName].limit,
      readLimit(name as LimitName, value, ['resources', name]),
    ]),
  )
}

/** Reads the number of a limit. Throws a PermissionFault when it is out of range. */
export function readLimit(name: LimitName, value: unknown, path: KeyPath): number {
  const { least, most } = RESOURCE_LIMITS[name]
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most)
    return value as number
  throw new PermissionFault(
    path,
    `'${name}' must be a whole number from ${least} to ${most}; got ${shorten(JSON.stringify(value) ?? 'nothing', 60)}`,
    `Write ${name}: ${typeof value === 'number' && value > most ? most : Math.max(least, 64)}`,
  )
}

function readSecrets(
  secrets: NonNullable<PermissionsDocument['secrets']>,
): Pick<Grants, 'secrets' | 'secretFiles'> {
  checkCount(secrets, ['secrets'])
  const files = Object.create(null) as { [name: string]: string }
  const names = secrets.map((secret, index) => {
    const { name, file } = typeof secret === 'string' ? { name: secret, file: undefined } : secret
    if (!SECRET_NAME.test(name))
      throw new PermissionFault(
        ['secrets', index],
        `'${shorten(name, 60)}' is no name for a secret`,
        'Write letters, digits, _ . and -, beginning with a letter',
      )
    if (file !== undefined) files[name] = readSecretFile(file, ['secrets', index])
    return name
  })
  return compact({
    secrets: [...new Set(names)],
    secretFiles: Object.keys(files).length > 0 ? files : undefined,
  })
}

function readSecretFile(file: string, path: KeyPath): string {
  const grant = readPathGrant(file, '/', path)
  if (grant && !grant.tree) return grant.path
  throw new PermissionFault(
    path,
    `'${shorten(file, 200)}' is no file for a secret`,
    'Write the absolute path of a file',
  )
}

function checkWord(key: string, word: string, words: readonly string[]): void {
  if (words.includes(word)) return
  const meant = findClosest(word, words)
  throw new PermissionFault(
    [key],
    `'${key}' is one of ${words.join(', ')}, or an object; got '${shorten(word, 60)}'`,
    `Write ${key}: ${meant ?? 'none'}`,
  )
}

function checkCount(entries: readonly unknown[], path: KeyPath): void {
  if (entries.length > MAX_ENTRIES)
    throw new PermissionFault(
      path,
      `'${path.join('.')}' has ${entries.length} entries`,
      `It may have ${MAX_ENTRIES}`,
    )
}

/** What a workflow step lets a tool do, and what the manifest in `file` asks for. */
type NarrowingRequest = {
  readonly wanted: Permissions
  readonly own: Permissions | undefined
  readonly file?: string | undefined
  /** For messages. */
  readonly tool: string
}

/**
 * Replaces the permissions of a tool by narrower ones; limits that are not named stay. Throws
 * PERMISSION for anything beyond its own, and CONFIG.
 */
export async function narrowPermissions(
  { wanted, own, file, tool }: NarrowingRequest,
  context: GrantContext,
): Promise<Permissions> {
  const inner = await readGrants({ permissions: wanted }, context)
  if (own === undefined) return wanted
  const excess = findWidening(inner, await readGrants({ permissions: own, file }, context))
  if (excess !== undefined)
    throw new ToolError(
      'PERMISSION',
      `the step lets '${tool}' ${excess}, which its manifest does not ask for`,
      { suggestion: 'A step can only take away: leave it out, or add it to the manifest' },
    )
  if (!isObject(own['resources'])) return wanted
  const narrowed = isObject(wanted['resources']) ? wanted['resources'] : {}
  return { ...wanted, resources: { ...own['resources'], ...narrowed } }
}

function findWidening(inner: Grants, outer: Grants): string | undefined {
  const read = inner.read.find((grant) => !isCovered(grant, [...outer.read, ...outer.write]))
  if (read) return `read ${read.path}`
  const write = inner.write.find((grant) => !isCovered(grant, outer.write))
  if (write) return `write ${write.path}`
  return (
    findExtraServer(inner.network, outer.network) ??
    findExtraSecret(inner, outer) ??
    findHigherLimit(inner, outer)
  )
}

function isCovered(inner: PathGrant, outer: readonly PathGrant[]): boolean {
  return outer.some(({ path, tree }) =>
    tree ? isPathInside(path, inner.path) : path === inner.path && !inner.tree,
  )
}

function findExtraServer(inner: Grants['network'], outer: Grants['network']): string | undefined {
  if (inner === 'none' || outer === 'open') return undefined
  if (inner === 'open') return 'talk to every server'
  const known = outer === 'none' ? [] : outer
  const server = inner.find(
    (one) => !known.some(({ host, port }) => host === one.host && port === one.port),
  )
  return server && `talk to ${server.host}:${server.port}`
}

function findExtraSecret(inner: Grants, outer: Grants): string | undefined {
  const name = inner.secrets.find((one) => !outer.secrets.includes(one))
  if (name !== undefined) return `have the secret '${name}'`
  const file = Object.entries(inner.secretFiles ?? {}).find(
    ([one, path]) => outer.secretFiles?.[one] !== path,
  )
  return file && `have the secret of ${file[1]}`
}

function findHigherLimit(inner: Grants, outer: Grants): string | undefined {
  for (const [name, { limit }] of Object.entries(RESOURCE_LIMITS)) {
    const [asked, most] = [inner.limits[limit], outer.limits[limit]]
    if (asked !== undefined && most !== undefined && asked > most)
      return `use ${name}: ${asked}, more than ${most}`
  }
  return undefined
}
