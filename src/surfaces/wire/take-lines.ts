import { onAbort } from '../../call/on-abort.ts'
import type { Io } from '../../contract/io.ts'
import { LineCutter } from './line-cutter.ts'
import type { Writer } from './writer.ts'

/** Hands over each line of stdin until it ends or the signal aborts; takes no more while the reader of our answers is far behind. */
export async function takeLines(
  io: Io,
  signal: AbortSignal,
  writer: Pick<Writer, 'congested' | 'drained'>,
  take: (line: Buffer | 'too long') => void,
): Promise<void> {
  const cutter = new LineCutter()
  const stopReading = onAbort(signal, () => io.stdin.close())
  try {
    const cut = (chunk: Uint8Array): Promise<void> | undefined => {
      for (const line of cutter.take(chunk)) take(line)
      return writer.congested ? writer.drained() : undefined
    }
    if (io.stdin.each) await io.stdin.each(cut)
    else for await (const chunk of io.stdin.bytes()) await cut(chunk)
    const last = cutter.end()
    if (last) take(last)
  } finally {
    stopReading()
  }
}
