import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { ToolError } from '../../contract/tool-error.ts'
import { findPackageOf, readPackage } from './package-of.ts'
import type { PackageData } from './package-of.ts'
import { resolveExports } from './resolve-exports.ts'

const EXTENSIONS = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs']

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
    (EXTENSIONS.includes(extname(word)) && !word.startsWith('-'))
  )
}

/** Finds a module by its path, its address, or the name of a package that is installed above `cwd`. Throws INVALID_PATH where there is none. */
export function locateModule(given: string, cwd: string): LocatedModule {
  const path = given.startsWith('file:') ? fileURLToPath(given) : given
  if (looksLikeModule(path)) return locateFile(resolve(cwd, path))
  const found = findInstalled(path, cwd)
  if (!found)
    throw new ToolError('INVALID_PATH', `there is no package '${given}' in ${cwd} or above`, {
      suggestion: `npm install ${given}`,
    })
  return found
}

/** The installed package of a name; undefined where there is none. */
export function findInstalled(specifier: string, cwd: string): LocatedModule | undefined {
  const [, name, rest = ''] = /^((?:@[\w.-]+\/)?[\w][\w.-]*)(\/.+)?$/.exec(specifier) ?? []
  if (name === undefined) return undefined
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const own = readPackage(join(folder, 'node_modules', name))
    if (own) return fromPackage(own, specifier, rest === '' ? '.' : `.${rest}`, cwd)
    if (dirname(folder) === folder) return undefined
  }
}

function fromPackage(
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
  const name = programName(
    subpath === '.' ? own.name : `${own.name}-${basename(subpath, extname(subpath))}`,
  )
  return {
    file: realpathSync(file),
    url: pathToFileURL(realpathSync(file)).href,
    specifier,
    folder: resolve(cwd),
    name,
    ...factsOf(own),
  }
}

function locateFile(path: string): LocatedModule {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats)
    throw new ToolError('INVALID_PATH', `there is no file ${path}`, {
      suggestion: 'Check the path',
    })
  if (stats.isDirectory()) return locateFolder(path)
  if (!EXTENSIONS.includes(extname(path)))
    throw new ToolError(
      'INVALID_PATH',
      `${path} is no module: it has to end in ${EXTENSIONS.join(', ')}`,
    )
  const stem = basename(path, extname(path))
  const own = findPackageOf(path)
  const isMain = /^(index|main|mod|tools|src)$/.test(stem)
  return {
    file: path,
    url: pathToFileURL(path).href,
    folder: dirname(path),
    name: programName(isMain && own ? own.name : stem),
    ...factsOf(own),
  }
}

function locateFolder(path: string): LocatedModule {
  const own = readPackage(path)
  const target = own && resolveExports(own.data, '.')
  const file = [
    ...(target === undefined ? [] : [join(path, target)]),
    ...EXTENSIONS.map((extension) => join(path, `index${extension}`)),
  ].find((candidate) => findFile(candidate) !== undefined)
  if (file === undefined)
    throw new ToolError(
      'INVALID_PATH',
      `the folder ${path} has no module: no package.json that names one, and no index file`,
    )
  const found = findFile(file)!
  return {
    file: found,
    url: pathToFileURL(found).href,
    folder: path,
    name: programName(own?.name ?? basename(path)),
    ...factsOf(own),
    ...(own && { specifier: path }),
  }
}

function findFile(path: string): string | undefined {
  return [
    path,
    ...EXTENSIONS.map((extension) => path + extension),
    ...EXTENSIONS.map((extension) => join(path, `index${extension}`)),
  ].find((candidate) => existsSync(candidate) && statSync(candidate).isFile())
}

function factsOf(own: PackageData | undefined): Pick<LocatedModule, 'version' | 'description'> {
  const { version, description } = own?.data ?? {}
  return {
    ...(typeof version === 'string' && { version }),
    ...(typeof description === 'string' && description !== '' && { description }),
  }
}

function programName(name: string): string {
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
