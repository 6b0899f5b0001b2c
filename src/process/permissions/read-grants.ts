import type { KeyPath } from '../../contract/documents/document.ts'
import { findMisfit } from '../../contract/documents/shape.ts'
import { closest } from '../../contract/did-you-mean.ts'
import { isObject } from '../../contract/json.ts'
import { shorten } from '../../contract/shorten.ts'
import { explainFault, Fault } from './fault.ts'
import type { EgressGrant, Grants, Limits, PlaceGrant } from './grants.ts'
import { placeOfCaller, readPlace } from './places.ts'
import { readServer } from './servers.ts'
import { LIMITS, PERMISSIONS_SHAPE, RESOURCES_SHAPE } from './shape.ts'
import type { LimitName } from './shape.ts'

/** What a manifest says about what its tool may do. `file` is where it stands. */
export type AskedPermissions = {
  readonly permissions: unknown
  /** Where they do not stand in the permissions already. */ readonly resources?: unknown
  readonly file?: string | undefined
}

/** What the words of a manifest mean for this run: its workspace, and the directory of the caller. */
export type GrantSurroundings = { readonly workspace: string; readonly cwd: string }

const FILESYSTEM = ['none', 'read', 'read-only', 'read-write']
const NETWORK = ['none', 'full']
const WHO = ['user', 'uid', 'group', 'gid', 'run_as', 'root', 'privileged', 'sudo']
const MOST_ENTRIES = 256
const SECRET = /^[A-Za-z_][\w.-]{0,63}$/

/** The grants that a manifest asks for, expanded and checked; what it does not ask for is not given. Throws CONFIG or PERMISSION with file and line for what is not exact, or more than any tool gets. */
export async function readGrants(
  { permissions, resources, file }: AskedPermissions,
  surroundings: GrantSurroundings,
): Promise<Grants> {
  try {
    return expand(permissions ?? {}, resources, surroundings)
  } catch (error) {
    throw error instanceof Fault ? await explainFault(error, file) : error
  }
}

function expand(
  permissions: unknown,
  resources: unknown,
  { workspace, cwd }: GrantSurroundings,
): Grants {
  refuseUser(permissions)
  refuseMisfit(findMisfit(PERMISSIONS_SHAPE, permissions), [])
  if (resources !== undefined) refuseMisfit(findMisfit(RESOURCES_SHAPE, resources), ['resources'])
  const { filesystem, network, secrets = [], resources: inside } = permissions as Asked
  const read = readPlaces(filesystem, 'read', workspace, cwd)
  const write = readPlaces(filesystem, 'write', workspace, cwd)
  return {
    read,
    write,
    network: readNetwork(network),
    limits: { ...readLimits(inside), ...readLimits(resources) },
    ...readSecrets(secrets),
  }
}

type Asked = {
  readonly filesystem?:
    string | { readonly read?: readonly string[]; readonly write?: readonly string[] }
  readonly network?: string | { readonly egress_allow?: readonly string[] }
  readonly secrets?: readonly (string | { readonly name: string; readonly file?: string })[]
  readonly resources?: unknown
}

// A manifest that wants another user, and most of all root, deserves more than to be told of an unknown key.
function refuseUser(permissions: unknown): void {
  const key = isObject(permissions)
    ? WHO.find((name) => Object.hasOwn(permissions, name))
    : undefined
  if (key !== undefined)
    throw new Fault(
      'PERMISSION',
      [key],
      `'${key}': a tool cannot choose the user that it runs as, and it never runs as root`,
      `Take '${key}' out`,
    )
}

function refuseMisfit(misfit: ReturnType<typeof findMisfit>, before: KeyPath): void {
  if (misfit)
    throw new Fault(
      'CONFIG',
      [...before, ...misfit.path],
      `permissions: ${misfit.message}`,
      misfit.fix ?? 'See docs/permissions.md',
    )
}

function readPlaces(
  filesystem: Asked['filesystem'],
  wanted: 'read' | 'write',
  workspace: string,
  cwd: string,
): readonly PlaceGrant[] {
  if (filesystem === undefined || filesystem === 'none') return []
  if (typeof filesystem === 'string') {
    checkWord('filesystem', filesystem, FILESYSTEM)
    return wanted === 'read' || filesystem === 'read-write'
      ? [placeOfCaller(cwd, filesystem, ['filesystem'])]
      : []
  }
  const places = filesystem[wanted] ?? []
  checkCount(places, ['filesystem', wanted])
  return places.flatMap(
    (text, index) => readPlace(text, workspace, ['filesystem', wanted, index]) ?? [],
  )
}

function readNetwork(network: Asked['network']): Grants['network'] {
  if (network === undefined || network === 'none') return 'none'
  if (typeof network === 'string') {
    checkWord('network', network, NETWORK)
    return 'open'
  }
  const servers = network.egress_allow ?? []
  checkCount(servers, ['network', 'egress_allow'])
  const read = servers.map((text, index): EgressGrant =>
    readServer(text, ['network', 'egress_allow', index]),
  )
  return read.length === 0
    ? 'none'
    : [...new Map(read.map((server) => [`${server.host}:${server.port}`, server])).values()]
}

function readLimits(resources: unknown): Limits {
  if (!isObject(resources)) return {}
  return Object.fromEntries(
    Object.entries(resources).map(([name, value]) => [
      LIMITS[name as LimitName].limit,
      readLimit(name as LimitName, value, ['resources', name]),
    ]),
  )
}

/** A number of a limit; throws a Fault for what is none or makes no sense. */
export function readLimit(name: LimitName, value: unknown, path: KeyPath): number {
  const { least, most } = LIMITS[name]
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most)
    return value as number
  throw new Fault(
    'CONFIG',
    path,
    `'${name}' must be a whole number from ${least} to ${most}; got ${shorten(JSON.stringify(value) ?? 'nothing', 60)}`,
    `Write ${name}: ${typeof value === 'number' && value > most ? most : Math.max(least, 64)}`,
  )
}

function readSecrets(
  secrets: NonNullable<Asked['secrets']>,
): Pick<Grants, 'secrets' | 'secretFiles'> {
  checkCount(secrets, ['secrets'])
  const files = Object.create(null) as { [name: string]: string }
  const names = secrets.map((secret, index) => {
    const { name, file } = typeof secret === 'string' ? { name: secret, file: undefined } : secret
    if (!SECRET.test(name))
      throw new Fault(
        'CONFIG',
        ['secrets', index],
        `'${shorten(name, 60)}' is no name for a secret`,
        'Write letters, digits, _ . and -, beginning with a letter',
      )
    if (file !== undefined) files[name] = readSecretFile(file, ['secrets', index])
    return name
  })
  return {
    secrets: [...new Set(names)],
    ...(Object.keys(files).length > 0 && { secretFiles: files }),
  }
}

function readSecretFile(file: string, path: KeyPath): string {
  const place = readPlace(file, '/', path)
  if (!place || place.tree)
    throw new Fault(
      'CONFIG',
      path,
      `'${shorten(file, 200)}' is no file for a secret`,
      'Write the absolute path of a file',
    )
  return place.path
}

function checkWord(key: string, word: string, words: readonly string[]): void {
  if (words.includes(word)) return
  const meant = closest(word, words)
  throw new Fault(
    'CONFIG',
    [key],
    `'${key}' is one of ${words.join(', ')}, or an object; got '${shorten(word, 60)}'`,
    `Write ${key}: ${meant ?? 'none'}`,
  )
}

function checkCount(entries: readonly unknown[], path: KeyPath): void {
  if (entries.length > MOST_ENTRIES)
    throw new Fault(
      'CONFIG',
      path,
      `'${path.join('.')}' has ${entries.length} entries`,
      `It may have ${MOST_ENTRIES}`,
    )
}
