// As esbuild writes a chunk: its imports of other chunks first, its exports last.
const IMPORTS = /^(?:import(?:\{[^}]*\}from)?"\.\/[^"]+";\s*)*/
const IMPORT = /import(?:\{([^}]*)\}from)?"(\.\/[^"]+)";/g
const LATE_IMPORT = /\bimport\("(\.\/[^"]+)"\)/g
const EXPORTS = /export\{([^}]*)\};?\s*$/

/** The chunks that a chunk imports. */
export function chunksImported(code: string): string[] {
  return [...importsOf(code)].map(([, , name]) => name!)
}

/** The chunks that a chunk imports when it needs them. */
export function chunksImportedLate(code: string): string[] {
  return [...code.matchAll(LATE_IMPORT)].map(([, name]) => name!)
}

/** The code with every `import()` of a chunk replaced. */
export function replaceLateImports(
  code: string,
  replace: (name: string) => string | undefined,
): string {
  return code.replace(LATE_IMPORT, (written, name: string) => replace(name) ?? written)
}

/** The names that a chunk imports from others, as these call them. */
export function namesImported(
  code: string,
): readonly { readonly from: string; readonly names: readonly string[] }[] {
  return [...importsOf(code)].map(([, names, from]) => ({
    from: from!,
    names: split(names).map(([outer]) => outer),
  }))
}

/** True for a chunk that is a package of CommonJS. */
export function isCommonJs(code: string): boolean {
  return /export default require_[\w$]+\(\);?\s*$/.test(code)
}

/** The names that a chunk exports. */
export function namesExported(code: string): string[] {
  return isCommonJs(code)
    ? ['default']
    : split(EXPORTS.exec(code)?.[1]).map(([local, outer]) => outer ?? local)
}

function importsOf(code: string): Iterable<RegExpMatchArray> {
  const [head] = IMPORTS.exec(code) as [string]
  return head.matchAll(IMPORT)
}

function split(names: string | undefined): [string, string?][] {
  return (names ?? '')
    .split(',')
    .filter((name) => name.trim() !== '')
    .map((name) => name.trim().split(/\s+as\s+/) as [string, string?])
}
