import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isObject } from '../../contract/json.ts'
import { parse } from 'jsonc-parser'

const MISSING = new Set(['ERR_MODULE_NOT_FOUND', 'ERR_UNSUPPORTED_DIR_IMPORT', 'ERR_UNSUPPORTED_RESOLVE_REQUEST', 'ERR_PACKAGE_IMPORT_NOT_DEFINED', 'MODULE_NOT_FOUND'])

/** True for the address of a TypeScript file. */
export function isTypeScript(url: string): boolean {
  return url.startsWith('file:') && /\.[cm]?ts$/.test(new URL(url).pathname)
}

/** The TypeScript file that an import means which node itself did not find: `./x.js` or `./x` for x.ts, and simple `paths` of a tsconfig.json. */
export function findSource(specifier: string, parent: string | undefined, code: unknown): string | undefined {
  if (parent === undefined || !parent.startsWith('file:') || !MISSING.has(String(code))) return undefined
  const from = fileURLToPath(parent)
  const candidates = /^(\.{1,2}(\/|$)|\/)/.test(specifier) ? [resolve(dirname(from), specifier)] : specifier.startsWith('file:') ? [fileURLToPath(specifier)] : pathsOf(specifier, dirname(from))
  const found = candidates.flatMap(sourcesOf).find((file) => existsSync(file) && statSync(file).isFile())
  return found === undefined ? undefined : pathToFileURL(found).href
}

function sourcesOf(path: string): string[] {
  const written = /^(.*)\.([cm]?)js$/.exec(path)
  return [...(written ? [`${written[1]}.${written[2]}ts`] : []), path, ...['.ts', '.mts', '.cts', '.js'].map((extension) => path + extension), ...['index.ts', 'index.mts', 'index.js'].map((name) => join(path, name))]
}

function pathsOf(specifier: string, folder: string): string[] {
  const config = findConfig(folder)
  if (!config) return []
  const { paths, baseUrl } = config.options
  const base = resolve(config.folder, typeof baseUrl === 'string' ? baseUrl : '.')
  const mapped = Object.entries(isObject(paths) ? paths : {}).flatMap(([pattern, targets]) => {
    const [before, behind] = pattern.split('*') as [string, string | undefined]
    const fits = behind === undefined ? specifier === pattern : specifier.startsWith(before) && specifier.endsWith(behind)
    const middle = behind === undefined ? '' : specifier.slice(before.length, specifier.length - behind.length)
    return fits && Array.isArray(targets) ? targets.map((target) => resolve(base, String(target).replace('*', middle))) : []
  })
  return [...mapped, ...(typeof baseUrl === 'string' ? [resolve(base, specifier)] : [])]
}

function findConfig(folder: string): { readonly folder: string; readonly options: { readonly [key: string]: unknown } } | undefined {
  const file = join(folder, 'tsconfig.json')
  if (!existsSync(file)) return dirname(folder) === folder ? undefined : findConfig(dirname(folder))
  const data: unknown = parse(readFileSync(file, 'utf8'), [], { allowTrailingComma: true })
  const options = isObject(data) ? data['compilerOptions'] : undefined
  return { folder, options: isObject(options) ? options : {} }
}
