/**
 * Lists the files of a folder that may bring tools, and decides how each is started. Nothing is
 * run.
 */

import { closeSync, lstatSync, openSync, readdirSync, readSync, realpathSync } from 'node:fs'
import { isAbsolute, join, resolve, sep } from 'node:path'
import { host } from '../../core/host.ts'
import { statFile, toFileInfo } from '../cache.ts'
import type { FileInfo } from '../cache.ts'
import type { ScriptRunner } from '../manifests/metadata.ts'

/** Everything in a folder that may bring tools, by path, and what is refused at sight. */
type FolderListing = {
  readonly candidates: readonly FolderCandidate[]
  readonly refusals: readonly CandidateRefusal[]
}

/**
 * Lists a real folder: files at its top, the entries of tool folders, the manifests of its
 * registry. Nothing is opened. Throws what reading the folder throws.
 */
export function listCandidates(folder: string): FolderListing {
  const candidates: FolderCandidate[] = []
  const refusals: CandidateRefusal[] = []
  for (const name of readdirSync(folder).sort()) {
    const path = `${folder}/${name}`
    if (name === 'registry') addRegistryManifests(folder, path, candidates)
    else if (!isReservedFile(name) && !isReservedFolder(name))
      addFolderItem(folder, name, path, candidates, refusals)
  }
  return { candidates, refusals }
}

function addFolderItem(
  folder: string,
  name: string,
  path: string,
  candidates: FolderCandidate[],
  refusals: CandidateRefusal[],
): void {
  const own = lstatSync(path, { throwIfNoEntry: false })
  const isLink = own?.isSymbolicLink() ?? false
  if (isLink && resolveBelow(folder, path) === undefined) {
    refusals.push(refuseOutside(name, path))
    return
  }
  const seen = isLink ? statFile(path) : own && toFileInfo(own)
  if (seen?.isFolder) {
    const found = findToolFolderEntry(folder, name)
    candidates.push(...found.candidates)
    refusals.push(...found.refusals)
  } else if (seen?.isFile) addFile(name, path, seen, candidates, refusals)
}

function addFile(
  key: string,
  path: string,
  seen: FileInfo,
  candidates: FolderCandidate[],
  refusals: CandidateRefusal[],
): void {
  const extension = getExtension(key)
  if (isYamlExtension(extension))
    candidates.push({ key, path, what: 'manifest', name: getStem(key), seen })
  else if (isTypeScriptFile(key)) refusals.push(refuseTypeScript(key, path))
  else if (isProgram(key, seen.mode))
    candidates.push({ key, path, what: 'program', name: getStem(key), seen })
}

function addRegistryManifests(
  folder: string,
  registry: string,
  candidates: FolderCandidate[],
): void {
  const codes = findFirstFile(
    [`${registry}/error_codes.yaml`, `${registry}/error_codes.yml`],
    folder,
  )
  if (codes)
    candidates.push({
      key: codes.path.slice(folder.length + 1),
      ...codes,
      what: 'error-codes',
      name: 'error_codes',
    })
  for (const name of listNames(registry)) {
    const manifest = findFirstFile(
      [`${registry}/${name}/tool.yaml`, `${registry}/${name}/tool.yml`],
      folder,
    )
    if (manifest)
      candidates.push({
        key: manifest.path.slice(folder.length + 1),
        ...manifest,
        what: 'registered',
        name,
        toolFolder: `${folder}/${name}`,
      })
  }
}

function findFirstFile(
  paths: readonly string[],
  folder: string,
): Pick<FolderCandidate, 'path' | 'seen'> | undefined {
  for (const path of paths) {
    const seen = statFile(path)
    if (seen?.isFile && resolveBelow(folder, path) !== undefined) return { path, seen }
  }
  return undefined
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => !name.startsWith('.'))
      .sort()
  } catch {
    return []
  }
}

const ENTRY_STEMS = ['cli', 'main', 'tool']
const ENTRY_EXTENSIONS = ['py', 'sh', 'bash', 'js', 'mjs', 'cjs']
const NON_ENTRY_FILE = /\.(?:ya?ml|json|md|txt|toml|lock|d\.ts|map|pyc)$/i

/**
 * What a tool folder brings: its entry (`cli.*`, then `main.*`, then `tool.*`), and a manifest
 * beside it.
 */
function findToolFolderEntry(
  folder: string,
  name: string,
): {
  readonly candidates: readonly FolderCandidate[]
  readonly refusals: readonly CandidateRefusal[]
} {
  const toolFolder = `${folder}/${name}`
  const files = listFiles(toolFolder)
  const candidates: FolderCandidate[] = []
  const refusals: CandidateRefusal[] = []
  const manifest = ['tool.yaml', 'tool.yml'].find((file) => files.includes(file))
  const own = (file: string): Pick<FolderCandidate, 'key' | 'path' | 'name' | 'toolFolder'> => ({
    key: `${name}/${file}`,
    path: `${toolFolder}/${file}`,
    name,
    toolFolder,
  })
  if (manifest !== undefined) {
    const seen = statFile(`${toolFolder}/${manifest}`)
    if (seen?.isFile && resolveBelow(folder, `${toolFolder}/${manifest}`) !== undefined)
      candidates.push({ ...own(manifest), what: 'registered', seen })
  }
  for (const file of sortEntryFiles(files)) {
    const path = `${toolFolder}/${file}`
    const seen = statFile(path)
    if (!seen?.isFile) continue
    if (isTypeScriptFile(file)) refusals.push(refuseTypeScript(`${name}/${file}`, path))
    else if (!isProgram(file, seen.mode)) continue
    else if (resolveBelow(folder, path) === undefined)
      refusals.push(refuseOutside(`${name}/${file}`, path))
    else {
      candidates.push({ ...own(file), what: 'program', seen })
      return { candidates, refusals: [] }
    }
  }
  return { candidates, refusals: refusals.slice(0, 1) }
}

function sortEntryFiles(files: readonly string[]): readonly string[] {
  return ENTRY_STEMS.flatMap((stem) =>
    files
      .filter(
        (file) => (file === stem || file.startsWith(`${stem}.`)) && !NON_ENTRY_FILE.test(file),
      )
      .sort((left, right) => rankExtension(left) - rankExtension(right)),
  )
}

function rankExtension(file: string): number {
  const place = ENTRY_EXTENSIONS.indexOf(file.slice(file.indexOf('.') + 1))
  return place === -1 ? ENTRY_EXTENSIONS.length : place
}

function listFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}

/** A file of a folder that may bring tools. */
export type FolderCandidate = {
  /** Relative to the folder, with slashes: `weather.py`, `registry/mover/tool.yaml`. */
  readonly key: string
  readonly path: string
  /** `manifest` may be any YAML, `registered` lies where only manifests lie. */
  readonly what: 'program' | 'manifest' | 'registered' | 'error-codes'
  /**
   * What its tool is called where nothing says it, and what a companion is told by: the stem, or
   * the name of the tool's folder.
   */
  readonly name: string
  /** The folder of the tool, where it has one of its own. */
  readonly toolFolder?: string
  readonly seen: FileInfo
}

/** A file that will not be asked, and why. */
export type CandidateRefusal = {
  readonly key: string
  readonly path: string
  readonly reason: string
  readonly message: string
  readonly fix: string
}

/** A file that is reached by a link which leaves the folder. */
function refuseOutside(key: string, path: string): CandidateRefusal {
  return {
    key,
    path,
    reason: 'outside',
    message: `${key} is a link that leads out of the folder`,
    fix: 'Put the file itself there, or name the folder where it is',
  }
}

/** TypeScript is for the module source. */
function refuseTypeScript(key: string, path: string): CandidateRefusal {
  return {
    key,
    path,
    reason: 'typescript',
    message: `${key} is TypeScript, which a folder does not run`,
    fix: `Name it as a module: modules: [${JSON.stringify(path)}], or build it to JavaScript`,
  }
}

const RESERVED_FOLDERS = new Set([
  'registry',
  '_lib',
  'venv',
  'shared_venv',
  'node_modules',
  '__pycache__',
])
const RESERVED_FILES = new Set(['run.py', 'error_codes.yaml', 'error_codes.yml', '__init__.py'])

/** Folders beside tools that are never tools themselves. */
function isReservedFolder(name: string): boolean {
  return name.startsWith('.') || RESERVED_FOLDERS.has(name)
}

/** Files beside tools that are never tools themselves. */
function isReservedFile(name: string): boolean {
  return name.startsWith('.') || RESERVED_FILES.has(name)
}

type ProgramCommand = readonly [program: string, ...args: string[]]

const RUNNERS_BY_EXTENSION: { readonly [extension: string]: ScriptRunner } = {
  '.py': 'python',
  '.sh': 'bash',
  '.bash': 'bash',
  '.js': 'node',
  '.mjs': 'node',
  '.cjs': 'node',
}

/**
 * The interpreter that the name of a file asks for; `exec` where it is started as it is, which
 * needs its execute bit.
 */
export function getRunner(file: string): ScriptRunner {
  const extension = getExtension(file)
  return Object.hasOwn(RUNNERS_BY_EXTENSION, extension) ? RUNNERS_BY_EXTENSION[extension]! : 'exec'
}

/** True for a script of a known language, and for anything with an execute bit. */
function isProgram(name: string, mode: number): boolean {
  return getRunner(name) !== 'exec' || isExecutableMode(mode)
}

/** True where somebody may execute the file. */
export function isExecutableMode(mode: number): boolean {
  return (mode & 0o111) !== 0
}

/** The Python of a tool: that of its own folder, then the shared one, then python3. */
export function findPython(folder: string, toolFolder: string | undefined): string {
  const inside = host.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python']
  const environments = [
    ...(toolFolder === undefined ? [] : [join(toolFolder, 'venv', ...inside)]),
    join(folder, 'shared_venv', ...inside),
  ]
  return environments.find((path) => statFile(path)?.isFile) ?? 'python3'
}

/** Program and first arguments that start a file. `head` is how the file begins. */
export function buildStartCommand(
  file: string,
  runner: ScriptRunner,
  python: string,
  head: string,
  executable: boolean,
): ProgramCommand {
  const asked = /^#!\s*(.*)/.exec(head)?.[1] ?? ''
  switch (runner) {
    case 'python':
      // A script that brings its own starter (`uv run`) knows its packages; python3 does not.
      return executable && asked !== '' && !asked.includes('python') ? [file] : [python, file]
    case 'bash':
      return executable && asked !== ''
        ? [file]
        : [/^\S*\/(?:env\s+)?(?:da)?sh\b/.test(asked) ? 'sh' : 'bash', file]
    case 'node':
      return [host.node, file]
    case 'exec':
      return [file]
  }
}

/** Where an entry lies, or why it is not taken. */
type EntryLookup =
  { readonly path: string } | { readonly reason: 'outside' | 'missing'; readonly message: string }

/**
 * True for a path below the folder, or the folder itself; `/tools-evil` is not below `/tools`. Both
 * are absolute and normal.
 */
function isPathBelow(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/**
 * The path with all links followed; undefined where it leads nowhere, or out of the folder, which
 * is real itself.
 */
export function resolveBelow(folder: string, path: string): string | undefined {
  try {
    const real = realpathSync.native(path)
    return isPathBelow(folder, real) ? real : undefined
  } catch {
    return undefined
  }
}

/**
 * Finds the file that a manifest names: relative to one of the bases, and whatever it is called,
 * below the folder.
 */
export function findManifestEntry(
  folder: string,
  bases: readonly string[],
  entry: string,
): EntryLookup {
  const outside: EntryLookup = {
    reason: 'outside',
    message: `has an entry that is not in its folder: ${quoteEntry(entry)}`,
  }
  if (entry.includes('\0') || entry.split(/[\\/]/).includes('..')) return outside
  const candidates = bases
    .map((base) => resolve(base, entry))
    .filter((path) => isPathBelow(folder, path))
  if (candidates.length === 0 || (isAbsolute(entry) && !isPathBelow(folder, resolve(entry))))
    return outside
  for (const path of candidates) {
    if (statFile(path)?.isFile !== true) continue
    return resolveBelow(folder, path) === undefined ? outside : { path }
  }
  return { reason: 'missing', message: `names an entry that is not there: ${quoteEntry(entry)}` }
}

function quoteEntry(entry: string): string {
  return JSON.stringify(entry.length > 200 ? `${entry.slice(0, 200)}...` : entry)
}

const YAML_EXTENSIONS = new Set(['.yaml', '.yml', '.YAML', '.YML'])
const TYPESCRIPT_EXTENSIONS = new Set(['.ts', '.mts', '.cts', '.tsx'])

/** What follows the last dot of a file's name, the dot included; empty where there is none. */
function getExtension(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot <= 0 || name.indexOf('/', dot) !== -1 ? '' : name.slice(dot)
}

/** A file's name without its extension. */
function getStem(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? name : name.slice(0, dot)
}

/** True for the extension of a file that may be a manifest. */
function isYamlExtension(extension: string): boolean {
  return YAML_EXTENSIONS.has(extension)
}

/** True for TypeScript that has code. */
function isTypeScriptFile(name: string): boolean {
  return TYPESCRIPT_EXTENSIONS.has(getExtension(name)) && !/\.d\.[cm]?ts$/.test(name)
}

/** How a file begins: as much as can hold a manifest. Throws what opening it throws. */
export function readFileHead(path: string, bytes = HEAD_BYTES): string {
  const file = openSync(path, 'r')
  try {
    const head = Buffer.allocUnsafe(bytes)
    return head.toString('utf8', 0, readSync(file, head, 0, head.length, 0))
  } finally {
    closeSync(file)
  }
}

/** How much of a file is read to find its manifest. */
export const HEAD_BYTES = 16 * 1024
/**
 * How much is read where a manifest begins in it and does not end: built programs carry all their
 * tools.
 */
export const MAX_HEAD_BYTES = 1024 * 1024
