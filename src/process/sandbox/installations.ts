import { lstatSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { findProgram } from '../find-program.ts'

const INTERPRETERS = ['python3', 'python', 'node', 'bash', 'ruby', 'perl', 'php', 'deno', 'bun']
const LONGEST_CHAIN = 16

/** The folders that programs on that PATH need: the folders themselves, and the whole installation of every interpreter. */
export function listInstallations(path: string | undefined): string[] {
  const folders = (path ?? '').split(delimiter).filter(isAbsolute)
  return [...new Set([...folders, ...listInterpreters(path)])]
}

const known = new Map<string, { readonly stamp: string; readonly found: readonly string[] }>()
/** A process meets few PATHs; this bounds those that it is given. */
const MOST_KNOWN = 16

/** The whole installation of every interpreter on that PATH. Looked for again when one of its folders has changed, because looking costs more than all the rest of a sandbox. */
export function listInterpreters(path = ''): readonly string[] {
  const stamp = path.split(delimiter).filter(isAbsolute).map(stampOf).join()
  const last = known.get(path)
  if (last?.stamp === stamp) return last.found
  const found = [
    ...new Set(INTERPRETERS.flatMap((name) => findProgram(name, path) ?? []).flatMap(listPartsOf)),
  ]
  if (known.size >= MOST_KNOWN) known.clear()
  known.set(path, { stamp, found })
  return found
}

function stampOf(folder: string): string {
  try {
    const { dev, ino, mtimeMs } = statSync(folder)
    return `${dev}:${ino}:${mtimeMs}`
  } catch {
    return ''
  }
}

/**
 * What a tool needs of the program that it is started with: the installation of an interpreter, otherwise the file itself, and where its links lead. Links may be
 * the tool's own, so that what they lead to brings no more than itself unless it is an interpreter too.
 */
export function listPartsOf(program: string): string[] {
  return followLinks(program).flatMap((file) =>
    isInterpreter(file) ? partsOfInstallation(file) : [file],
  )
}

/** What one program needs that is only asked what it is: where it lies, where each of its links leads, and where a virtual environment of Python says that it comes from. */
export function listInstallationsOf(program: string): string[] {
  return followLinks(program).flatMap(partsOfInstallation)
}

function isInterpreter(file: string): boolean {
  const name = basename(file)
  return INTERPRETERS.includes(name) || INTERPRETERS.includes(name.replace(/[\d.]+$/, ''))
}

function partsOfInstallation(file: string): string[] {
  const root = installationOf(file)
  const base = baseOfEnvironment(root)
  return base === undefined ? [root] : [root, installationOf(base)]
}

// `X/bin/program` belongs to X, but homes and ~/.local hold more than one installation.
function installationOf(file: string): string {
  const folder = dirname(file)
  const root = dirname(folder)
  const isShared =
    root === '/' || root === homedir() || basename(root) === '.local' || dirname(root) === '/home'
  return /^(bin|sbin|shims|libexec)$/.test(basename(folder)) && !isShared ? root : folder
}

// A virtual environment may be the tool's own too: what it names counts only where a Python is.
function baseOfEnvironment(root: string): string | undefined {
  try {
    const home = /^home\s*=\s*(\/.*?)\s*$/m.exec(
      readFileSync(join(root, 'pyvenv.cfg'), 'utf8'),
    )?.[1]
    return home === undefined
      ? undefined
      : (findProgram('python3', home) ?? findProgram('python', home))
  } catch {
    return undefined
  }
}

function followLinks(file: string): string[] {
  const chain = [file]
  for (let at = file; chain.length < LONGEST_CHAIN && isLink(at); chain.push(at))
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
