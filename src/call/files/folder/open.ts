import { realpathSync, statSync } from 'node:fs'
import type { Filesystem } from '../../../contract/filesystem.ts'
import type { Transactional } from '../../../contract/state.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import { readLimits } from '../options.ts'
import type { FolderFilesOptions } from '../options.ts'
import { FilesPart } from '../part.ts'
import { diskProblem } from '../problems.ts'
import { EMPTY_FOLDER } from '../tree.ts'
import type { Work } from '../work.ts'
import { openBase } from './base.ts'
import type { Seen } from './base.ts'
import { Disk } from './disk.ts'
import { recover, removeStage } from './recover.ts'
import { settle } from './settle.ts'
import { openStage } from './stage.ts'

/** Opens a folder, and takes back what a process left half done in it. Throws CONFIG where there is no folder. */
export function openFolder(
  given: string,
  { flush = false, ...options }: FolderFilesOptions,
): Transactional<Filesystem> {
  const limits = readLimits(options)
  const disk = new Disk(realRoot(given))
  mend(disk)
  return {
    begin({ readOnly }) {
      mend(disk)
      const seen: Seen | undefined = readOnly
        ? undefined
        : { things: new Map(), lists: new Map(), joined: [] }
      const stage = openStage(disk)
      const before = { ...EMPTY_FOLDER, origin: '' }
      const work: Work = {
        root: before,
        base: openBase(disk, seen),
        storage: stage.storage,
        readOnly,
        looked: new Set(),
        isOver: false,
      }
      const discard = async (): Promise<void> => {
        if (stage.isTried) await removeStage(disk, stage.folder)
      }
      return new FilesPart(work, limits, {
        async commit() {
          if (work.root !== before) return settle(disk, stage, work, seen!, flush)
          await discard()
          return undefined
        },
        discard,
      })
    },
  }
}

function mend(disk: Disk): void {
  if (!disk.isHalfDone) return
  try {
    recover(disk)
    disk.isHalfDone = false
  } catch (error) {
    throw diskProblem(error, 'take back the unfinished changes in', disk.root)
  }
}

function realRoot(given: string): string {
  try {
    const root = realpathSync(given)
    if (statSync(root).isDirectory()) return root
  } catch (error) {
    throw new ToolError(
      'CONFIG',
      `cannot offer the files of '${given}': ${(error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such folder' : (error as Error).message}`,
      { cause: error, suggestion: 'Give the path of a folder that is there' },
    )
  }
  throw new ToolError('CONFIG', `cannot offer the files of '${given}': it is no folder`, {
    suggestion: 'Give the path of a folder',
  })
}
