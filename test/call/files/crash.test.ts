import { rmSync } from 'node:fs'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { faults } from '../../../src/call/files/folder/disk.ts'
import { folderFiles } from '../../../src/call/files/folder-files.ts'
import { makeFolder } from '../../support/run-program.ts'
import { anyStep, perform, performPlainly, readDisk, sorted, writeDisk } from './model.ts'
import type { Model } from './model.ts'

const CHANGES = '.toolable-changes'

afterEach(() => { faults.before = undefined })

// From that change of the disk on, nothing happens any more: as if the power was cut.
function dieAt(change: number): () => number {
  let count = 0
  faults.before = () => {
    count += 1
    if (count >= change) throw new Error('dead')
  }
  return () => count
}

const visible = (root: string): [string, string | null][] => sorted(readDisk(root)).filter(([path]) => !path.startsWith(CHANGES))
const openAgain = (root: string): Promise<unknown> => folderFiles(root).begin({ readOnly: true }).view.list()

describe('a process that dies in the middle of a call', () => {
  test('at any change of the disk leaves a folder that is as before or, when the commit was over, as after, also when the next one dies while it mends that [8.files-killed] [8.files-journal]', async () => {
    await fc.assert(fc.asyncProperty(fc.array(anyStep, { maxLength: 6 }), fc.array(anyStep, { minLength: 1, maxLength: 6 }), fc.boolean(), fc.nat({ max: 6 }), async (first, steps, takeItBack, again) => {
      const before: Model = new Map()
      for (const step of first) performPlainly(before, step)
      const after = new Map(before)
      for (const step of steps) performPlainly(after, step)
      for (let change = 1, isDead = true; isDead; change += 1) {
        const root = makeFolder()
        writeDisk(root, before)
        const part = folderFiles(root).begin({ readOnly: false })
        dieAt(change)
        let stage = 'steps'
        isDead = await (async () => {
          for (const step of steps) if (!['done', 'CONFLICT', 'NOT_FOUND'].includes(await perform(part.view, step))) return true
          stage = 'commit'
          await part.commit()
          stage = 'end'
          await (takeItBack ? part.rollback() : part.end?.())
          return false
        })().catch(() => true)
        // The next process mends it, and may die at it as well.
        dieAt(again + 1)
        await openAgain(root).catch(() => undefined)
        faults.before = undefined
        await openAgain(root)
        const found = visible(root)
        if (stage !== 'end' || takeItBack) expect(found, `died at change ${change} in ${stage}`).toEqual(sorted(before))
        else expect([sorted(before), sorted(after)], `died at change ${change} in ${stage}`).toContainEqual(found)
        if (!isDead) expect(found).toEqual(takeItBack ? sorted(before) : sorted(after))
        rmSync(root, { recursive: true })
      }
    }), { numRuns: 12 })
  }, 300_000)
})
