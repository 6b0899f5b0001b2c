/**
 * Lists the files of a folder that may bring tools, and decides how each is started. Nothing is
 * run.
 */

import { closeSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs'
import { extname, isAbsolute, join, parse, resolve } from 'node:path'
import { host } from '../../core/host.ts'
import { isPathInside, listNames, resolveRealPath } from '../../util/files.ts'
import { KIBIBYTE, MEBIBYTE } from '../../util/units.ts'
import type { FileInfo } from '../cache.ts'
import { statFile, toFileInfo } from '../cache.ts'
import type { ChildCall } from '../child/child-call.ts'
import type { ScriptRunner } from '../manifests/metadata.ts'
import type { CandidateProblem } from './outline.ts'

/** A file of a folder that may bring tools. */
export type FolderCandidate = {
  /** Relative to the folder, with slashes: `weather.py`, `registry/mover/tool.yaml`. */
  readonly key: string
  readonly path: string
  /** `manifest` may be any YAML; `registered` is in a place for manifests only. */
  readonly what: 'program' | 'manifest' | 'registered' | 'error-codes'
  /** The default name of its tool, also by which companions find each other: stem or folder. */
  readonly name: string
  /** The folder of the tool, where it has one. */
  readonly toolFolder?: string
  readonly seen: FileInfo
}

/** Every file in a folder that may bring tools, by path, and what is refused at sight. */
type FolderListing = {
  readonly candidates: FolderCandidate[]
  readonly refusals: (CandidateProblem & { readonly path: string })[]
}

const RESERVED_NAMES = new Set([
  '_lib',
  'venv',
  'shared_venv',
  'node_modules',
  '__pycache__',
  'run.py',
  'error_codes.yaml',
  'error_codes.yml',
  '__init__.py',
])

/**
 * Lists a real folder: files at its top, the entries of tool folders, the manifests of its
 * registry. Nothing is opened. Throws what reading the folder throws.
 */
export function listCandidates(folder: string): FolderListing {
  const listing: FolderListing = { candidates: [], refusals: [] }
  for (const name of readdirSync(folder).sort()) {
    if (name === 'registry') addRegistryManifests(listing, folder)
    else if (!name.startsWith('.') && !RESERVED_NAMES.has(name)) addItem(listing, folder, name)
  }
  return listing
}

const YAML_EXTENSIONS = new Set(['.yaml', '.yml', '.YAML', '.YML'])

function addItem(listing: FolderListing, folder: string, name: string): void {
  const path = `${folder}/${name}`
  const own = lstatSync(path, { throwIfNoEntry: false })
  const isLink = own?.isSymbolicLink() ?? false
  if (isLink && resolveBelow(folder, path) === undefined) return refuseOutside(listing, name, path)
  const seen = isLink ? statFile(path) : own && toFileInfo(own)
  if (seen?.isFolder) return addToolFolder(listing, folder, name)
  if (!seen?.isFile) return
  const candidate = { key: name, path, name: parse(name).name, seen }
  if (YAML_EXTENSIONS.has(extname(name)))
    listing.candidates.push({ ...candidate, what: 'manifest' })
  else if (isTypeScriptFile(name)) refuseTypeScript(listing, name, path)
  else if (isProgram(name, seen.mode)) listing.candidates.push({ ...candidate, what: 'program' })
}

function addRegistryManifests({ candidates }: FolderListing, folder: string): void {
  const codes = findYamlFile(folder, 'registry/error_codes')
  if (codes) candidates.push({ ...codes, what: 'error-codes', name: 'error_codes' })
  for (const name of listNames(`${folder}/registry`).toSorted()) {
    const manifest = name.startsWith('.')
      ? undefined
      : findYamlFile(folder, `registry/${name}/tool`)
    if (manifest)
      candidates.push({ ...manifest, what: 'registered', name, toolFolder: `${folder}/${name}` })
  }
}

function findYamlFile(
  folder: string,
  stem: string,
): Pick<FolderCandidate, 'key' | 'path' | 'seen'> | undefined {
  for (const key of [`${stem}.yaml`, `${stem}.yml`]) {
    const path = `${folder}/${key}`
    const seen = statFile(path)
    if (seen?.isFile && resolveBelow(folder, path) !== undefined) return { key, path, seen }
  }
  return undefined
}

const ENTRY_STEMS = ['cli', 'main', 'tool']
const ENTRY_EXTENSIONS = ['py', 'sh', 'bash', 'js', 'mjs', 'cjs']
const NON_ENTRY_FILE = /\.(?:ya?ml|json|md|txt|toml|lock|d\.ts|map|pyc)$/i

// A tool folder brings its entry (`cli.*`, then `main.*`, then `tool.*`), and a manifest beside it.
function addToolFolder(listing: FolderListing, folder: string, name: string): void {
  const toolFolder = `${folder}/${name}`
  const files = listNames(toolFolder).toSorted()
  if (files.includes('tool.yaml') || files.includes('tool.yml')) {
    const manifest = findYamlFile(folder, `${name}/tool`)
    if (manifest) listing.candidates.push({ ...manifest, what: 'registered', name, toolFolder })
  }
  const { refusals } = listing
  const before = refusals.length
  for (const file of sortEntryFiles(files)) {
    const key = `${name}/${file}`
    const path = `${folder}/${key}`
    const seen = statFile(path)
    if (!seen?.isFile) continue
    if (isTypeScriptFile(file)) refuseTypeScript(listing, key, path)
    else if (!isProgram(file, seen.mode)) continue
    else if (resolveBelow(folder, path) === undefined) refuseOutside(listing, key, path)
    else {
      listing.candidates.push({ key, path, what: 'program', name, toolFolder, seen })
      refusals.length = before
      return
    }
  }
  refusals.splice(before + 1)
}

function sortEntryFiles(files: readonly string[]): readonly string[] {
  const isEntry = (file: string, stem: string): boolean =>
    (file === stem || file.startsWith(`${stem}.`)) && !NON_ENTRY_FILE.test(file)
  return ENTRY_STEMS.flatMap((stem) =>
    files
      .filter((file) => isEntry(file, stem))
      .sort((left, right) => rankExtension(left) - rankExtension(right)),
  )
}

function rankExtension(file: string): number {
  const rank = ENTRY_EXTENSIONS.indexOf(file.slice(file.indexOf('.') + 1))
  return rank === -1 ? ENTRY_EXTENSIONS.length : rank
}

function refuseOutside({ refusals }: FolderListing, key: string, path: string): void {
  refusals.push({
    path,
    reason: 'outside',
    message: `${key} is a link that leads out of the folder`,
    fix: 'Put the file itself there, or name the folder where it is',
  })
}

// TypeScript is for the module source.
function refuseTypeScript({ refusals }: FolderListing, key: string, path: string): void {
  refusals.push({
    path,
    reason: 'typescript',
    message: `${key} is TypeScript, which a folder does not run`,
    fix: `Name it as a module: modules: [${JSON.stringify(path)}], or build it to JavaScript`,
  })
}

function isTypeScriptFile(name: string): boolean {
  return /\.(?:[cm]?ts|tsx)$/.test(name) && !/\.d\.[cm]?ts$/.test(name)
}

const RUNNERS_BY_EXTENSION: ReadonlyMap<string, ScriptRunner> = new Map([
  ['.py', 'python'],
  ['.sh', 'bash'],
  ['.bash', 'bash'],
  ['.js', 'node'],
  ['.mjs', 'node'],
  ['.cjs', 'node'],
])

/**
 * The interpreter for a file, by its extension; `exec` where it is started directly, which needs
 * its execute bit.
 */
export function getRunner(file: string): ScriptRunner {
  return RUNNERS_BY_EXTENSION.get(extname(file)) ?? 'exec'
}

// A script of a known language, or anything with an execute bit.
function isProgram(name: string, mode: number): boolean {
  return getRunner(name) !== 'exec' || isExecutableMode(mode)
}

/** True where one of the execute bits is set. */
export function isExecutableMode(mode: number): boolean {
  return (mode & 0o111) !== 0
}

/** True for a file with an execute bit. */
export function isExecutable(file: string): boolean {
  return isExecutableMode(statFile(file)?.mode ?? 0)
}

/** The Python of a tool: that of its own folder, then the shared one, then python3. */
export function findPython(folder: string, toolFolder?: string): string {
  const inside = host.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python']
  const environments = [join(folder, 'shared_venv', ...inside)]
  if (toolFolder !== undefined) environments.unshift(join(toolFolder, 'venv', ...inside))
  return environments.find((path) => statFile(path)?.isFile) ?? 'python3'
}

/** Program and first arguments that start a file. `head` is how the file begins. */
export function buildStartCommand(
  file: string,
  python: string,
  runner = getRunner(file),
  head = readFileHead(file),
): ChildCall['command'] {
  const shebang = /^#!\s*(.*)/.exec(head)?.[1] ?? ''
  const startsItself = shebang !== '' && isExecutable(file)
  switch (runner) {
    case 'python':
      // A script that brings its own starter (`uv run`) knows its packages; python3 does not.
      return startsItself && !shebang.includes('python') ? [file] : [python, file]
    case 'bash':
      if (startsItself) return [file]
      return [/^\S*\/(?:env\s+)?(?:da)?sh\b/.test(shebang) ? 'sh' : 'bash', file]
    case 'node':
      return [host.node, file]
    case 'exec':
      return [file]
  }
}

/**
 * Resolves all links of a path. Undefined where it does not exist, or leads out of the folder,
 * which must be a real path itself.
 */
export function resolveBelow(folder: string, path: string): string | undefined {
  const real = resolveRealPath(path)
  return real !== undefined && isPathInside(folder, real) ? real : undefined
}

/** Finds the file that a manifest names: relative to one of the bases, and below the folder. */
export function findManifestEntry(
  folder: string,
  bases: readonly string[],
  entry: string,
):
  { readonly path: string } | { readonly reason: 'outside' | 'missing'; readonly message: string } {
  const shown = JSON.stringify(entry.length > 200 ? `${entry.slice(0, 200)}...` : entry)
  const outside = {
    reason: 'outside',
    message: `has an entry that is not in its folder: ${shown}`,
  } as const
  if (entry.includes('\0') || entry.split(/[\\/]/).includes('..')) return outside
  if (isAbsolute(entry) && !isPathInside(folder, resolve(entry))) return outside
  const paths = bases
    .map((base) => resolve(base, entry))
    .filter((path) => isPathInside(folder, path))
  if (paths.length === 0) return outside
  const path = paths.find((each) => statFile(each)?.isFile)
  if (path === undefined)
    return { reason: 'missing', message: `names an entry that is not there: ${shown}` }
  return resolveBelow(folder, path) === undefined ? outside : { path }
}

/** How much of a file is read to find its manifest. */
export const HEAD_BYTES = 16 * KIBIBYTE
/**
 * How much is read where a manifest begins in it and does not end: built programs carry all their
 * tools.
 */
export const MAX_HEAD_BYTES = MEBIBYTE

/** Reads the beginning of a file, enough for most manifests. Throws what opening it throws. */
export function readFileHead(path: string, bytes = HEAD_BYTES): string {
  const file = openSync(path, 'r')
  try {
    const head = Buffer.allocUnsafe(bytes)
    return head.toString('utf8', 0, readSync(file, head, 0, head.length, 0))
  } finally {
    closeSync(file)
  }
}
