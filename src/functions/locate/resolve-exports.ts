import { isObject } from '../../contract/json.ts'

const CONDITIONS = ['node', 'import', 'module-sync', 'default']

/** The file behind a path of a package, relative to its folder, as an `import` would find it; undefined where the package does not give it. */
export function resolveExports(
  { exports, module: _module, main }: { readonly [key: string]: unknown },
  subpath: string,
  conditions: readonly string[] = CONDITIONS,
): string | undefined {
  if (exports === undefined || exports === null)
    return subpath === '.'
      ? typeof main === 'string' && main !== ''
        ? main
        : './index.js'
      : subpath
  const table =
    isObject(exports) && Object.keys(exports).some((key) => key.startsWith('.'))
      ? exports
      : { '.': exports }
  if (Object.hasOwn(table, subpath)) return choose(table[subpath], conditions)
  for (const [key, target] of Object.entries(table)) {
    const [before, behind] = key.split('*') as [string, string | undefined]
    if (
      behind === undefined ||
      !subpath.startsWith(before) ||
      !subpath.endsWith(behind) ||
      subpath.length < key.length - 1
    )
      continue
    return choose(target, conditions)?.replaceAll(
      '*',
      subpath.slice(before.length, subpath.length - behind.length),
    )
  }
  return undefined
}

function choose(target: unknown, conditions: readonly string[]): string | undefined {
  if (typeof target === 'string') return target
  if (Array.isArray(target))
    return target.map((each) => choose(each, conditions)).find((each) => each !== undefined)
  if (!isObject(target)) return undefined
  for (const [condition, inner] of Object.entries(target)) {
    const found = conditions.includes(condition) ? choose(inner, conditions) : undefined
    if (found !== undefined) return found
  }
  return undefined
}
