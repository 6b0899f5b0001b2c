import { lstatSync } from 'node:fs'
import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ToolError } from '../../contract/tool-error.ts'
import { copyFile, notPlain } from './copy-tree.ts'
import type { HeldFolder } from './hold-folder.ts'
import { holdFolder } from './hold-folder.ts'

/** An output that the tool makes in the workspace, and the place that it is meant for. */
export type StagedOutput = {
  readonly field: string
  readonly staged: string
  readonly target: string
}

/** An output in its place. */
export type PlacedOutput = { readonly field: string; readonly path: string; readonly files: number }

type Move = {
  readonly from: string
  readonly to: string
  readonly mode: number
  readonly waiting: string
}
type Plan = {
  readonly mark: string
  readonly held: HeldFolder[]
  readonly folders: string[]
  readonly moves: Move[]
}

/**
 * Puts outputs into their places. Everything is copied beside its place first, and only when all of it is there each file takes its name, so that a full disk or a planted link leaves the places as they were.
 * An output that the tool did not make is left out. The folder that it is meant for is the one that it was before the tool was started, which may have been granted the right to exchange it.
 */
export async function placeOutputs(
  outputs: readonly StagedOutput[],
): Promise<readonly PlacedOutput[]> {
  const plan: Plan = {
    mark: Buffer.from(crypto.getRandomValues(new Uint8Array(5))).toString('hex'),
    held: [],
    folders: [],
    moves: [],
  }
  try {
    const placed: PlacedOutput[] = []
    for (const { field, staged, target } of outputs) {
      const before = plan.moves.length
      if (!(await exists(staged))) continue
      const folder = holdFolder(dirname(target))
      plan.held.push(folder)
      await planTree(staged, join(folder.path, basename(target)), plan)
      placed.push({ field, path: target, files: plan.moves.length - before })
    }
    await carryOut(plan)
    return placed
  } finally {
    for (const folder of plan.held) folder.release()
  }
}

async function carryOut(plan: Plan): Promise<void> {
  const made: string[] = []
  try {
    for (const folder of plan.folders) if (await makeFolder(folder)) made.push(folder)
    for (const { from, waiting, mode } of plan.moves) await copyFile(from, waiting, mode)
  } catch (error) {
    await Promise.all(
      plan.moves.map(({ waiting }) => rm(waiting, { force: true }).catch(() => undefined)),
    )
    for (const folder of made.reverse())
      await rm(folder, { recursive: true, force: true }).catch(() => undefined)
    throw explain(error, plan)
  }
  for (const { waiting, to } of plan.moves)
    await rename(waiting, to).catch((error: unknown) => {
      throw explain(error, plan)
    })
  await Promise.all([...new Set(plan.moves.map(({ to }) => dirname(to)))].map(syncFolder))
}

/** What people call a path. */
function nameOf(path: string, { held }: Plan): string {
  const folder = held.find((one) => path.startsWith(`${one.path}/`))
  return folder ? join(folder.name, path.slice(folder.path.length)) : path
}

// What stands at the target is looked at without following links: a link is replaced by a file, and is in the way of a folder.
async function planTree(from: string, to: string, plan: Plan): Promise<void> {
  const stats = await lstat(from)
  const there = lstatSync(to, { throwIfNoEntry: false })
  if (stats.isFile()) {
    if (there?.isDirectory()) throw inTheWay(nameOf(to, plan), 'a folder', 'a file')
    const mode = there?.isFile() ? there.mode : stats.mode
    plan.moves.push({
      from,
      to,
      mode: mode & 0o777,
      waiting: join(
        dirname(to),
        `.${basename(to).slice(0, 100)}.${plan.mark}-${plan.moves.length}.tmp`,
      ),
    })
    return
  }
  if (!stats.isDirectory()) throw notPlain(from, stats.isSymbolicLink())
  if (there && !there.isDirectory())
    throw inTheWay(nameOf(to, plan), there.isSymbolicLink() ? 'a link' : 'a file', 'a folder')
  plan.folders.push(to)
  for (const name of await readdir(from)) await planTree(join(from, name), join(to, name), plan)
}

async function makeFolder(folder: string): Promise<boolean> {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return false
  await mkdir(folder)
  return true
}

async function exists(path: string): Promise<boolean> {
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

function inTheWay(path: string, is: string, made: string): ToolError {
  return new ToolError('INVALID_PATH', `the tool made ${made} for ${path}, where ${is} stands`, {
    suggestion: 'Give another path for the output',
  })
}

function explain(error: unknown, plan: Plan): Error {
  if (ToolError.is(error)) return error
  const { code, message, path } = error as NodeJS.ErrnoException
  const where = path === undefined ? '' : ` at ${nameOf(path, plan)}`
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
