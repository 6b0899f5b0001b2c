import { openLate } from './late.ts'
import type { MemoryFiles, MemoryFilesInput, MemoryFilesJson } from './memory/memory-type.ts'
import type { MemoryFilesOptions } from './options.ts'

/** Files in memory that roll back when a call fails. A call that fails costs nothing, because trees share all that is the same in them. */
export function memoryFiles(
  initial: MemoryFilesInput = {},
  options: MemoryFilesOptions = {},
): MemoryFiles {
  const late = openLate(async () => {
    const { openMemory } = await import('./memory/open.ts')
    return openMemory(initial, options)
  })
  return { begin: late.begin, toJSON: () => late.opened()?.toJSON() ?? asJson(initial) }
}

function asJson({ files = {}, folders = [] }: MemoryFilesInput): MemoryFilesJson {
  const texts = Object.entries(files).map(
    ([path, content]) =>
      [
        path,
        content instanceof Uint8Array
          ? { base64: Buffer.from(content).toString('base64') }
          : content,
      ] as const,
  )
  return { version: 1, files: Object.fromEntries(texts), folders }
}
