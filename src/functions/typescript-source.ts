/**
 * Which TypeScript file an import means: `./x.js` for x.ts, and what tsconfig.json maps.
 */

import { parse } from 'jsonc-parser'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { compact, isObject } from '../util/values.ts'

const NOT_FOUND_CODES = new Set([
  'ERR_MODULE_NOT_FOUND',
  'ERR_UNSUPPORTED_DIR_IMPORT',
  'ERR_UNSUPPORTED_RESOLVE_REQUEST',
  'ERR_PACKAGE_IMPORT_NOT_DEFINED',
  'MODULE_NOT_FOUND',
])

/** True for the address of a TypeScript file. */
export function isTypeScriptUrl(url: string): boolean {
  return url.startsWith('file:') && /\.[cm]?ts$/.test(new URL(url).pathname)
}

/**
 * The TypeScript file that an import means which node itself did not find: `./x.js` or `./x` for
 * x.ts, and what a tsconfig.json says.
 */
export function findTypeScriptSource(
  specifier: string,
  parent: string | undefined,
  code: unknown,
): string | undefined {
  if (parent === undefined || !parent.startsWith('file:') || !NOT_FOUND_CODES.has(String(code)))
    return undefined
  const from = fileURLToPath(parent)
  const found = listMeantPaths(specifier, dirname(from))
    .flatMap(listSourceCandidates)
    .find((file) => existsSync(file) && statSync(file).isFile())
  return found === undefined ? undefined : pathToFileURL(found).href
}

/** The same for an import that failed with `error`, which it throws where there is no such file. */
export function requireTypeScriptSource(
  specifier: string,
  parent: string | undefined,
  error: unknown,
): string {
  const url = findTypeScriptSource(specifier, parent, (error as NodeJS.ErrnoException).code)
  if (url === undefined) throw error
  return url
}

function listSourceCandidates(path: string): string[] {
  const written = /^(.*)\.([cm]?)js$/.exec(path)
  return [
    ...(written ? [`${written[1]}.${written[2]}ts`] : []),
    path,
    ...['.ts', '.mts', '.cts', '.js'].map((extension) => path + extension),
    ...['index.ts', 'index.mts', 'index.cts', 'index.js'].map((name) => join(path, name)),
  ]
}

function listMeantPaths(specifier: string, folder: string): readonly string[] {
  if (/^(\.{1,2}(\/|$)|\/)/.test(specifier)) return [resolve(folder, specifier)]
  if (specifier.startsWith('file:')) return [fileURLToPath(specifier)]
  const config = findTsconfig(folder)
  return config ? mapTsconfigImport(config, specifier) : []
}

/**
 * What a tsconfig.json and all that it extends say about running a module. Nothing is refused here:
 * what is wrong with it is told when types are read.
 */
type RunTsconfig = {
  /** As one file would say it. */
  readonly options: { readonly [option: string]: unknown }
  /**
   * Patterns of imports and the places that they stand for, absolute; those of referenced projects
   * follow.
   */
  readonly paths: readonly { readonly pattern: string; readonly targets: readonly string[] }[]
  /** Where an import is looked for that begins with no dot. */
  readonly baseUrl?: string
}

const MAX_EXTENDS_DEPTH = 16

/** The nearest tsconfig.json above a folder, as it is meant; undefined where there is none. */
export function findTsconfig(folder: string): RunTsconfig | undefined {
  const file = join(folder, 'tsconfig.json')
  if (existsSync(file)) return readTsconfigWithReferences(file)
  return dirname(folder) === folder ? undefined : findTsconfig(dirname(folder))
}

/**
 * The places that an import stands for: by the pattern that says most about it, else below
 * `baseUrl`.
 */
function mapTsconfigImport({ paths, baseUrl }: RunTsconfig, specifier: string): readonly string[] {
  const fitting = paths.flatMap(({ pattern, targets }) => {
    const [before, behind] = pattern.split('*') as [string, string | undefined]
    if (behind === undefined)
      return specifier === pattern ? [{ weight: Infinity, places: targets }] : []
    if (
      specifier.length < before.length + behind.length ||
      !specifier.startsWith(before) ||
      !specifier.endsWith(behind)
    )
      return []
    const middle = specifier.slice(before.length, specifier.length - behind.length)
    return [
      { weight: before.length, places: targets.map((target) => target.replace('*', () => middle)) },
    ]
  })
  const mapped = fitting
    .sort((left, right) => (left.weight === right.weight ? 0 : right.weight - left.weight))
    .flatMap(({ places }) => places)
  return [...mapped, ...(baseUrl === undefined ? [] : [resolve(baseUrl, specifier)])]
}

// A file that only names projects leaves it to them.
function readTsconfigWithReferences(file: string): RunTsconfig {
  const own = readTsconfig(file, dirname(file), 0)
  const { references } = readJsoncFile(file)
  const others = (Array.isArray(references) ? references : []).flatMap((reference: unknown) => {
    const path =
      isObject(reference) && typeof reference['path'] === 'string'
        ? resolve(dirname(file), reference['path'])
        : undefined
    const target =
      path === undefined
        ? undefined
        : [path, join(path, 'tsconfig.json')].find(
            (candidate) => candidate.endsWith('.json') && existsSync(candidate),
          )
    return target === undefined || target === file ? [] : [readTsconfig(target, dirname(target), 0)]
  })
  return {
    ...own,
    options:
      own.paths.length > 0 || !others[0] ? own.options : { ...others[0].options, ...own.options },
    paths: [...own.paths, ...others.flatMap(({ paths }) => paths)],
  }
}

function readTsconfig(file: string, root: string, level: number): RunTsconfig {
  const data = readJsoncFile(file)
  const bases =
    level > MAX_EXTENDS_DEPTH
      ? []
      : [data['extends']]
          .flat()
          .flatMap((name) => (typeof name === 'string' ? findExtendedConfig(name, file) : []))
          .map((base) => readTsconfig(base, root, level + 1))
  const own = isObject(data['compilerOptions']) ? data['compilerOptions'] : {}
  const place = (path: string): string =>
    resolve(
      dirname(file),
      path.replace('${configDir}', () => root),
    )
  const baseUrl =
    typeof own['baseUrl'] === 'string'
      ? place(own['baseUrl'])
      : bases.findLast((base) => base.baseUrl !== undefined)?.baseUrl
  const targetsOf = (targets: unknown): string[] =>
    Array.isArray(targets)
      ? targets.map((target) =>
          baseUrl === undefined || String(target).startsWith('${configDir}')
            ? place(String(target))
            : resolve(baseUrl, String(target)),
        )
      : []
  return compact({
    options: Object.assign(
      {},
      ...bases.map(({ options }) => options),
      own,
    ) as RunTsconfig['options'],
    // Those of the nearest file that has any, as the compiler does it.
    paths: isObject(own['paths'])
      ? Object.entries(own['paths']).map(([pattern, targets]) => ({
          pattern,
          targets: targetsOf(targets),
        }))
      : (bases.findLast(({ paths }) => paths.length > 0)?.paths ?? []),
    baseUrl,
  })
}

// A path, or a file of a package; the name of a package alone means its tsconfig.json.
function findExtendedConfig(name: string, from: string): string[] {
  if (/^\.{1,2}([/\\]|$)/.test(name) || isAbsolute(name))
    return [name, `${name}.json`]
      .map((path) => resolve(dirname(from), path))
      .filter((path) => path.endsWith('.json') && existsSync(path))
      .slice(0, 1)
  const require = createRequire(from)
  for (const candidate of [`${name}/tsconfig.json`, name, `${name}.json`]) {
    try {
      const found = require.resolve(candidate)
      if (found.endsWith('.json')) return [found]
    } catch {
      // Another spelling may be there.
    }
  }
  return []
}

function readJsoncFile(file: string): { readonly [key: string]: unknown } {
  try {
    const data: unknown = parse(readFileSync(file, 'utf8'), [], { allowTrailingComma: true })
    return isObject(data) ? data : {}
  } catch {
    return {}
  }
}
