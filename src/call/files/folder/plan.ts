import { parseObject, isObject } from '../../../contract/json.ts'
import { readPath } from '../path.ts'
import type { FolderNode, Node, Traits } from '../tree.ts'

/** Something of the root that goes into a slot. `keep`: it stays where it is until a new content takes its place in one step, so that nobody ever finds nothing there. */
export type Take = { readonly from: string; readonly slot: number; readonly keep?: true }

/** Something that comes to a place in the root: what was taken out elsewhere, a new content, or a new folder. `replaces`: the old one was kept. */
export type Put = { readonly to: string } & (
  | { readonly slot: number }
  | { readonly blob: number; readonly replaces?: true }
  | { readonly folder: true }
)

/** All steps of a commit: first everything is taken out, then everything is put in. Each of them can be taken back, and what is in which slot tells which of them were made. */
export type Plan = {
  readonly version: 1
  readonly take: readonly Take[]
  readonly put: readonly Put[]
}

/** A new content as it has to be when it is put in. */
export type NewContent = {
  readonly blob: number
  readonly size: number
  readonly traits?: Traits | undefined
}

/** Compares a tree with its base. `look` tells what the base has now where something else is wanted; `join`: a folder that somebody else made meanwhile, like the one that is wanted. */
export function makePlan(
  root: FolderNode,
  look: (path: string, wanted: Node | null) => 'file' | 'other' | 'join' | undefined,
): { readonly plan: Plan; readonly contents: readonly NewContent[] } {
  const takes = new Map<string, { slot: number; keep: boolean }>()
  const put: Put[] = []
  const contents: NewContent[] = []
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
  const putIn = (node: Node, path: string): void => {
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
        below(next.path, name),
        next.base === undefined ? undefined : below(next.base, name),
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
  const taken = [...takes].map(([from, { slot, keep }]): Take => ({
    from,
    slot,
    ...(keep && { keep }),
  }))
  // What lies in something that is taken out too has to go first.
  taken.sort((left, right) => right.from.split('/').length - left.from.split('/').length)
  const replaced = put.map((step): Put =>
    'blob' in step && takes.get(step.to)?.keep ? { ...step, replaces: true } : step,
  )
  return { plan: { version: 1, take: taken, put: replaced }, contents }
}

/** Whether the disk alone does not tell which steps were made: an empty slot may be one that nothing came into yet, or one that its content left again. */
export function isAmbiguous({ take, put }: Plan): boolean {
  const taken = new Set(take.map(({ from }) => from))
  return put.some((step) => 'slot' in step || ('folder' in step && taken.has(step.to)))
}

/** A plan as text. Only with its last character it is whole. */
export function writePlan(plan: Plan): string {
  return `${JSON.stringify(plan)}\n`
}

/** Reads a plan that a dead process left; `torn` where it was not written to its end, so that no step was made. It may have been written by anybody: undefined for everything that is none, or leads out of the root. */
export function readPlan(text: string): Plan | 'torn' | undefined {
  if (!text.endsWith('\n')) return 'torn'
  const value = parseObject(text)
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
  const isTake = (step: unknown): step is Take =>
    isObject(step) && isPath(step['from']) && isNumber(step['slot'])
  const isPut = (step: unknown): step is Put =>
    isObject(step) &&
    isPath(step['to']) &&
    [step['folder'] === true, isNumber(step['slot']), isNumber(step['blob'])].filter(Boolean)
      .length === 1
  return take.every(isTake) && put.every(isPut) ? { version: 1, take, put } : undefined
}

function isPath(path: unknown): boolean {
  try {
    const names = readPath(path)
    return names.length > 0 && names.join('/') === path
  } catch {
    return false
  }
}

function below(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}
