import { Turns } from '../../state/turns.ts'
import { checkLooked, merge } from '../merge.ts'
import { readLimits } from '../options.ts'
import type { FilesOptions } from '../options.ts'
import { FilesPart } from '../part.ts'
import { NO_BASE } from '../tree.ts'
import type { Work } from '../work.ts'
import { readTree, writeTree } from './json.ts'
import type { MemoryFiles, MemoryFilesInput } from './memory-type.ts'
import { memoryStorage } from './storage.ts'

/** Opens files in memory. */
export function openMemory(initial: MemoryFilesInput, options: FilesOptions): MemoryFiles {
  const limits = readLimits(options)
  const turns = new Turns()
  let root = readTree(initial)
  return {
    begin({ readOnly }) {
      const before = root
      const work: Work = { root: before, base: NO_BASE, storage: memoryStorage, readOnly, looked: new Set(), isOver: false }
      return new FilesPart(work, limits, {
        async commit() {
          if (work.root === before) return undefined
          // Until it is ended nobody else commits, so that it can be taken back.
          const done = await turns.take()
          const last = root
          try {
            checkLooked(work.looked, before, last, NO_BASE)
            root = merge(before, work.root, last)
          } catch (error) {
            done()
            throw error
          }
          return { undo() { root = last; done() }, end: done }
        },
        discard: () => undefined,
      })
    },
    toJSON: () => writeTree(root),
  }
}
