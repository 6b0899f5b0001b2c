import type { FoundLine, Page, PageOptions } from '../../contract/filesystem.ts'
import { shorten } from '../../contract/shorten.ts'
import { host } from '../host.ts'
import { compileGlob } from './glob.ts'
import type { Progress } from './glob.ts'
import { linesOf } from './lines.ts'
import type { FilesOptions } from './options.ts'
import { makePage, readPage } from './pages.ts'
import { pauses } from './pauses.ts'
import { openTester, tookTooLong } from './test-lines.ts'
import { children } from './tree.ts'
import type { FileNode, FolderNode } from './tree.ts'
import type { Work } from './work.ts'

type Limits = Required<FilesOptions>
type Files = Pick<Work, 'root' | 'base' | 'storage'>

const LONGEST_LINE = 1024 * 1024
const LONGEST_SHOWN = 1_000
const LINES_AT_ONCE = 5_000
const BEGINNING = 8 * 1024

/** The files whose path fits a pattern, by path. The tree is what it is now, whatever happens while it looks. */
export async function findFiles(
  { root, base }: Files,
  pattern: string,
  { maxSearchMs }: Limits,
  inTime = timer(maxSearchMs),
): Promise<readonly (readonly [path: string, file: FileNode])[]> {
  const glob = compileGlob(pattern)
  const found: (readonly [string, FileNode])[] = []
  const pause = pauses()
  const folders: (readonly [prefix: string, folder: FolderNode, progress: Progress])[] = [
    ['', root, glob.start],
  ]
  for (let next = folders.pop(); next; next = folders.pop()) {
    const [prefix, folder, progress] = next
    for (const [name, node] of listSafely(folder, base)) {
      if (node.kind === 'file') {
        if (glob.fits(glob.advance(progress, name))) found.push([prefix + name, node])
      } else {
        const inside = glob.advance(progress, `${name}/`)
        if (inside) folders.push([`${prefix}${name}/`, node, inside])
      }
    }
    inTime()
    await pause()
  }
  return found.sort(([left], [right]) => (left < right ? -1 : 1))
}

/** The lines of text files that hold a text or fit an expression. Files that look binary are passed over. */
export async function findLines(
  { root, base, storage }: Files,
  pattern: string | RegExp,
  limits: Limits,
  options: (PageOptions & { readonly glob?: string }) | undefined,
): Promise<Page<FoundLine>> {
  const files: Files = { root, base, storage }
  const { offset, limit } = readPage(options)
  const inTime = timer(limits.maxSearchMs)
  const test = await openTester(pattern, inTime)
  const pause = pauses()
  const items: FoundLine[] = []
  let total = 0
  let waiting: FoundLine[] = []
  const look = (): void => {
    for (const index of test(waiting.map(({ text }) => text))) {
      const { path, line, text } = waiting[index]!
      if (total >= offset && items.length < limit)
        items.push({ path, line, text: shorten(text, LONGEST_SHOWN) })
      total += 1
    }
    waiting = []
  }
  for (const [path, file] of await findFiles(files, options?.glob ?? '**', limits, inTime)) {
    let line = 0
    for (const { lines } of textOf(file, files)) {
      for (const text of lines) waiting.push({ path, line: (line += 1), text })
      if (waiting.length >= LINES_AT_ONCE) look()
      inTime()
      await pause()
    }
  }
  look()
  return makePage(items, total, offset)
}

// A folder that went away or may not be seen holds nothing to be found.
function listSafely(folder: FolderNode, base: Work['base']): ReturnType<typeof children>['nodes'] {
  try {
    return children(folder, base).nodes
  } catch {
    return []
  }
}

function* textOf(file: FileNode, { storage }: Files): ReturnType<typeof linesOf> {
  try {
    if (storage.read(file, 0, Math.min(BEGINNING, file.size)).includes(0)) return
    yield* linesOf(
      { size: file.size, read: (from, length) => storage.read(file, from, length) },
      LONGEST_LINE,
      new TextDecoder(),
    )
  } catch {
    /* a file that went away or may not be read holds nothing to be found */
  }
}

// Throws TIMEOUT when a search takes too long; gives the milliseconds that are left.
function timer(longest: number): () => number {
  const end = host.clock() + longest
  return () => {
    const left = Math.ceil(end - host.clock())
    if (left > 0) return left
    throw tookTooLong()
  }
}
