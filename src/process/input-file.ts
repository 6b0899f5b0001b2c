import { openMemoryFile } from './memory-file.ts'

const LARGEST = 1024 * 1024

/**
 * A descriptor from which a child reads that input, then its end. Unlike the sockets that Node makes it can be opened as /dev/stdin, and nobody has to feed it.
 * Undefined where the input is large or the system has no such place; then a pipe has to do.
 */
export function holdInput(input: string | Uint8Array): number | undefined {
  const bytes = typeof input === 'string' ? Buffer.from(input) : input
  return bytes.length > LARGEST ? undefined : openMemoryFile(bytes)
}
