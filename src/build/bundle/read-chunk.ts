// As esbuild writes a chunk: its imports of other chunks first, its exports last.
const IMPORTS = /^(?:import(?:\{[^}]*\}from)?"\.\/[^"]+";\s*)*/
const IMPORT = /import(?:\{([^}]*)\}from)?"(\.\/[^"]+)";/g
const EXPORTS = /export\{([^}]*)\};?\s*$/

/** The chunks that a chunk imports. */
export function chunksImported(code: string): string[] {
  const [head] = IMPORTS.exec(code) as [string]
  return [...head.matchAll(IMPORT)].map(([, , name]) => name!)
}

/** The names that a chunk imports from another, as the other calls them. */
export function namesImported(code: string, from: string): string[] {
  const [head] = IMPORTS.exec(code) as [string]
  return [...head.matchAll(IMPORT)].filter(([, , name]) => name === from).flatMap(([, names]) => split(names).map(([outer]) => outer))
}

/** True for a chunk that is a package of CommonJS. */
export function isCommonJs(code: string): boolean {
  return /export default require_[\w$]+\(\);?\s*$/.test(code)
}

/** The names that a chunk exports. */
export function namesExported(code: string): string[] {
  return isCommonJs(code) ? ['default'] : split(EXPORTS.exec(code)?.[1]).map(([local, outer]) => outer ?? local)
}

function split(names: string | undefined): [string, string?][] {
  return (names ?? '').split(',').filter((name) => name.trim() !== '').map((name) => name.trim().split(/\s+as\s+/) as [string, string?])
}
