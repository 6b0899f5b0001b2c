import { rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const BYTES = 8192

/** Space that is kept beside a log, so that the end of a run can be written on a disk that is full. Without room for it there is none, which is no failure. */
export function openReserve(log: string): { release(): void } {
  const file = join(dirname(log), 'reserve')
  const release = (): void => {
    try {
      rmSync(file, { force: true })
    } catch {
      /* then there is no space to gain */
    }
  }
  try {
    writeFileSync(file, Buffer.alloc(BYTES, 0x20), { mode: 0o600 })
  } catch {
    release()
  }
  return { release }
}
