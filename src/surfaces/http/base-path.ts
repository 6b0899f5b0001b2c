/** The path part and the query of a request target, which may be a whole address. */
export function splitTarget(target: string): { readonly path: string; readonly search: string } {
  const mark = target.indexOf('?')
  const address = mark < 0 ? target : target.slice(0, mark)
  return { path: address.startsWith('/') ? address : pathOf(address), search: mark < 0 ? '' : target.slice(mark + 1) }
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
function pathOf(address: string): string {
  const path = /^[a-z][a-z\d+.-]*:\/\/[^/]*(\/.*)?$/i.exec(address)?.[1]
  return path ?? '/'
}
