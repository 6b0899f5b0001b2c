/**
 * The plan of a commit: everything that is replaced is taken out first, then everything new is put
 * in. Each step can be reverted, and the disk shows which steps were made.
 */

import { compact, isObject, parseJsonObject } from '../../util/values.ts'
import type { Disk } from './disk.ts'
import { ignoreErrors } from './disk.ts'
import { getBlobPath, getSlotPath } from './staging.ts'
import type { FileTraits, FolderNode, TreeNode } from './tree.ts'
import { parsePath, withDiskErrors } from './tree.ts'

/**
 * Something of the root that goes into a slot. `keep`: it stays where it is until a new content
 * takes its place in one step, so that nobody ever finds nothing there.
 */
type TakeStep = { readonly from: string; readonly slot: number; readonly keep?: true }

/**
 * Something that comes to a place in the root: what was taken out elsewhere, a new content, or a
 * new folder. `replaces`: the old one was kept.
 */
type PutStep = { readonly to: string } & (
  | { readonly slot: number }
  | { readonly blob: number; readonly replaces?: true }
  | { readonly folder: true }
)

/**
 * All steps of a commit: first everything is taken out, then everything is put in. Each of them can
 * be taken back, and what is in which slot tells which of them were made.
 */
export type CommitPlan = {
  readonly version: 1
  readonly take: readonly TakeStep[]
  readonly put: readonly PutStep[]
}

/** A new content as it has to be when it is put in. */
type PlannedContent = {
  readonly blob: number
  readonly size: number
  readonly traits?: FileTraits | undefined
}

/**
 * Compares a tree with its base. `look` tells what the base has now where something else is wanted;
 * `join`: a folder that somebody else made meanwhile, like the one that is wanted.
 */
export function createCommitPlan(
  root: FolderNode,
  look: (path: string, wanted: TreeNode | null) => 'file' | 'other' | 'join' | undefined,
): { readonly plan: CommitPlan; readonly contents: readonly PlannedContent[] } {
  const takes = new Map<string, { slot: number; keep: boolean }>()
  const put: PutStep[] = []
  const contents: PlannedContent[] = []
  const waiting: {
    readonly folder: FolderNode
    readonly path: string
    readonly base: string | undefined
    readonly inPlace: boolean
  }[] = [{ folder: root, path: '', base: '', inPlace: true }]

  const take = (path: string, keep: boolean): number => {
    const known = takes.get(path)
    if (known) known.keep &&= keep
    else takes.set(path, { slot: takes.size, keep })
    return takes.get(path)!.slot
  }
  const putIn = (node: TreeNode, path: string): void => {
    if (node.origin !== undefined) put.push({ to: path, slot: take(node.origin, false) })
    else if (node.kind === 'folder') put.push({ to: path, folder: true })
    else {
      put.push({ to: path, blob: node.blob.id })
      contents.push({ blob: node.blob.id, size: node.size, traits: node.traits })
    }
    if (node.kind === 'folder')
      waiting.push({ folder: node, path, base: node.origin, inPlace: false })
  }
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    for (const [name, node] of next.folder.entries.entries()) {
      const [path, base] = [
        joinBelow(next.path, name),
        next.base === undefined ? undefined : joinBelow(next.base, name),
      ]
      if (node?.origin !== undefined && node.origin === base) {
        if (node.kind === 'folder')
          waiting.push({ folder: node, path, base, inPlace: next.inPlace })
        continue
      }
      const there = base === undefined ? undefined : look(base, node)
      if (there === 'join') {
        waiting.push({ folder: node as FolderNode, path, base, inPlace: next.inPlace })
        continue
      }
      if (there)
        take(
          base!,
          next.inPlace && there === 'file' && node?.kind === 'file' && node.blob !== undefined,
        )
      if (node) putIn(node, path)
    }
  }
  const taken = [...takes].map(([from, { slot, keep }]): TakeStep =>
    compact({ from, slot, keep: keep || undefined }),
  )
  // What lies in something that is taken out too has to go first.
  taken.sort((left, right) => right.from.split('/').length - left.from.split('/').length)
  const replaced = put.map((step): PutStep =>
    'blob' in step && takes.get(step.to)?.keep ? { ...step, replaces: true } : step,
  )
  return { plan: { version: 1, take: taken, put: replaced }, contents }
}

/**
 * Whether the disk alone does not tell which steps were made: an empty slot may be one that nothing
 * came into yet, or one that its content left again.
 */
function needsTakenMarker({ take, put }: CommitPlan): boolean {
  const taken = new Set(take.map(({ from }) => from))
  return put.some((step) => 'slot' in step || ('folder' in step && taken.has(step.to)))
}

/** A plan as text. Only with its last character it is whole. */
function serializePlan(plan: CommitPlan): string {
  return `${JSON.stringify(plan)}\n`
}

/**
 * Reads a plan that a dead process left; `torn` where it was not written to its end, so that no
 * step was made. It may have been written by anybody: undefined for everything that is none, or
 * leads out of the root.
 */
export function parsePlan(text: string): CommitPlan | 'torn' | undefined {
  if (!text.endsWith('\n')) return 'torn'
  const value = parseJsonObject(text)
  if (
    !value ||
    value['version'] !== 1 ||
    !Array.isArray(value['take']) ||
    !Array.isArray(value['put'])
  )
    return undefined
  const take = value['take'] as unknown[]
  const put = value['put'] as unknown[]
  const isNumber = (number: unknown): boolean =>
    Number.isSafeInteger(number) && (number as number) >= 0
  const isTake = (step: unknown): step is TakeStep =>
    isObject(step) && isPlannedPath(step['from']) && isNumber(step['slot'])
  const isPut = (step: unknown): step is PutStep =>
    isObject(step) &&
    isPlannedPath(step['to']) &&
    [step['folder'] === true, isNumber(step['slot']), isNumber(step['blob'])].filter(Boolean)
      .length === 1
  return take.every(isTake) && put.every(isPut) ? { version: 1, take, put } : undefined
}

function isPlannedPath(path: unknown): boolean {
  try {
    const names = parsePath(path)
    return names.length > 0 && names.join('/') === path
  } catch {
    return false
  }
}

function joinBelow(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}

/** The plan of a commit that is not ended: whoever finds one takes it back. */
export const PLAN_FILE = 'plan.json'
const TAKEN_MARKER = 'all-taken'

/** Carries out a plan. Where it throws, some steps may have been made. */
export function applyPlan(
  disk: Disk,
  folder: string,
  plan: CommitPlan,
  contents: readonly PlannedContent[],
  flush: boolean,
): void {
  for (const { blob, size, traits } of contents)
    disk.finish(getBlobPath(folder, blob), { size, traits, flush })
  disk.write(`${folder}/${PLAN_FILE}`, Buffer.from(serializePlan(plan)), { flush })
  if (flush) flushFolders(disk, [folder])
  for (const step of plan.take)
    withDiskErrors('take', step.from, () => applyTake(disk, folder, step))
  if (flush) flushFolders(disk, [folder, ...plan.take.map(({ from }) => getParentFolder(from))])
  if (needsTakenMarker(plan)) disk.write(`${folder}/${TAKEN_MARKER}`, new Uint8Array(), { flush })
  if (flush) flushFolders(disk, [folder])
  for (const step of plan.put) withDiskErrors('put', step.to, () => applyPut(disk, folder, step))
  if (flush) flushFolders(disk, [folder, ...plan.put.map(({ to }) => getParentFolder(to))])
}

/**
 * Takes back all steps of a plan that were made, the last first. It can be cut off at any point and
 * begun anew.
 */
export function revertPlan(disk: Disk, folder: string, plan: CommitPlan): void {
  const marked = needsTakenMarker(plan)
  if (!marked || disk.look(`${folder}/${TAKEN_MARKER}`)) {
    for (const step of plan.put.toReversed())
      withDiskErrors('take back', step.to, () => revertPut(disk, folder, step))
    // Before it is gone, an empty slot means that something was put in; afterwards, that nothing
    // was taken out.
    if (marked) disk.remove(`${folder}/${TAKEN_MARKER}`)
  }
  for (const step of plan.take.toReversed())
    withDiskErrors('give back', step.from, () => revertTake(disk, folder, step))
  finalizePlan(disk, folder)
}

/** Makes the changes stay: nobody takes them back any more. */
export function finalizePlan(disk: Disk, folder: string): void {
  ignoreErrors(['ENOENT'], () => disk.remove(`${folder}/${PLAN_FILE}`))
}

function applyTake(disk: Disk, folder: string, { from, slot, keep }: TakeStep): void {
  if (keep) disk.keep(from, getSlotPath(folder, slot))
  else disk.move(from, getSlotPath(folder, slot))
}

function applyPut(disk: Disk, folder: string, step: PutStep): void {
  if ('folder' in step) disk.makeFolder(step.to)
  else disk.move(getSourcePath(folder, step), step.to)
}

function revertPut(disk: Disk, folder: string, step: PutStep): void {
  // Others may have put something of theirs into a folder of ours: it stays.
  if ('folder' in step)
    ignoreErrors(['ENOENT', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST'], () => disk.removeFolder(step.to))
  else if (!('replaces' in step) && !disk.look(getSourcePath(folder, step)))
    ignoreErrors(['ENOENT'], () => disk.move(step.to, getSourcePath(folder, step)))
}

function revertTake(disk: Disk, folder: string, { from, slot }: TakeStep): void {
  if (disk.look(getSlotPath(folder, slot))) disk.move(getSlotPath(folder, slot), from)
}

function getSourcePath(folder: string, step: Exclude<PutStep, { folder: true }>): string {
  return 'slot' in step ? getSlotPath(folder, step.slot) : getBlobPath(folder, step.blob)
}

function flushFolders(disk: Disk, folders: readonly string[]): void {
  // A folder may itself have been taken out.
  for (const folder of new Set(folders))
    ignoreErrors(['ENOENT', 'ENOTDIR'], () => disk.flushFolder(folder))
}

function getParentFolder(path: string): string {
  const cut = path.lastIndexOf('/')
  return cut === -1 ? '' : path.slice(0, cut)
}
