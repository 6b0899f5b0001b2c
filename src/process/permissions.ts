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
import type { EgressGrant, Grants, LimitName, PathGrant, ResourceLimits } from './grants.ts'
import { PERMISSIONS_SHAPE, RESOURCE_LIMITS, RESOURCES_SHAPE } from './grants.ts'
import {
  PermissionFault,
  readCallerFolder,
  readPathGrant,
  readServerGrant,
  toPermissionError,
} from './permission-entries.ts'

/** What a manifest says about what its tool may do. `file` is where it stands. */
type RequestedPermissions = {
  readonly permissions: unknown
  /** Where they do not stand in the permissions already. */ readonly resources?: unknown
  readonly file?: string | undefined
}

/**
 * What the words of a manifest mean for this run: its workspace, and the directory of the caller.
 */
type GrantContext = { readonly workspace: string; readonly cwd: string }

const FILESYSTEM_WORDS = ['none', 'read', 'read-only', 'read-write']
const NETWORK_WORDS = ['none', 'full']
const USER_KEYS = ['user', 'uid', 'group', 'gid', 'run_as', 'root', 'privileged', 'sudo']
const MAX_ENTRIES = 256
const SECRET_NAME = /^[A-Za-z_][\w.-]{0,63}$/

/**
 * The grants that a manifest asks for, expanded and checked; what it does not ask for is not given.
 * Throws CONFIG or PERMISSION with file and line for what is not exact, or more than any tool gets.
 */
export async function readGrants(
  { permissions, resources, file }: RequestedPermissions,
  surroundings: GrantContext,
): Promise<Grants> {
  try {
    return expandPermissions(permissions ?? {}, resources, surroundings)
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
  const read = readPathGrants(filesystem, 'read', workspace, cwd)
  const write = readPathGrants(filesystem, 'write', workspace, cwd)
  return {
    read,
    write,
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

// A manifest that wants another user, and most of all root, deserves more than to be told of an
// unknown key.
function rejectUserKeys(permissions: unknown): void {
  const key = isObject(permissions)
    ? USER_KEYS.find((name) => Object.hasOwn(permissions, name))
    : undefined
  if (key !== undefined)
    throw new PermissionFault(
      'PERMISSION',
      [key],
      `'${key}': a tool cannot choose the user that it runs as, and it never runs as root`,
      `Take '${key}' out`,
    )
}

function rejectMisfit(misfit: ReturnType<typeof findConfigMismatch>, before: KeyPath): void {
  if (misfit)
    throw new PermissionFault(
      'CONFIG',
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
  const places = filesystem[wanted] ?? []
  checkCount(places, ['filesystem', wanted])
  return places.flatMap(
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
  const read = servers.map((text, index): EgressGrant =>
    readServerGrant(text, ['network', 'egress_allow', index]),
  )
  return read.length === 0
    ? 'none'
    : [...new Map(read.map((server) => [`${server.host}:${server.port}`, server])).values()]
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

/** A number of a limit; throws a Fault for what is none or makes no sense. */
export function readLimit(name: LimitName, value: unknown, path: KeyPath): number {
  const { least, most } = RESOURCE_LIMITS[name]
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most)
    return value as number
  throw new PermissionFault(
    'CONFIG',
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
        'CONFIG',
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
  const place = readPathGrant(file, '/', path)
  if (!place || place.tree)
    throw new PermissionFault(
      'CONFIG',
      path,
      `'${shorten(file, 200)}' is no file for a secret`,
      'Write the absolute path of a file',
    )
  return place.path
}

function checkWord(key: string, word: string, words: readonly string[]): void {
  if (words.includes(word)) return
  const meant = findClosest(word, words)
  throw new PermissionFault(
    'CONFIG',
    [key],
    `'${key}' is one of ${words.join(', ')}, or an object; got '${shorten(word, 60)}'`,
    `Write ${key}: ${meant ?? 'none'}`,
  )
}

function checkCount(entries: readonly unknown[], path: KeyPath): void {
  if (entries.length > MAX_ENTRIES)
    throw new PermissionFault(
      'CONFIG',
      path,
      `'${path.join('.')}' has ${entries.length} entries`,
      `It may have ${MAX_ENTRIES}`,
    )
}

/** What a caller lets a tool do, and what its manifest asks for; `file` is where that stands. */
type NarrowingRequest = {
  readonly wanted: Permissions
  readonly own: Permissions | undefined
  readonly file?: string | undefined
  /** For messages. */ readonly tool: string
}

/**
 * The permissions of a tool that its caller allows less than it asks for: they replace its own, and
 * limits that are not named stay. Throws PERMISSION for anything beyond its own, CONFIG for what
 * cannot be understood.
 */
export async function narrowPermissions(
  { wanted, own, file, tool }: NarrowingRequest,
  surroundings: GrantContext,
): Promise<Permissions> {
  const inner = await readGrants({ permissions: wanted }, surroundings)
  if (own === undefined) return wanted
  const excess = findWidening(inner, await readGrants({ permissions: own, file }, surroundings))
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
  const read = inner.read.find((place) => !isCovered(place, [...outer.read, ...outer.write]))
  if (read) return `read ${read.path}`
  const write = inner.write.find((place) => !isCovered(place, outer.write))
  if (write) return `write ${write.path}`
  return (
    findExtraServer(inner.network, outer.network) ??
    findExtraSecret(inner, outer) ??
    findHigherLimit(inner, outer)
  )
}

function isCovered(place: PathGrant, places: readonly PathGrant[]): boolean {
  return places.some(({ path, tree }) =>
    tree ? isPathInside(path, place.path) : path === place.path && !place.tree,
  )
}

function findExtraServer(inner: Grants['network'], outer: Grants['network']): string | undefined {
  if (inner === 'none' || outer === 'open') return undefined
  if (inner === 'open') return 'talk to every server'
  const known = outer === 'none' ? [] : outer
  const server = inner.find(
    (one: EgressGrant) => !known.some(({ host, port }) => host === one.host && port === one.port),
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
  const name = (Object.keys(RESOURCE_LIMITS) as LimitName[]).find((one) => {
    const [asked, most] = [
      inner.limits[RESOURCE_LIMITS[one].limit],
      outer.limits[RESOURCE_LIMITS[one].limit],
    ]
    return asked !== undefined && most !== undefined && asked > most
  })
  return (
    name &&
    `use ${name}: ${inner.limits[RESOURCE_LIMITS[name].limit]}, more than ${outer.limits[RESOURCE_LIMITS[name].limit]}`
  )
}
