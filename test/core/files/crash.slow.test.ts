import { rmSync } from 'node:fs'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { diskFaults } from '../../../src/core/files/disk.ts'
import { folderFiles } from '../../../src/core/files/files.ts'
import { anyStep, perform, performPlainly, readDisk, readView, sorted, writeDisk } from './model.ts'
import type { Model, Step } from './model.ts'
import { makeRoot } from './roots.ts'
import { rounds } from '../../support/rounds.ts'

const CHANGES = '.toolable-changes'

afterEach(() => {
  diskFaults.before = undefined
})

// From that change of the disk on, nothing happens any more: as if the power was cut.
function dieAt(change: number): () => number {
  let count = 0
  diskFaults.before = () => {
    count += 1
    if (count >= change) throw new Error('dead')
  }
  return () => count
}

const visible = (root: string): [string, string | null][] =>
  sorted(readDisk(root)).filter(([path]) => !path.startsWith(CHANGES))
const openAgain = (root: string): Promise<unknown> =>
  folderFiles(root).begin({ readOnly: true }).view.list()

// Gives where it was when it died, if it did.
async function callUntilDead(
  root: string,
  steps: readonly Step[],
  takeItBack: boolean,
  change: number,
): Promise<{ readonly isDead: boolean; readonly stage: string }> {
  const part = folderFiles(root).begin({ readOnly: false })
  dieAt(change)
  let stage = 'steps'
  try {
    for (const step of steps)
      if (!['done', 'CONFLICT', 'NOT_FOUND'].includes(await perform(part.view, step)))
        return { isDead: true, stage }
    stage = 'commit'
    await part.commit()
    stage = 'end'
    await (takeItBack ? part.rollback() : part.end?.())
    return { isDead: false, stage }
  } catch {
    return { isDead: true, stage }
  } finally {
    diskFaults.before = undefined
  }
}

async function check(
  before: Model,
  steps: readonly Step[],
  takeItBack: boolean,
  deathsOfTheNext: (died: () => number) => Iterable<number>,
): Promise<void> {
  const after = new Map(before)
  for (const step of steps) performPlainly(after, step)
  for (let change = 1, isOver = false; !isOver; change += 1) {
    let diedAgain = 0
    for (const again of deathsOfTheNext(() => diedAgain)) {
      const root = makeRoot()
      writeDisk(root, before)
      const { isDead, stage } = await callUntilDead(root, steps, takeItBack, change)
      isOver = !isDead
      // The next one to open it mends it, and may die at it as well.
      const count = dieAt(again)
      await openAgain(root).catch(() => undefined)
      diedAgain = count()
      diskFaults.before = undefined
      await openAgain(root)
      const where = `died at change ${change} in ${stage}, then at ${again}`
      const found = visible(root)
      if (!isDead) expect(found).toEqual(takeItBack ? sorted(before) : sorted(after))
      else if (stage !== 'end' || takeItBack) expect(found, where).toEqual(sorted(before))
      else expect([sorted(before), sorted(after)], where).toContainEqual(found)
      rmSync(root, { recursive: true })
    }
  }
}

describe('a process that dies in the middle of a call', () => {
  test('at any change of the disk leaves a folder that is as before or, when the commit was over, as after [8.files-killed] [8.files-journal]', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyStep, { maxLength: 6 }),
        fc.array(anyStep, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        fc.integer({ min: 1, max: 8 }),
        async (first, steps, takeItBack, again) => {
          const before: Model = new Map()
          for (const step of first) performPlainly(before, step)
          await check(before, steps, takeItBack, () => [again])
        },
      ),
      { numRuns: rounds(10) },
    )
  }, 300_000)

  test('also when the next one dies at any point while it mends that, in a call that does everything [8.files-journal]', async () => {
    const before: Model = new Map([
      ['a', 'a'],
      ['b', 'b'],
      ['d', null],
      ['d/x', 'x'],
      ['e', null],
    ])
    const steps: Step[] = [
      { do: 'move', path: 'a', to: 't' },
      { do: 'move', path: 'b', to: 'a' },
      { do: 'move', path: 't', to: 'b' },
      { do: 'move', path: 'd', to: 'f/d' },
      { do: 'append', path: 'f/d/x', text: '!' },
      { do: 'makeFolder', path: 'd' },
      { do: 'remove', path: 'e', recursive: false },
      { do: 'write', path: 'e', text: 'now a file' },
    ]
    await check(before, steps, false, function* (died) {
      let again = 0
      do yield (again += 1)
      while (died() >= again)
    })
  }, 300_000)

  test('a disk that fails for a while: what could not be taken back at once is taken back before anybody looks again [8.files-journal]', async () => {
    const before: Model = new Map([
      ['a', 'a'],
      ['b', null],
      ['b/c', 'c'],
    ])
    const after: Model = new Map([
      ['a', 'A'],
      ['d', null],
      ['d/c', 'c'],
    ])
    const outcomes = new Set<string>()
    for (let change = 1, isOver = false; !isOver; change += 1) {
      const root = makeRoot()
      writeDisk(root, before)
      const files = folderFiles(root)
      const part = files.begin({ readOnly: false })
      await part.view.write('a', 'A')
      await part.view.move('b', 'd')
      dieAt(change)
      const outcome = await Promise.resolve(part.commit())
        .then(() => part.end?.())
        .then(
          () => 'done',
          (error: { code: string }) => error.code,
        )
      diskFaults.before = undefined
      if (outcome !== 'done') await part.rollback()
      outcomes.add(outcome)
      isOver = outcome === 'done' && sorted(readDisk(root)).length === 3
      const { view } = files.begin({ readOnly: true })
      expect(sorted(await readView(view)), `failed from change ${change} on: ${outcome}`).toEqual(
        sorted(outcome === 'done' ? after : before),
      )
      // Nobody waits for a lock that was forgotten.
      const next = files.begin({ readOnly: false })
      await next.view.write('e', 'e')
      await next.commit()
      await next.end?.()
      rmSync(root, { recursive: true })
    }
    expect(outcomes).toEqual(new Set(['INTERNAL', 'done']))
  })
})
