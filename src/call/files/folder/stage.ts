import { ToolError } from '../../../contract/tool-error.ts'
import { CHANGES_FOLDER } from '../path.ts'
import { diskProblem } from '../problems.ts'
import type { Storage } from '../work.ts'
import { ignoring } from './disk.ts'
import type { Disk } from './disk.ts'
import { ourselves } from './owner.ts'

const MOST_TRIES = 50

/** The private place of one call, where its contents wait. It is made when something is written. */
export type Stage = {
  readonly folder: string
  /** Whether anything of it may be on the disk. */ readonly isTried: boolean
  readonly storage: Storage
  /** Makes it, where nothing was written. */ make(): void
  /** Leaves it where it is: it holds what the next one needs. */ leaveBehind(): void
}

// Threads of one process have its number in common, and each counts for itself.
let counter = Math.floor(Math.random() * 1e9)

/** Names a place for the changes of one call. */
export function openStage(disk: Disk): Stage {
  const folder = `${CHANGES_FOLDER}/${ourselves()}-${counter++}`
  let [isTried, isMade] = [false, false]
  let blobs = 0
  const make = (): void => {
    if (isMade) return
    isTried = true
    makeStage(disk, folder)
    isMade = true
  }
  // What was written of a content that has no room only takes the room away.
  const writing = (name: string, write: () => void): void => {
    try {
      make()
      write()
    } catch (error) {
      ignoring(['ENOENT', 'ENOTDIR'], () => disk.remove(name))
      throw diskProblem(error, 'keep a change in', CHANGES_FOLDER)
    }
  }
  return {
    folder,
    get isTried() {
      return isTried
    },
    make,
    leaveBehind() {
      isTried = false
    },
    storage: {
      create(bytes) {
        const id = blobs++
        const name = blobPath(folder, id)
        writing(name, () => disk.write(name, bytes))
        return { id }
      },
      copy(origin) {
        const id = blobs++
        const name = blobPath(folder, id)
        writing(name, () => disk.copy(origin, name))
        return { blob: { id }, size: disk.look(name)!.size }
      },
      grow(blob, size, bytes) {
        try {
          disk.write(blobPath(folder, blob.id), bytes, { offset: size })
        } catch (error) {
          throw diskProblem(error, 'keep a change in', CHANGES_FOLDER)
        }
        return blob
      },
      checkWritable(origin) {
        try {
          disk.checkWritable(origin)
        } catch (error) {
          throw diskProblem(error, 'write', origin)
        }
      },
      // The disk says so itself when something is written.
      checkRoom: () => undefined,
      read(file, offset, length) {
        const path = file.blob ? blobPath(folder, file.blob.id) : file.origin
        try {
          return disk.read(path, offset, length)
        } catch (error) {
          throw diskProblem(error, 'read', path)
        }
      },
    },
  }
}

/** Where a content lies that a call wrote. */
export function blobPath(folder: string, id: number): string {
  return `${folder}/new-${id}`
}

/** Where something lies that was taken out of the root. */
export function slotPath(folder: string, slot: number): string {
  return `${folder}/old-${slot}`
}

/** Makes the place of all changes. */
export function makeChangesFolder(disk: Disk): void {
  try {
    disk.makeFolder(CHANGES_FOLDER)
    disk.write(`${CHANGES_FOLDER}/.gitignore`, Buffer.from('*\n'))
  } catch (error) {
    // Somebody else made it, or already took it away again.
    if (!['EEXIST', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

function makeStage(disk: Disk, folder: string): void {
  for (let tries = 1; ; tries += 1) {
    makeChangesFolder(disk)
    try {
      return disk.makeFolder(folder, 0o700)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOTDIR' || code === 'ELOOP')
        throw new ToolError(
          'CONFIG',
          `'${CHANGES_FOLDER}' in ${disk.root} is no folder, and changes have to wait there`,
          {
            cause: error,
            suggestion: `Look at it, then remove it: rm '${disk.root}/${CHANGES_FOLDER}'`,
          },
        )
      if (code !== 'ENOENT' || tries >= MOST_TRIES) throw error
    }
  }
}
