import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import type { Filesystem } from '../../../src/protocol/state.ts'

/** Files in the plainest form: texts by path, null for folders. */
export type Model = Map<string, string | null>

/** One thing that a call does. */
export type Step =
  | { readonly do: 'write' | 'append'; readonly path: string; readonly text: string }
  | { readonly do: 'remove'; readonly path: string; readonly recursive: boolean }
  | { readonly do: 'move'; readonly path: string; readonly to: string }
  | { readonly do: 'makeFolder'; readonly path: string }

const path = fc
  .array(fc.constantFrom('a', 'b', 'c', 'ä b'), { minLength: 1, maxLength: 3 })
  .map((names) => names.join('/'))
const text = fc.string({ maxLength: 5, unit: 'grapheme' })

/** Steps that meet each other often, because there are few names. */
export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('write', 'append'), path, text }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remove'), path, recursive: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('move'), path, to: path }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('makeFolder'), path }) },
)

/** Does a step to real files; gives the code of its failure. */
export async function perform(view: Filesystem, step: Step): Promise<string> {
  try {
    if (step.do === 'move') await view.move(step.path, step.to)
    else if (step.do === 'remove') await view.remove(step.path, { recursive: step.recursive })
    else if (step.do === 'makeFolder') await view.makeFolder(step.path)
    else await view[step.do](step.path, step.text)
    return 'done'
  } catch (error) {
    return (error as { code: string }).code
  }
}

/** Does a step to the model; gives what real files have to say about it. */
export function performPlainly(model: Model, step: Step): string {
  const throughFile = (names: string): boolean =>
    names
      .split('/')
      .some(
        (_, index, all) =>
          index > 0 && typeof model.get(all.slice(0, index).join('/')) === 'string',
      )
  const makeWay = (names: string): void =>
    names.split('/').forEach((_, index, all) => {
      if (index > 0) model.set(all.slice(0, index).join('/'), null)
    })
  const below = (names: string): string[] =>
    [...model.keys()].filter((key) => key.startsWith(`${names}/`))
  if (throughFile(step.path)) return 'CONFLICT'
  const there = model.get(step.path)
  if (step.do === 'makeFolder') {
    if (typeof there === 'string') return 'CONFLICT'
    makeWay(`${step.path}/`)
  } else if (step.do === 'remove') {
    if (there === undefined) return 'NOT_FOUND'
    if (!step.recursive && below(step.path).length > 0) return 'CONFLICT'
    for (const key of [step.path, ...below(step.path)]) model.delete(key)
  } else if (step.do === 'move') {
    if (there === undefined) return 'NOT_FOUND'
    if (`${step.to}/`.startsWith(`${step.path}/`) || throughFile(step.to) || model.has(step.to))
      return 'CONFLICT'
    makeWay(step.to)
    for (const key of [step.path, ...below(step.path)]) {
      model.set(step.to + key.slice(step.path.length), model.get(key)!)
      model.delete(key)
    }
  } else {
    if (there === null) return 'CONFLICT'
    makeWay(step.path)
    model.set(step.path, step.do === 'append' ? (there ?? '') + step.text : step.text)
  }
  return 'done'
}

/** All that a view shows, as a model. */
export async function readView(
  view: Filesystem,
  folder = '.',
  model: Model = new Map(),
): Promise<Model> {
  for (const { path: found, kind, size } of (await view.list(folder)).items) {
    if (kind === 'folder') await readView(view, found, model.set(found, null))
    else {
      const content = await view.readText(found)
      if (Buffer.byteLength(content) !== size) throw new Error(`the size of ${found} is wrong`)
      model.set(found, content)
    }
  }
  return model
}

/** All that lies in a folder of the disk, as a model; also what nobody should see. */
export function readDisk(root: string, folder = '', model: Model = new Map()): Model {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const found = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) readDisk(root, found, model.set(found, null))
    else model.set(found, readFileSync(join(root, found), 'utf8'))
  }
  return model
}

/** Makes a folder of the disk what a model says. */
export function writeDisk(root: string, model: Model): void {
  for (const [found, content] of model) {
    mkdirSync(content === null ? join(root, found) : dirname(join(root, found)), {
      recursive: true,
    })
    if (content !== null) writeFileSync(join(root, found), content)
  }
}

/** A model in the order of its paths, to be compared. */
export function sorted(model: Model): [string, string | null][] {
  return [...model].sort(([left], [right]) => (left < right ? -1 : 1))
}
