import { isObject } from '../../contract/json.ts'
import type { Permissions } from '../../contract/manifest.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { contains } from '../sandbox/paths.ts'
import type { EgressGrant, Grants, PlaceGrant } from './grants.ts'
import { readGrants } from './read-grants.ts'
import type { GrantSurroundings } from './read-grants.ts'
import { LIMITS } from './shape.ts'
import type { LimitName } from './shape.ts'

/** What a caller lets a tool do, and what its manifest asks for; `file` is where that stands. */
export type Narrowing = {
  readonly wanted: Permissions
  readonly own: Permissions | undefined
  readonly file?: string | undefined
  /** For messages. */ readonly tool: string
}

/** The permissions of a tool that its caller allows less than it asks for: they replace its own, and limits that are not named stay. Throws PERMISSION for anything beyond its own, CONFIG for what cannot be understood. */
export async function narrowPermissions(
  { wanted, own, file, tool }: Narrowing,
  surroundings: GrantSurroundings,
): Promise<Permissions> {
  const inner = await readGrants({ permissions: wanted }, surroundings)
  if (own === undefined) return wanted
  const excess = findExcess(inner, await readGrants({ permissions: own, file }, surroundings))
  if (excess !== undefined)
    throw new ToolError(
      'PERMISSION',
      `the step lets '${tool}' ${excess}, which its manifest does not ask for`,
      { suggestion: 'A step can only take away: leave it out, or add it to the manifest' },
    )
  return {
    ...wanted,
    ...(isObject(own['resources']) && {
      resources: { ...own['resources'], ...(isObject(wanted['resources']) && wanted['resources']) },
    }),
  }
}

function findExcess(inner: Grants, outer: Grants): string | undefined {
  const read = inner.read.find((place) => !isInside(place, [...outer.read, ...outer.write]))
  if (read) return `read ${read.path}`
  const write = inner.write.find((place) => !isInside(place, outer.write))
  if (write) return `write ${write.path}`
  return (
    findServer(inner.network, outer.network) ?? findSecret(inner, outer) ?? findLimit(inner, outer)
  )
}

function isInside(place: PlaceGrant, places: readonly PlaceGrant[]): boolean {
  return places.some(({ path, tree }) =>
    tree ? contains(path, place.path) : path === place.path && !place.tree,
  )
}

function findServer(inner: Grants['network'], outer: Grants['network']): string | undefined {
  if (inner === 'none' || outer === 'open') return undefined
  if (inner === 'open') return 'talk to every server'
  const known = outer === 'none' ? [] : outer
  const server = inner.find(
    (one: EgressGrant) => !known.some(({ host, port }) => host === one.host && port === one.port),
  )
  return server && `talk to ${server.host}:${server.port}`
}

function findSecret(inner: Grants, outer: Grants): string | undefined {
  const name = inner.secrets.find((one) => !outer.secrets.includes(one))
  if (name !== undefined) return `have the secret '${name}'`
  const file = Object.entries(inner.secretFiles ?? {}).find(
    ([one, path]) => outer.secretFiles?.[one] !== path,
  )
  return file && `have the secret of ${file[1]}`
}

function findLimit(inner: Grants, outer: Grants): string | undefined {
  const name = (Object.keys(LIMITS) as LimitName[]).find((one) => {
    const [asked, most] = [inner.limits[LIMITS[one].limit], outer.limits[LIMITS[one].limit]]
    return asked !== undefined && most !== undefined && asked > most
  })
  return (
    name &&
    `use ${name}: ${inner.limits[LIMITS[name].limit]}, more than ${outer.limits[LIMITS[name].limit]}`
  )
}
