/**
 * Paths a caller gives to a sandboxed tool. Inputs are made readable; outputs are staged in the
 * workspace and moved to their targets only after a success, all or nothing.
 */

import type { Stats } from 'node:fs'
import { lstatSync, mkdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { ToolError } from '../protocol/tool-error.ts'
import { isPathInside } from '../util/files.ts'
import { quoteForShell, shorten } from '../util/text.ts'
import type { JsonSchema } from '../util/values.ts'
import { compact, isObject } from '../util/values.ts'
import type { PinnedFolder } from './safe-paths.ts'
import { copyFile, copyTree, isKernelPath, pinFolder, toNotPlainFileError } from './safe-paths.ts'

/** The folders that paths of the caller are relative to and outputs are staged in. */
export type PathContext = {
  readonly cwd: string
  readonly workspace: string
  /**
   * Targets of the paths in an earlier attempt, by field and index: a link that the tool has changed
   * since is refused.
   */
  readonly known?: Map<string, string>
}

type PathInput = {
  readonly field: string
  /** Among the paths of the same field. */
  readonly index: number
  readonly text: string
  readonly direction: PathDirection
  readonly kind?: unknown
}

type StagedPath = {
  readonly text: string
  readonly readable: readonly string[]
  readonly output?: StagedOutput
  /** What the tool reads, directly or as a copy. */
  readonly source?: string
}

/** The folder of staged outputs in the workspace. A resumed run finds its earlier outputs there. */
const OUTPUTS_FOLDER = '.outputs'

/** Streams of the tool itself, which every sandbox has. */
const STREAM_PATHS = ['-', '/dev/null', '/dev/stdin', '/dev/stdout', '/dev/stderr']

/** Turns a path of the caller into the path that the tool uses. Throws INVALID_PATH. */
export async function stagePath(
  input: PathInput,
  { cwd, workspace, known }: PathContext,
): Promise<StagedPath> {
  const { field, text, direction } = input
  if (STREAM_PATHS.includes(text)) return { text, readable: [] }
  if (text === '' || text.includes('\0'))
    throw toPathError(
      field,
      text === '' ? 'is empty' : 'holds a NUL character',
      'Give the path of a file or a folder',
    )
  const path = resolve(cwd, text)
  if (direction === 'in') {
    const real = requireSameTarget(input, resolveExisting(input, path), known)
    return {
      text: text.endsWith('/') && !real.endsWith('/') ? `${real}/` : real,
      readable: [real],
      source: real,
    }
  }
  const isInput = direction === 'inout'
  const found = isInput ? resolveExisting(input, path) : resolveTarget(input, path)
  const target = requireSameTarget(input, found, known)
  const folder = `${field.replace(/[^\w-]/g, '_')}-${input.index}`
  const staged = join(makeStagingFolder(workspace, [OUTPUTS_FOLDER, folder]), basename(target))
  await fillStaged(input, target, staged)
  return compact({
    text: text.endsWith('/') ? `${staged}/` : staged,
    readable: [],
    output: { field, staged, target },
    source: isInput ? target : undefined,
  })
}

function requireSameTarget(
  { field, index, text }: PathInput,
  real: string,
  known: PathContext['known'],
): string {
  const before = known?.get(`${field} ${index}`) ?? real
  if (before !== real)
    throw toPathError(
      field,
      `${quote(text)} leads to ${real} now, and led to ${before} when the run was started`,
      `ls -ld ${quoteForShell(text)}`,
    )
  known?.set(`${field} ${index}`, real)
  return real
}

function resolveExisting({ field, text, kind }: PathInput, path: string): string {
  const stats = statPath(field, text, path)
  if (!stats)
    throw toPathError(
      field,
      `there is no file or folder ${quote(text)}`,
      `Give a path that exists; relative paths start at ${dirname(path)}`,
    )
  requirePlainPath(field, text, stats, 'Write its contents to a file first')
  if (kind === 'file' && !stats.isFile())
    throw toPathError(field, `${quote(text)} is a folder`, 'Give a file')
  if (kind === 'directory' && !stats.isDirectory())
    throw toPathError(field, `${quote(text)} is a file`, 'Give a folder')
  return toRealPath(field, text, path)
}

// The caller chooses the folder of an output, links included; later steps follow no link.
function resolveTarget({ field, text }: PathInput, path: string): string {
  const stats = statPath(field, text, path)
  if (stats) {
    requirePlainPath(field, text, stats, 'Give another path')
    return toRealPath(field, text, path)
  }
  if (lstatSync(path, { throwIfNoEntry: false }))
    throw toPathError(
      field,
      `${quote(text)} is a link that leads nowhere`,
      `rm ${quoteForShell(path)}`,
    )
  const parent = dirname(path)
  if (!statPath(field, text, parent)?.isDirectory())
    throw toPathError(
      field,
      `there is no folder ${parent} for ${quote(text)}`,
      `mkdir -p ${quoteForShell(parent)}`,
    )
  return join(realpathSync.native(parent), basename(path))
}

function requirePlainPath(field: string, text: string, stats: Stats, fix: string): void {
  if (!stats.isFile() && !stats.isDirectory())
    throw toPathError(field, `${quote(text)} is neither a file nor a folder`, fix)
}

function toRealPath(field: string, text: string, path: string): string {
  const real = realpathSync.native(path)
  if (real !== '/' && !isKernelPath(real)) return real
  throw toPathError(field, `${quote(text)} is the machine itself`, 'Give a folder of your own')
}

async function fillStaged(
  { text, direction }: PathInput,
  target: string,
  staged: string,
): Promise<void> {
  // A resumed run continues with what it has.
  if (lstatSync(staged, { throwIfNoEntry: false })) return
  if (direction === 'inout') return copyTree(target, staged)
  // Tools expect a folder that exists at the target to exist here too.
  if (text.endsWith('/') || statSync(target, { throwIfNoEntry: false })?.isDirectory())
    mkdirSync(staged)
}

// After an attempt, the tool may have left a link in its workspace.
function makeStagingFolder(root: string, names: readonly string[]): string {
  return names.reduce((folder, name) => {
    const path = join(folder, name)
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats && !stats.isDirectory()) rmSync(path)
    if (!stats?.isDirectory()) mkdirSync(path)
    return path
  }, root)
}

function statPath(field: string, text: string, path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    throw toPathError(
      field,
      `${quote(text)} cannot be looked at (${(error as NodeJS.ErrnoException).code})`,
      `ls -ld ${quoteForShell(path)}`,
    )
  }
}

function quote(text: string): string {
  return `'${shorten(text, 200)}'`
}

function toPathError(field: string, problem: string, fix: string): ToolError {
  return new ToolError('INVALID_PATH', `${field}: ${problem}`, { field, suggestion: fix })
}

/** An output that the tool writes in the workspace, and the target it is moved to. */
export type StagedOutput = {
  readonly field: string
  readonly staged: string
  readonly target: string
}

/** An output at its target. */
export type PlacedOutput = { readonly field: string; readonly path: string; readonly files: number }

type OutputMove = {
  readonly from: string
  readonly to: string
  readonly mode: number
  readonly temporary: string
}
type PlacementPlan = {
  readonly tag: string
  readonly pinned: PinnedFolder[]
  readonly folders: string[]
  readonly moves: OutputMove[]
}

/**
 * Moves outputs to their targets. Every file is copied beside its target first and renamed when all
 * copies exist, so that a full disk or a planted link changes nothing. Outputs that the tool did not
 * create are skipped. Target folders are pinned, because the tool may be allowed to replace them.
 */
export async function placeOutputs(
  outputs: readonly StagedOutput[],
): Promise<readonly PlacedOutput[]> {
  const plan: PlacementPlan = {
    tag: Buffer.from(crypto.getRandomValues(new Uint8Array(5))).toString('hex'),
    pinned: [],
    folders: [],
    moves: [],
  }
  try {
    const placed: PlacedOutput[] = []
    for (const { field, staged, target } of outputs) {
      const before = plan.moves.length
      if (!(await lstat(staged).catch(() => undefined))) continue
      const folder = pinFolder(dirname(target))
      plan.pinned.push(folder)
      await planOutputTree(staged, join(folder.path, basename(target)), plan)
      placed.push({ field, path: target, files: plan.moves.length - before })
    }
    await executePlan(plan)
    return placed
  } finally {
    for (const folder of plan.pinned) folder.release()
  }
}

async function executePlan(plan: PlacementPlan): Promise<void> {
  const made: string[] = []
  try {
    for (const folder of plan.folders) {
      if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) continue
      await mkdir(folder)
      made.push(folder)
    }
    for (const { from, temporary, mode } of plan.moves) await copyFile(from, temporary, mode)
  } catch (error) {
    for (const path of [...plan.moves.map(({ temporary }) => temporary), ...made.reverse()])
      await rm(path, { recursive: true, force: true }).catch(() => undefined)
    throw toPlacementError(error, plan)
  }
  for (const { temporary, to } of plan.moves)
    await rename(temporary, to).catch((error: unknown) => {
      throw toPlacementError(error, plan)
    })
  await Promise.all([...new Set(plan.moves.map(({ to }) => dirname(to)))].map(syncFolder))
}

// The path that the caller knows, instead of one through a pinned folder.
function toShownPath(path: string, { pinned }: PlacementPlan): string {
  const folder = pinned.find((one) => path.startsWith(`${one.path}/`))
  return folder ? join(folder.name, path.slice(folder.path.length)) : path
}

// Links at the target are not followed: a file replaces a link, and a link blocks a folder.
async function planOutputTree(from: string, to: string, plan: PlacementPlan): Promise<void> {
  const stats = await lstat(from)
  const existing = lstatSync(to, { throwIfNoEntry: false })
  if (stats.isFile()) {
    if (existing?.isDirectory()) throw toBlockedError(toShownPath(to, plan), 'a folder', 'a file')
    const mode = (existing?.isFile() ? existing.mode : stats.mode) & 0o777
    const name = `.${basename(to).slice(0, 100)}.${plan.tag}-${plan.moves.length}.tmp`
    plan.moves.push({ from, to, mode, temporary: join(dirname(to), name) })
    return
  }
  if (!stats.isDirectory()) throw toNotPlainFileError(from, stats.isSymbolicLink())
  if (existing && !existing.isDirectory()) {
    const is = existing.isSymbolicLink() ? 'a link' : 'a file'
    throw toBlockedError(toShownPath(to, plan), is, 'a folder')
  }
  plan.folders.push(to)
  for (const name of await readdir(from))
    await planOutputTree(join(from, name), join(to, name), plan)
}

// A rename is durable once its folder is synced.
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => undefined)
  await handle?.sync().catch(() => undefined)
  await handle?.close()
}

function toBlockedError(path: string, is: string, made: string): ToolError {
  return new ToolError('INVALID_PATH', `the tool made ${made} for ${path}, where ${is} stands`, {
    suggestion: 'Give another path for the output',
  })
}

function toPlacementError(error: unknown, plan: PlacementPlan): Error {
  if (ToolError.is(error)) return error
  const { code, message, path } = error as NodeJS.ErrnoException
  const where = path === undefined ? '' : ` at ${toShownPath(path, plan)}`
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new ToolError(
      'DISK_FULL',
      `the output cannot be put into its place${where}: no space is left`,
      { suggestion: 'Free space, then resume the run', cause: error },
    )
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return new ToolError('PERMISSION', `the output cannot be put into its place${where}: ${code}`, {
      suggestion: 'Give an output path that you may write to',
      cause: error,
    })
  return new ToolError(
    'INVALID_PATH',
    `the output cannot be put into its place${where}: ${code ?? message}`,
    { cause: error },
  )
}

const MAX_DEPTH = 64

/** Replaces the paths of staged outputs in a value by their targets. */
export function restoreOutputPaths<Value>(value: Value, outputs: readonly StagedOutput[]): Value {
  return outputs.length === 0 ? value : (restoreValue(value, outputs, 0) as Value)
}

function restoreValue(value: unknown, outputs: readonly StagedOutput[], depth: number): unknown {
  if (typeof value === 'string') return restoreText(value, outputs)
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value
  if (Array.isArray(value))
    return value.map((item: unknown) => restoreValue(item, outputs, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, restoreValue(item, outputs, depth + 1)]),
  )
}

function restoreText(text: string, outputs: readonly StagedOutput[]): string {
  const bare = text.startsWith('file://') ? text.slice('file://'.length) : text
  const output = outputs.find(({ staged }) => isPathInside(staged, bare))
  return output ? text.replace(output.staged, () => output.target) : text
}

/** Whether a tool reads a path, creates it or changes it. */
type PathDirection = 'in' | 'out' | 'inout'

const OUTPUT_NAMES =
  /^(out|output|outfile|outdir|target|dest|destination)$|^(out|output)_|_(out|output)$/

/** True for a field with a path or a list of paths. */
export function isPathField(property: JsonSchema): boolean {
  return [property, property['items']].some(
    (schema) =>
      isObject(schema) && (schema['format'] === 'path' || isObject(schema['x-toolable-path'])),
  )
}

/** Returns what a path has to be: 'file', 'directory' or undefined for both. */
export function getPathKind(property: JsonSchema): unknown {
  return getPathRules(property)['kind']
}

/** Returns the direction that a path field declares, else guesses it from the name. */
export function getPathDirection(field: string, property: JsonSchema): PathDirection {
  const declared = getPathRules(property)['direction']
  if (declared === 'in' || declared === 'out' || declared === 'inout') return declared
  return OUTPUT_NAMES.test(toSnakeCase(field)) ? 'out' : 'in'
}

function getPathRules(property: JsonSchema): { readonly [rule: string]: unknown } {
  const { items } = property
  const rules =
    property['x-toolable-path'] ?? (isObject(items) ? items['x-toolable-path'] : undefined)
  return isObject(rules) ? rules : {}
}

// outputDir, output-dir and output_dir are equal.
function toSnakeCase(field: string): string {
  return field
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase()
}
