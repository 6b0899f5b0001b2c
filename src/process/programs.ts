/**
 * Finds programs on a PATH, and the folders a program needs in order to run: its installation, its
 * interpreter, its code.
 */

import { accessSync, constants, lstatSync, readlinkSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { readTextFile, resolveRealPath } from '../util/files.ts'
import { containsHomeFolder } from './safe-paths.ts'

/** The folders of programs on usual systems. */
export const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin'

/** Finds a program on a PATH. A name with a slash is a path. */
export function findProgram(name: string, path: string | undefined, cwd = '/'): string | undefined {
  if (name.includes('/'))
    return isExecutableFile(resolve(cwd, name)) ? resolve(cwd, name) : undefined
  return (path ?? '')
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .find(isExecutableFile)
}

function isExecutableFile(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

const INTERPRETERS = ['python3', 'python', 'node', 'bash', 'ruby', 'perl', 'php', 'deno', 'bun']
const MAX_LINK_CHAIN = 16

/**
 * The folders that programs on that PATH need: the folders themselves, and the whole installation
 * of every interpreter.
 */
export function listInstallations(path: string | undefined): string[] {
  const folders = (path ?? '').split(delimiter).filter(isAbsolute)
  return [...new Set([...folders, ...listInterpreters(path)])]
}

const interpreterCache = new Map<
  string,
  { readonly stamp: string; readonly found: readonly string[] }
>()
/** A process meets few PATHs; this bounds those that it is given. */
const MAX_CACHED_PATHS = 16

/**
 * The whole installation of every interpreter on that PATH. Looked for again when one of its
 * folders has changed, because looking costs more than all the rest of a sandbox.
 */
export function listInterpreters(path = ''): readonly string[] {
  const stamp = path.split(delimiter).filter(isAbsolute).map(fingerprintFolder).join()
  const last = interpreterCache.get(path)
  if (last?.stamp === stamp) return last.found
  const found = [
    ...new Set(
      INTERPRETERS.flatMap((name) => findProgram(name, path) ?? []).flatMap(listProgramParts),
    ),
  ]
  if (interpreterCache.size >= MAX_CACHED_PATHS) interpreterCache.clear()
  interpreterCache.set(path, { stamp, found })
  return found
}

function fingerprintFolder(folder: string): string {
  try {
    const { dev, ino, mtimeMs } = statSync(folder)
    return `${dev}:${ino}:${mtimeMs}`
  } catch {
    return ''
  }
}

/**
 * What a tool needs of the program that it is started with: the installation of an interpreter,
 * otherwise the file itself, and where its links lead. Links may be
 * the tool's own, so that what they lead to brings no more than itself unless it is an interpreter
 * too.
 */
export function listProgramParts(program: string): string[] {
  return followLinks(program).flatMap((file) =>
    isInterpreter(file) ? listInstallationParts(file) : [file],
  )
}

/**
 * What one program needs that is only asked what it is: where it lies, where each of its links
 * leads, and where a virtual environment of Python says that it comes from.
 */
export function listProgramInstallations(program: string): string[] {
  return followLinks(program).flatMap(listInstallationParts)
}

function isInterpreter(file: string): boolean {
  const name = basename(file)
  return INTERPRETERS.includes(name) || INTERPRETERS.includes(name.replace(/[\d.]+$/, ''))
}

function listInstallationParts(file: string): string[] {
  const root = findInstallationRoot(file)
  const base = findVenvBase(root)
  return base === undefined ? [root] : [root, findInstallationRoot(base)]
}

// `X/bin/program` belongs to X, but homes and ~/.local hold more than one installation.
function findInstallationRoot(file: string): string {
  const folder = dirname(file)
  const root = dirname(folder)
  const isShared =
    root === '/' || root === homedir() || basename(root) === '.local' || dirname(root) === '/home'
  return /^(bin|sbin|shims|libexec)$/.test(basename(folder)) && !isShared ? root : folder
}

// A virtual environment may be the tool's own too: what it names counts only where a Python is.
function findVenvBase(root: string): string | undefined {
  const config = readTextFile(join(root, 'pyvenv.cfg')) ?? ''
  const home = /^home\s*=\s*(\/.*?)\s*$/m.exec(config)?.[1]
  return home && (findProgram('python3', home) ?? findProgram('python', home))
}

function followLinks(file: string): string[] {
  const chain = [file]
  for (let at = file; chain.length < MAX_LINK_CHAIN && isLink(at); chain.push(at))
    at = resolve(dirname(at), readlinkSync(at))
  return chain
}

function isLink(file: string): boolean {
  try {
    return lstatSync(file).isSymbolicLink()
  } catch {
    return false
  }
}

/** What the tools of a project share, beside the folders of the tools. */
const SHARED_FOLDERS = ['_lib', 'shared_venv']

/**
 * The folders with the code of a program, which has to be read to run: where its files lie, a
 * virtual environment around them, what the tools of its project share,
 * and `node_modules` where Node looks for them. Of a file that lies in a home itself, the file
 * alone.
 */
export function listCodeFolders(files: readonly string[]): readonly string[] {
  const own = files
    .filter((file) => file.startsWith('/'))
    .map((file) => (containsHomeFolder(dirname(file)) ? file : dirname(file)))
  return [
    ...new Set(
      own.flatMap((place) => [
        place,
        ...(files.includes(place) ? [] : listNeighbourFolders(place).filter(isSameNamedFolder)),
      ]),
    ),
  ]
}

function listNeighbourFolders(folder: string): readonly string[] {
  const parent = dirname(folder)
  const environment =
    !containsHomeFolder(parent) && resolveRealPath(join(parent, 'pyvenv.cfg')) !== undefined
      ? [parent]
      : []
  return [
    ...environment,
    ...SHARED_FOLDERS.map((name) => join(parent, name)),
    ...listParentFolders(folder).map((place) => join(place, 'node_modules')),
  ]
}

function listParentFolders(folder: string): readonly string[] {
  const parent = dirname(folder)
  return parent === folder ? [] : [folder, ...listParentFolders(parent)]
}

// A link may be the tool's own and lead anywhere; one that leads to a folder of the same name leads
// to what the name promises.
function isSameNamedFolder(path: string): boolean {
  const real = resolveRealPath(path)
  return real !== undefined && basename(real) === basename(path) && lstatSync(real).isDirectory()
}
