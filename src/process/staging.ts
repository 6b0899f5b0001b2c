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
import { copyFile, copyTree, pinFolder, toNotPlainFileError } from './safe-paths.ts'

/** What paths of the caller mean, and where outputs are made until they are placed. */
export type PathContext = {
  readonly cwd: string
  readonly workspace: string
  /**
   * Where the paths led in an earlier attempt, by field and index: what the tool has turned
   * elsewhere since is not followed.
   */
  readonly known?: Map<string, string>
}

type PathInput = {
  readonly field: string
  /** Among the paths of the same field. */ readonly index: number
  readonly text: string
  readonly direction: PathDirection
  readonly kind?: unknown
}

type StagedPath = {
  readonly text: string
  readonly readable: readonly string[]
  readonly output?: StagedOutput
  /** What the tool gets to read, or a copy of. */ readonly source?: string
}

/**
 * Where outputs are made, in the workspace. A run that is resumed finds there what it made before.
 */
const OUTPUTS_FOLDER = '.outputs'

/** Not places: streams of the tool itself, which every sandbox has. */
const STREAM_PATHS = ['-', '/dev/null', '/dev/stdin', '/dev/stdout', '/dev/stderr']
const SYSTEM_PATHS = ['/proc', '/sys', '/dev']

/** Gives one path of the caller its meaning for the tool. Throws INVALID_PATH. */
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
  const target = requireSameTarget(
    input,
    direction === 'inout' ? resolveExisting(input, path) : resolveTarget(input, path),
    known,
  )
  const staged = join(
    makeStagingFolder(workspace, [
      OUTPUTS_FOLDER,
      `${field.replace(/[^\w-]/g, '_')}-${input.index}`,
    ]),
    basename(target),
  )
  await fillStaged(input, target, staged)
  return compact({
    text: text.endsWith('/') ? `${staged}/` : staged,
    readable: [],
    output: { field, staged, target },
    source: direction === 'inout' ? target : undefined,
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
      `'${shorten(text, 200)}' leads to ${real} now, and led to ${before} when the run was started`,
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
      `there is no file or folder '${shorten(text, 200)}'`,
      `Give a path that exists; relative paths start at ${dirname(path) === path ? path : resolve(path, '..')}`,
    )
  if (!stats.isFile() && !stats.isDirectory())
    throw toPathError(
      field,
      `'${shorten(text, 200)}' is neither a file nor a folder`,
      'Write its contents to a file first',
    )
  if (kind === 'file' && !stats.isFile())
    throw toPathError(field, `'${shorten(text, 200)}' is a folder`, 'Give a file')
  if (kind === 'directory' && !stats.isDirectory())
    throw toPathError(field, `'${shorten(text, 200)}' is a file`, 'Give a folder')
  const real = realpathSync.native(path)
  if (real === '/' || SYSTEM_PATHS.some((place) => isPathInside(place, real)))
    throw toPathError(
      field,
      `'${shorten(text, 200)}' is the machine itself`,
      'Give a folder of your own',
    )
  return real
}

// The folder that an output goes to is the caller's choice, links included; from here on nothing
// follows one.
function resolveTarget({ field, text }: PathInput, path: string): string {
  const stats = statPath(field, text, path)
  if (stats) {
    if (!stats.isFile() && !stats.isDirectory())
      throw toPathError(
        field,
        `'${shorten(text, 200)}' is neither a file nor a folder`,
        'Give another path',
      )
    const real = realpathSync.native(path)
    if (real === '/' || SYSTEM_PATHS.some((place) => isPathInside(place, real)))
      throw toPathError(
        field,
        `'${shorten(text, 200)}' is the machine itself`,
        'Give a folder of your own',
      )
    return real
  }
  if (lstatSync(path, { throwIfNoEntry: false }))
    throw toPathError(
      field,
      `'${shorten(text, 200)}' is a link that leads nowhere`,
      `rm ${quoteForShell(path)}`,
    )
  const parent = dirname(path)
  if (!statPath(field, text, parent)?.isDirectory())
    throw toPathError(
      field,
      `there is no folder ${parent} for '${shorten(text, 200)}'`,
      `mkdir -p ${quoteForShell(parent)}`,
    )
  return join(realpathSync.native(parent), basename(path))
}

async function fillStaged(
  { text, direction }: PathInput,
  target: string,
  staged: string,
): Promise<void> {
  // A run that is resumed goes on with what it has.
  if (lstatSync(staged, { throwIfNoEntry: false })) return
  if (direction === 'inout') return copyTree(target, staged)
  // Tools expect a folder to be there that is there already.
  if (text.endsWith('/') || statSync(target, { throwIfNoEntry: false })?.isDirectory())
    mkdirSync(staged)
}

// Between two attempts the workspace is what the tool left, perhaps with a link in the way.
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
      `'${shorten(text, 200)}' cannot be looked at (${(error as NodeJS.ErrnoException).code})`,
      `ls -ld ${quoteForShell(path)}`,
    )
  }
}

function toPathError(field: string, problem: string, fix: string): ToolError {
  return new ToolError('INVALID_PATH', `${field}: ${problem}`, { field, suggestion: fix })
}

/** An output that the tool makes in the workspace, and the place that it is meant for. */
export type StagedOutput = {
  readonly field: string
  readonly staged: string
  readonly target: string
}

/** An output in its place. */
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
 * Puts outputs into their places. Everything is copied beside its place first, and only when all of
 * it is there each file takes its name, so that a full disk or a planted link leaves the places as
 * they were.
 * An output that the tool did not make is left out. The folder that it is meant for is the one that
 * it was before the tool was started, which may have been granted the right to exchange it.
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
      if (!(await pathExists(staged))) continue
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
    for (const folder of plan.folders) if (await makeOutputFolder(folder)) made.push(folder)
    for (const { from, temporary: waiting, mode } of plan.moves) await copyFile(from, waiting, mode)
  } catch (error) {
    await Promise.all(
      plan.moves.map(({ temporary: waiting }) =>
        rm(waiting, { force: true }).catch(() => undefined),
      ),
    )
    for (const folder of made.reverse())
      await rm(folder, { recursive: true, force: true }).catch(() => undefined)
    throw toPlacementError(error, plan)
  }
  for (const { temporary: waiting, to } of plan.moves)
    await rename(waiting, to).catch((error: unknown) => {
      throw toPlacementError(error, plan)
    })
  await Promise.all([...new Set(plan.moves.map(({ to }) => dirname(to)))].map(syncFolder))
}

/** What people call a path. */
function toShownPath(path: string, { pinned: held }: PlacementPlan): string {
  const folder = held.find((one) => path.startsWith(`${one.path}/`))
  return folder ? join(folder.name, path.slice(folder.path.length)) : path
}

// What stands at the target is looked at without following links: a link is replaced by a file, and
// is in the way of a folder.
async function planOutputTree(from: string, to: string, plan: PlacementPlan): Promise<void> {
  const stats = await lstat(from)
  const there = lstatSync(to, { throwIfNoEntry: false })
  if (stats.isFile()) {
    if (there?.isDirectory()) throw toBlockedError(toShownPath(to, plan), 'a folder', 'a file')
    const mode = there?.isFile() ? there.mode : stats.mode
    plan.moves.push({
      from,
      to,
      mode: mode & 0o777,
      temporary: join(
        dirname(to),
        `.${basename(to).slice(0, 100)}.${plan.tag}-${plan.moves.length}.tmp`,
      ),
    })
    return
  }
  if (!stats.isDirectory()) throw toNotPlainFileError(from, stats.isSymbolicLink())
  if (there && !there.isDirectory())
    throw toBlockedError(
      toShownPath(to, plan),
      there.isSymbolicLink() ? 'a link' : 'a file',
      'a folder',
    )
  plan.folders.push(to)
  for (const name of await readdir(from))
    await planOutputTree(join(from, name), join(to, name), plan)
}

async function makeOutputFolder(folder: string): Promise<boolean> {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return false
  await mkdir(folder)
  return true
}

async function pathExists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

// A rename is on the disk when its folder is.
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

/**
 * The same value, with the places that outputs are meant for where it names the places that they
 * were made at.
 */
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
  const output = outputs.find(({ staged }) => bare === staged || bare.startsWith(`${staged}/`))
  return output ? text.replace(output.staged, () => output.target) : text
}

/** Whether a tool reads what is at a path, makes it, or changes it. */
type PathDirection = 'in' | 'out' | 'inout'

const OUTPUT_NAMES =
  /^(out|output|outfile|outdir|target|dest|destination)$|^(out|output)_|_(out|output)$/

/** Whether a field holds a path, or a list of paths. */
export function isPathField(property: JsonSchema): boolean {
  const { items } = property
  return (
    property['format'] === 'path' ||
    isObject(property['x-toolable-path']) ||
    (isObject(items) && (items['format'] === 'path' || isObject(items['x-toolable-path'])))
  )
}

/** What a path has to be: 'file', 'directory', or anything. */
export function getPathKind(property: JsonSchema): unknown {
  return getPathRules(property)['kind']
}

/** The direction that a path field declares, else the one that its name tells. */
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

// outputDir, output-dir and output_dir are one name.
function toSnakeCase(field: string): string {
  return field
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase()
}
