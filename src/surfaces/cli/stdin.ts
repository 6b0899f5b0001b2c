import type { ByteSource } from '../../contract/io.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { Stopping } from '../../call/cancellation.ts'
import { untilAborted } from '../../call/running.ts'

/** How long a pipe that stays silent is waited for when input may or may not come. */
export const FIRST_BYTE_MS = 300
const LARGEST_INPUT = 256 * 1024 * 1024

/** Reads all of stdin as text. With `firstByteWithin`, gives undefined when nothing came in that time, or nothing at all. Throws INVALID_INPUT for invalid UTF-8. */
export async function readAll(
  stdin: ByteSource,
  options: { readonly firstByteWithin?: number; readonly signal?: Stopping } = {},
): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  const iterator = stdin.bytes()[Symbol.asyncIterator]()
  const { signal } = options
  const next = (): Promise<IteratorResult<Uint8Array>> =>
    signal ? untilAborted(signal, () => iterator.next()) : iterator.next()
  const first = await withTimeout(next(), options.firstByteWithin)
  if (first === 'late') {
    stdin.close()
    return undefined
  }
  for (let step = first; !step.done; step = await next()) {
    chunks.push(step.value)
    size += step.value.length
    if (size > LARGEST_INPUT)
      throw new ToolError(
        'INVALID_INPUT',
        `the input on stdin is larger than ${LARGEST_INPUT} bytes`,
        { details: { source: 'stdin' } },
      )
  }
  if (size === 0 && options.firstByteWithin !== undefined) return undefined
  return decode(chunks)
}

function decode(chunks: readonly Uint8Array[]): string {
  const bytes = Buffer.concat(chunks)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ToolError(
      'INVALID_INPUT',
      `the input on stdin is not valid UTF-8 (at byte ${firstBadByte(bytes)})`,
      { details: { source: 'stdin' }, suggestion: 'Send JSON encoded as UTF-8' },
    )
  }
}

// Decoding and encoding again changes the first byte that was not valid.
function firstBadByte(bytes: Buffer): number {
  const again = Buffer.from(bytes.toString('utf8'))
  let index = 0
  while (index < bytes.length && bytes[index] === again[index]) index++
  return index
}

async function withTimeout<T>(
  promise: Promise<T>,
  milliseconds: number | undefined,
): Promise<T | 'late'> {
  if (milliseconds === undefined) return promise
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), milliseconds)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
