/** The path part and the query of a request target, and its host where it is a whole address. */
export function splitTarget(target: string): {
  readonly path: string
  readonly search: string
  readonly authority?: string
} {
  const mark = target.indexOf('?')
  const address = mark < 0 ? target : target.slice(0, mark)
  const search = mark < 0 ? '' : target.slice(mark + 1)
  return address.startsWith('/') ? { path: address, search } : { ...partsOf(address), search }
}

/** What is left of a path below a base path; undefined where the path is not below it. */
export function cutBasePath(path: string, base: string): string | undefined {
  if (base === '') return path
  if (!path.startsWith(base)) return undefined
  const rest = path.slice(base.length)
  if (rest === '') return '/'
  return rest.startsWith('/') ? rest : undefined
}

// A proxy may send `http://host/path`, and OPTIONS may ask about `*`.
function partsOf(address: string): { readonly path: string; readonly authority?: string } {
  const [, authority, path] = /^[a-z][a-z\d+.-]*:\/\/([^/]*)(\/.*)?$/i.exec(address) ?? []
  return { path: path ?? '/', ...(authority !== undefined && { authority }) }
}
