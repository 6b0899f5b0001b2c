import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { findRunConfig, mapImport } from './tsconfig.ts'

const MISSING = new Set([
  'ERR_MODULE_NOT_FOUND',
  'ERR_UNSUPPORTED_DIR_IMPORT',
  'ERR_UNSUPPORTED_RESOLVE_REQUEST',
  'ERR_PACKAGE_IMPORT_NOT_DEFINED',
  'MODULE_NOT_FOUND',
])

/** True for the address of a TypeScript file. */
export function isTypeScript(url: string): boolean {
  return url.startsWith('file:') && /\.[cm]?ts$/.test(new URL(url).pathname)
}

/** The TypeScript file that an import means which node itself did not find: `./x.js` or `./x` for x.ts, and what a tsconfig.json says. */
export function findSource(
  specifier: string,
  parent: string | undefined,
  code: unknown,
): string | undefined {
  if (parent === undefined || !parent.startsWith('file:') || !MISSING.has(String(code)))
    return undefined
  const from = fileURLToPath(parent)
  const candidates = /^(\.{1,2}(\/|$)|\/)/.test(specifier)
    ? [resolve(dirname(from), specifier)]
    : specifier.startsWith('file:')
      ? [fileURLToPath(specifier)]
      : mapped(specifier, dirname(from))
  const found = candidates
    .flatMap(sourcesOf)
    .find((file) => existsSync(file) && statSync(file).isFile())
  return found === undefined ? undefined : pathToFileURL(found).href
}

function sourcesOf(path: string): string[] {
  const written = /^(.*)\.([cm]?)js$/.exec(path)
  return [
    ...(written ? [`${written[1]}.${written[2]}ts`] : []),
    path,
    ...['.ts', '.mts', '.cts', '.js'].map((extension) => path + extension),
    ...['index.ts', 'index.mts', 'index.cts', 'index.js'].map((name) => join(path, name)),
  ]
}

function mapped(specifier: string, folder: string): readonly string[] {
  const config = findRunConfig(folder)
  return config ? mapImport(config, specifier) : []
}
