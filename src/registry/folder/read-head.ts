import { closeSync, openSync, readSync } from 'node:fs'
import { IN_FILE_BYTES } from '../manifests/in-file-bytes.ts'

/** How a file begins: as much as can hold a manifest. Throws what opening it throws. */
export function readHead(path: string, bytes = IN_FILE_BYTES): string {
  const file = openSync(path, 'r')
  try {
    const head = Buffer.allocUnsafe(bytes)
    return head.toString('utf8', 0, readSync(file, head, 0, head.length, 0))
  } finally {
    closeSync(file)
  }
}
