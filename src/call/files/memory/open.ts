import { ToolError } from '../../../contract/tool-error.ts'
import { Turns } from '../../state/turns.ts'
import { checkLooked, merge } from '../merge.ts'
import { readLimit, readLimits } from '../options.ts'
import type { MemoryFilesOptions } from '../options.ts'
import { FilesPart } from '../part.ts'
import { NO_BASE } from '../tree.ts'
import type { FolderNode } from '../tree.ts'
import type { Storage, Work } from '../work.ts'
import { readTree, writeTree } from './json.ts'
import type { MemoryFiles, MemoryFilesInput } from './memory-type.ts'
import { memoryStorage } from './storage.ts'

const MOST_BYTES = 256 * 1024 * 1024

/** Opens files in memory. Throws DISK_FULL where they are more than there is room for. */
export function openMemory(
  initial: MemoryFilesInput,
  { maxTotalBytes = MOST_BYTES, ...options }: MemoryFilesOptions,
): MemoryFiles {
  const limits = readLimits(options)
  const most = readLimit('maxTotalBytes', maxTotalBytes)
  const checkRoom = ({ weight }: FolderNode): void => {
    if (weight > most) throw noRoom(weight, most)
  }
  const storage: Storage = { ...memoryStorage, checkRoom }
  const turns = new Turns()
  let root = readTree(initial)
  checkRoom(root)
  return {
    begin({ readOnly }) {
      const before = root
      const work: Work = {
        root: before,
        base: NO_BASE,
        storage,
        readOnly,
        looked: new Set(),
        isOver: false,
      }
      return new FilesPart(work, limits, {
        async commit() {
          if (work.root === before) return undefined
          // Until it is ended nobody else commits, so that it can be taken back.
          const done = await turns.take()
          const last = root
          try {
            checkLooked(work.looked, before, last, NO_BASE)
            const merged = merge(before, work.root, last)
            // Others may have taken the room meanwhile.
            checkRoom(merged)
            root = merged
          } catch (error) {
            done()
            throw error
          }
          return {
            undo() {
              root = last
              done()
            },
            end: done,
          }
        },
        discard: () => undefined,
      })
    },
    toJSON: () => writeTree(root),
  }
}

function noRoom(wanted: number, most: number): ToolError {
  return new ToolError(
    'DISK_FULL',
    `the files in memory would have ${wanted} bytes, more than the ${most} that there is room for`,
    {
      details: { limit: most, wanted },
      suggestion: 'Remove files that nobody needs, or give memoryFiles() a larger maxTotalBytes',
    },
  )
}
