import type { Blob, FileNode } from '../tree.ts'
import type { Storage } from '../work.ts'

const SMALLEST = 64

// What is appended lies behind what others see, so that they can share the bytes.
class Growing implements Blob {
  readonly id = 0
  constructor(
    public bytes: Uint8Array,
    public used: number,
  ) {}
}

/** Keeps contents in memory. Appending costs what is appended, however long the file is. */
export const memoryStorage: Omit<Storage, 'checkRoom'> = {
  // A copy: the caller's bytes may change.
  create: (bytes) => new Growing(Uint8Array.from(bytes), bytes.length),
  copy: () => {
    throw new Error('there is nothing below files in memory')
  },
  checkWritable: () => undefined,
  grow(blob, size, bytes) {
    let own = blob as Growing
    if (own.used !== size || own.bytes.length < size + bytes.length) {
      const room = new Uint8Array(Math.max(SMALLEST, 2 * (size + bytes.length)))
      room.set(own.bytes.subarray(0, size))
      own = new Growing(room, size)
    }
    own.bytes.set(bytes, size)
    own.used = size + bytes.length
    return own
  },
  read: (file: FileNode, offset, length) =>
    (file.blob as Growing).bytes.slice(offset, Math.min(offset + length, file.size)),
}
