import type { Page, PageOptions } from '../../contract/filesystem.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { linesOf } from './lines.ts'
import { makePage, readPage } from './pages.ts'
import { otherKind } from './problems.ts'
import { pauses } from './pauses.ts'
import type { FilesOptions } from './options.ts'
import type { FileNode } from './tree.ts'
import type { Storage } from './work.ts'

type Limits = Required<FilesOptions>

/** All bytes of a file. Throws OUTPUT_LIMIT where there are too many. */
export function readBytes(
  path: string,
  file: FileNode,
  storage: Storage,
  { maxBytes }: Limits,
): Uint8Array {
  if (file.size > maxBytes)
    throw tooLong(
      `'${path}' has ${file.size} bytes, more than the ${maxBytes} that are read at once`,
    )
  return storage.read(file, 0, file.size)
}

/** All of a file as text. Throws CONFLICT where it is no UTF-8: what is not read rightly would be written back broken. */
export function readText(path: string, file: FileNode, storage: Storage, limits: Limits): string {
  const bytes = readBytes(path, file, storage, limits)
  return decoding(path, () => decoder().decode(bytes))
}

/** Some lines of a file, however long it is; fewer than wanted where they would be too many bytes together. */
export async function readLines(
  path: string,
  file: FileNode,
  storage: Storage,
  { maxBytes }: Limits,
  wanted: PageOptions | undefined,
): Promise<Page<string>> {
  const { offset, limit } = readPage(wanted)
  const items: string[] = []
  const pause = pauses()
  let [total, bytes] = [0, 0]
  const batches = linesOf(
    { size: file.size, read: (from, length) => storage.read(file, from, length) },
    maxBytes,
    decoder(),
  )
  for (
    let batch = decoding(path, () => batches.next());
    batch.done !== true;
    batch = decoding(path, () => batches.next())
  ) {
    for (const line of batch.value.lines) {
      const index = total++
      // What has no room ends the page: the lines of a page follow each other.
      if (index < offset || items.length >= limit || index !== offset + items.length) continue
      bytes += line.length
      if (bytes <= maxBytes && line.length < maxBytes) items.push(line)
      else if (items.length === 0)
        throw tooLong(
          `line ${index + 1} of '${path}' has more than the ${maxBytes} characters that are read at once`,
        )
    }
    await pause()
  }
  return makePage(items, total, offset)
}

const decoder = (): InstanceType<typeof TextDecoder> =>
  new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decoding<Value>(path: string, decode: () => Value): Value {
  try {
    return decode()
  } catch (error) {
    if (ToolError.is(error)) throw error
    throw otherKind(path, 'is no UTF-8 text', 'Read its bytes instead')
  }
}

function tooLong(message: string): ToolError {
  return new ToolError('OUTPUT_LIMIT', message, {
    recoverable: true,
    suggestion: 'Read a part of it by lines, with offset and limit',
  })
}
