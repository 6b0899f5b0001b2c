/**
 * Finds a module by path, URL or package name, and the package it belongs to.
 */

import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { ToolError } from '../protocol/tool-error.ts'
import { readTextFile } from '../util/files.ts'
import { compact, isObject, parseJsonObject } from '../util/values.ts'

const MODULE_EXTENSIONS = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs']

/** A module on this disk, and what its program is called. */
export type LocatedModule = {
  /** What is imported. */
  readonly file: string
  readonly url: string
  /** What the types of a package are asked for; absent for a file that has its own. */
  readonly specifier?: string
  readonly folder: string
  readonly name: string
  readonly version?: string
  readonly description?: string
}

/** True for a word that names a module by its place: a path, or a file of a kind that we read. */
export function looksLikeModule(word: string): boolean {
  return (
    /^(\.{1,2}[/\\]|[/\\]|[A-Za-z]:[/\\]|file:)/.test(word) ||
    (MODULE_EXTENSIONS.includes(extname(word)) && !word.startsWith('-'))
  )
}

/**
 * Finds a module by its path, its address, or the name of a package that is installed above `cwd`.
 * Throws INVALID_PATH where there is none.
 */
export function locateModule(given: string, cwd: string): LocatedModule {
  const path = given.startsWith('file:') ? fileURLToPath(given) : given
  if (looksLikeModule(path)) return locateFile(resolve(cwd, path))
  const found = findInstalledModule(path, cwd)
  if (!found)
    throw new ToolError('INVALID_PATH', `there is no package '${given}' in ${cwd} or above`, {
      suggestion: `npm install ${given}`,
    })
  return found
}

/** The installed package of a name; undefined where there is none. */
export function findInstalledModule(specifier: string, cwd: string): LocatedModule | undefined {
  const [, name, rest = ''] = /^((?:@[\w.-]+\/)?[\w][\w.-]*)(\/.+)?$/.exec(specifier) ?? []
  if (name === undefined) return undefined
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const own = readPackage(join(folder, 'node_modules', name))
    if (own) return locateInPackage(own, specifier, rest === '' ? '.' : `.${rest}`, cwd)
    if (dirname(folder) === folder) return undefined
  }
}

function locateInPackage(
  own: PackageData,
  specifier: string,
  subpath: string,
  cwd: string,
): LocatedModule {
  const target = resolveExports(own.data, subpath)
  const file = target === undefined ? undefined : findFile(join(own.folder, target))
  if (file === undefined)
    throw new ToolError('INVALID_PATH', `the package '${own.name}' has no module '${specifier}'`, {
      suggestion: `Look at "exports" and "main" in ${own.file}`,
    })
  const name = toProgramName(
    subpath === '.' ? own.name : `${own.name}-${basename(subpath, extname(subpath))}`,
  )
  return {
    ...toModuleFile(realpathSync(file)),
    specifier,
    folder: resolve(cwd),
    name,
    ...getPackageMetadata(own),
  }
}

function locateFile(path: string): LocatedModule {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats)
    throw new ToolError('INVALID_PATH', `there is no file ${path}`, {
      suggestion: 'Check the path',
    })
  if (stats.isDirectory()) return locateFolder(path)
  if (!MODULE_EXTENSIONS.includes(extname(path)))
    throw new ToolError(
      'INVALID_PATH',
      `${path} is no module: it has to end in ${MODULE_EXTENSIONS.join(', ')}`,
    )
  const stem = basename(path, extname(path))
  const own = findOwningPackage(path)
  const isMain = /^(index|main|mod|tools|src)$/.test(stem)
  return {
    ...toModuleFile(path),
    folder: dirname(path),
    name: toProgramName(isMain && own ? own.name : stem),
    ...getPackageMetadata(own),
  }
}

function locateFolder(path: string): LocatedModule {
  const own = readPackage(path)
  const target = own && resolveExports(own.data, '.')
  const candidates = MODULE_EXTENSIONS.map((extension) => join(path, `index${extension}`))
  if (target !== undefined) candidates.unshift(join(path, target))
  const file = candidates.map(findFile).find((found) => found !== undefined)
  if (file === undefined)
    throw new ToolError(
      'INVALID_PATH',
      `the folder ${path} has no module: no package.json that names one, and no index file`,
    )
  return {
    ...toModuleFile(file),
    folder: path,
    name: toProgramName(own?.name ?? basename(path)),
    ...getPackageMetadata(own),
    ...compact({ specifier: own ? path : undefined }),
  }
}

function toModuleFile(file: string): Pick<LocatedModule, 'file' | 'url'> {
  return { file, url: pathToFileURL(file).href }
}

function findFile(path: string): string | undefined {
  return [
    path,
    ...MODULE_EXTENSIONS.map((extension) => path + extension),
    ...MODULE_EXTENSIONS.map((extension) => join(path, `index${extension}`)),
  ].find((candidate) => existsSync(candidate) && statSync(candidate).isFile())
}

function getPackageMetadata(
  own: PackageData | undefined,
): Pick<LocatedModule, 'version' | 'description'> {
  const { version, description } = own?.data ?? {}
  return compact({
    version: typeof version === 'string' ? version : undefined,
    description: typeof description === 'string' && description !== '' ? description : undefined,
  })
}

function toProgramName(name: string): string {
  return (
    name
      .replace(/^@/, '')
      .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
      .toLowerCase()
      .replace(/[^a-z0-9_-]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 64) || 'tools'
  )
}

/** A package.json that says a name, and what stands in it. */
type PackageData = {
  readonly file: string
  readonly folder: string
  readonly name: string
  readonly data: { readonly [key: string]: unknown }
}

const packagesByFolder = new Map<string, PackageData | undefined>()

/** The package that a file belongs to: the nearest package.json with a name. */
export function findOwningPackage(file: string): PackageData | undefined {
  return findPackageFrom(dirname(file))
}

function findPackageFrom(folder: string): PackageData | undefined {
  if (packagesByFolder.has(folder)) return packagesByFolder.get(folder)
  const above = dirname(folder)
  const found = readPackage(folder) ?? (above === folder ? undefined : findPackageFrom(above))
  packagesByFolder.set(folder, found)
  return found
}

/**
 * What stands in the package.json of a folder; undefined where there is none, or none with a name.
 */
function readPackage(folder: string): PackageData | undefined {
  const file = join(folder, 'package.json')
  const data = parseJsonObject(readTextFile(file) ?? '')
  const name = data?.['name']
  return data && typeof name === 'string' ? { file, folder, name, data } : undefined
}

const EXPORT_CONDITIONS = ['node', 'import', 'module-sync', 'default']

/**
 * The file behind a path of a package, relative to its folder, as an `import` would find it;
 * undefined where the package does not give it.
 */
function resolveExports(
  { exports, main }: PackageData['data'],
  subpath: string,
): string | undefined {
  if (exports === undefined || exports === null) {
    if (subpath !== '.') return subpath
    return typeof main === 'string' && main !== '' ? main : './index.js'
  }
  const table =
    isObject(exports) && Object.keys(exports).some((key) => key.startsWith('.'))
      ? exports
      : { '.': exports }
  if (Object.hasOwn(table, subpath)) return chooseTarget(table[subpath])
  for (const [key, target] of Object.entries(table)) {
    const [before, behind] = key.split('*') as [string, string | undefined]
    if (
      behind === undefined ||
      !subpath.startsWith(before) ||
      !subpath.endsWith(behind) ||
      subpath.length < key.length - 1
    )
      continue
    return chooseTarget(target)?.replaceAll(
      '*',
      subpath.slice(before.length, subpath.length - behind.length),
    )
  }
  return undefined
}

function chooseTarget(target: unknown): string | undefined {
  if (typeof target === 'string') return target
  const choices = Array.isArray(target)
    ? (target as readonly unknown[])
    : Object.entries(isObject(target) ? target : {})
        .filter(([condition]) => EXPORT_CONDITIONS.includes(condition))
        .map(([, inner]) => inner)
  return choices.map(chooseTarget).find((found) => found !== undefined)
}
