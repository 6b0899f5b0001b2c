import { fileURLToPath } from 'node:url'
import { isObject } from '../../contract/json.ts'

/** A path that a tool calls an artifact, and what it says about it. */
export type Announced = { readonly path: string; readonly name?: string; readonly sha256?: string }
/** An artifact that lies elsewhere. */
export type AnnouncedElsewhere = { readonly uri: string; readonly name?: string }

const MOST = 1000
const LONGEST = 4096

/** What a tool announced, as it says it in a result: paths, or objects with `path` or `uri`. What cannot be one is refused with a reason. */
export function readAnnounced(
  announced: unknown,
  refuse: (path: string, why: string) => void,
): readonly (Announced | AnnouncedElsewhere)[] {
  if (announced === undefined || announced === null) return []
  if (!Array.isArray(announced)) {
    refuse('list', 'is not a list')
    return []
  }
  if (announced.length > MOST)
    refuse(`${MOST + 1}`, `is one too many: the tool announced ${announced.length}`)
  return announced
    .slice(0, MOST)
    .flatMap((one: unknown, index): readonly (Announced | AnnouncedElsewhere)[] => {
      const { path, uri, name, sha256 } = isObject(one)
        ? one
        : { path: one, uri: undefined, name: undefined, sha256: undefined }
      const address = typeof path === 'string' ? path : uri
      const facts = {
        ...(typeof name === 'string' && { name }),
        ...(typeof sha256 === 'string' && { sha256 }),
      }
      if (typeof address !== 'string' || address === '') refuse(String(index + 1), 'has no path')
      else if (address.includes('\0') || address.length > LONGEST)
        refuse(JSON.stringify(address.slice(0, 100)), 'is not a path')
      else if (/^file:/i.test(address)) return toPath(address, facts, refuse)
      else if (/^[a-z][a-z0-9+.-]+:\/\//i.test(address))
        return [{ uri: address, ...(facts.name !== undefined && { name: facts.name }) }]
      else return [{ path: address, ...facts }]
      return []
    })
}

function toPath(
  uri: string,
  facts: Omit<Announced, 'path'>,
  refuse: (path: string, why: string) => void,
): readonly Announced[] {
  try {
    return [{ path: fileURLToPath(uri), ...facts }]
  } catch {
    refuse(JSON.stringify(uri.slice(0, 100)), 'is not a path')
    return []
  }
}
