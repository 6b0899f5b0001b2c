import { closeSync } from 'node:fs'
import { openMemoryFile, reopen } from '../../memory-file.ts'

const FIRST = 3

/** What bubblewrap gets by descriptor. */
export type Descriptors = {
  /** The number under which bubblewrap reads these bytes. Throws where the system has no files in memory. */
  bytes(content: Uint8Array): string
  /** The same for what is the same in every sandbox. */
  text(content: string, encoding?: BufferEncoding): string
  /** The number of a pipe to us. */
  pipe(): number
  readonly all: readonly (number | 'pipe')[]
  /** Where nothing was started after all. */
  giveUp(): void
}

const kept = new Map<string, number>()
/** Contents that never change are few; this bounds those that do. */
const MOST_KEPT = 32

/** Collects the descriptors of one sandbox. */
export function collectDescriptors(): Descriptors {
  const all: (number | 'pipe')[] = []
  const add = (descriptor: number | 'pipe'): number => FIRST - 1 + all.push(descriptor)
  const write = (content: Uint8Array): number => {
    const file = openMemoryFile(content)
    if (file === undefined) throw new Error('/dev/shm cannot be written')
    return file
  }
  return {
    all,
    bytes: (content) => String(add(write(content))),
    text: (content, encoding = 'utf8') => {
      const file = kept.get(content) ?? write(Buffer.from(content, encoding))
      if (kept.has(content) || kept.size < MOST_KEPT) {
        kept.set(content, file)
        return String(add(reopen(file)))
      }
      return String(add(file))
    },
    pipe: () => add('pipe'),
    giveUp: () =>
      all.forEach((descriptor) => typeof descriptor === 'number' && closeSync(descriptor)),
  }
}
