import { rmSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createState, folderFiles, memoryFiles } from 'toolable'
import type { MemoryFilesJson, Outcome, State } from 'toolable'
import { readDisk, sorted } from '../files/model.ts'
import { makeRoot } from '../files/roots.ts'
import { actPlainly, anySequence, copy, make, read, touches } from './model.ts'
import type { Action, End, Files, Plain, Round } from './model.ts'
import { gate } from './support.ts'
import { rounds } from '../../support/rounds.ts'

// 10,000 sequences in all. Nine thousand six hundred of them work on files in memory, because a
// commit to a folder costs a hundred times as much.
const IN_MEMORY = 9600
const IN_A_FOLDER = 400

test(
  `[8.state-property] ${IN_MEMORY} sequences of calls on three slices and files in memory`,
  { timeout: 300_000 },
  () =>
    fc.assert(
      fc.asyncProperty(anySequence, async (sequence) => {
        const files = memoryFiles()
        await follow(createState({ filesystem: files }), sequence, () => filesOf(files.toJSON()))
      }),
      { numRuns: rounds(IN_MEMORY) },
    ),
)

test(
  `[8.state-property] ${IN_A_FOLDER} sequences of calls on three slices and a folder`,
  { timeout: 300_000 },
  () =>
    fc.assert(
      fc.asyncProperty(anySequence, async (sequence) => {
        const root = makeRoot()
        await follow(createState({ filesystem: folderFiles(root) }), sequence, () => readDisk(root))
        rmSync(root, { recursive: true })
      }),
      { numRuns: rounds(IN_A_FOLDER) },
    ),
)

async function follow(
  state: State,
  sequence: readonly Round[],
  readFiles: () => Files,
): Promise<void> {
  let plain: Plain = { order: [], items: [], trail: [], files: new Map() }
  let number = 0
  for (const round of sequence) {
    const began = copy(plain)
    const all = gate()
    let arrived = 0
    const log: number[] = []
    const meet = (): Promise<void> => {
      if (++arrived >= round.length) all.open()
      return all.passed
    }
    const first = number + 1
    const made = await Promise.all(
      round.map((wanted) => make(state, ++number, wanted, (entry) => void log.push(entry), meet)),
    )
    const found = read(state)
    for (const [index, { outcome }] of made.entries())
      judge(outcome, round, index, found.order.includes(first + index))
    for (const done of found.order.slice(began.order.length))
      plain = commit(plain, began, done, round[done - first]!.actions, made[done - first]!.said)
    plain.trail.push(...log)
    same({ ...found, files: sorted(readFiles()) }, { ...plain, files: sorted(plain.files) })
  }
}

const CODES: { readonly [end in End]?: string } = {
  failure: 'INTERNAL',
  throw: 'INTERNAL',
  output: 'INTERNAL',
  timeout: 'TIMEOUT',
  abort: 'CANCELLED',
  subscriber: 'INTERNAL',
}

// What succeeded is there, and nothing else is. Only what meets another call may be a conflict.
function judge(outcome: Outcome, round: Round, index: number, isThere: boolean): void {
  same(outcome.ok, isThere)
  const { end, actions } = round[index]!
  const code = outcome.ok ? undefined : outcome.error.code
  const meets = (mine: 'replace' | 'files', theirs: 'items' | 'files'): boolean =>
    touches(actions, mine) &&
    round.some(
      (other, place) =>
        place !== index && other.end === 'success' && touches(other.actions, theirs),
    )
  if (code === 'CONFLICT' && (meets('replace', 'items') || meets('files', 'files'))) return
  same(code, CODES[end])
}

// One call after the other, in the order of their commits. What a call was told about files must be
// true there where it changed some, else when it began.
function commit(
  plain: Plain,
  began: Plain,
  number: number,
  actions: readonly Action[],
  said: readonly string[],
): Plain {
  if (touches(actions, 'replace')) same(plain.items, began.items)
  const next = copy(plain)
  const expected = actPlainly(next, actions)
  if (!said.includes('done')) next.files = plain.files
  same(
    said.map(isDone),
    (said.includes('done') ? expected : actPlainly(copy(began), actions)).map(isDone),
  )
  next.order.push(number)
  return next
}

// There is no `a/b` where there is no `a`, and neither where `a` has become a file: that is no
// conflict, although it is told with another code.
function isDone(said: string): boolean {
  return said === 'done'
}

function same(found: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(found, wanted)) expect(found).toStrictEqual(wanted)
}

function filesOf({ files, folders }: MemoryFilesJson): Files {
  const model: Files = new Map(Object.entries(files) as [string, string][])
  for (const path of [...Object.keys(files), ...folders.map((folder) => `${folder}/`)])
    path.split('/').forEach((_, index, all) => {
      if (index > 0) model.set(all.slice(0, index).join('/'), null)
    })
  return model
}
