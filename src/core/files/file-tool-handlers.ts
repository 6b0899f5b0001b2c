/**
 * The handlers of `fileTools`, with a suggestion in every refusal.
 */

import type { FileEntry, Filesystem, FoundLine, Page } from '../../protocol/state.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { escapeRegExp, findClosest } from '../../util/text.ts'
import { compact } from '../../util/values.ts'

type PagedInput = { readonly offset: number; readonly limit: number }
type PageInfo = { readonly total: number; readonly next?: number }

/** What each tool does. */
export type FileToolHandlers = {
  read_file(
    input: PagedInput & { readonly path: string },
    files: Filesystem,
  ): Promise<
    PageInfo & {
      readonly path: string
      /** The number of the first line, from 1. */ readonly line: number
      readonly text: string
    }
  >
  write_file(
    input: { readonly path: string; readonly content: string },
    files: Filesystem,
  ): Promise<{ readonly path: string; readonly bytes: number; readonly created: boolean }>
  edit_file(
    input: {
      readonly path: string
      readonly old: string
      readonly new: string
      readonly all: boolean
    },
    files: Filesystem,
  ): Promise<{
    readonly path: string
    readonly replaced: number
    readonly lines: readonly number[]
  }>
  list_files(
    input: PagedInput & { readonly path: string },
    files: Filesystem,
  ): Promise<PageInfo & { readonly entries: readonly FileEntry[] }>
  find_files(
    input: PagedInput & { readonly pattern: string },
    files: Filesystem,
  ): Promise<PageInfo & { readonly entries: readonly FileEntry[] }>
  search_files(
    input: PagedInput & {
      readonly pattern: string
      readonly regex: boolean
      readonly ignore_case: boolean
      readonly glob?: string
    },
    files: Filesystem,
  ): Promise<PageInfo & { readonly lines: readonly FoundLine[] }>
  remove_file(
    input: { readonly path: string; readonly recursive: boolean },
    files: Filesystem,
  ): Promise<{ readonly path: string }>
  move_file(
    input: { readonly path: string; readonly to: string },
    files: Filesystem,
  ): Promise<{ readonly path: string; readonly to: string }>
}

export const fileToolHandlers: FileToolHandlers = {
  async read_file({ path, ...page }, files) {
    const found = await files.readLines(path, page)
    return { path, line: page.offset + 1, text: found.items.join('\n'), ...getPageInfo(found) }
  },
  async write_file({ path, content }, files) {
    const created = (await files.stat(path)) === undefined
    await files.write(path, content)
    return { path, bytes: Buffer.byteLength(content), created }
  },
  async edit_file({ path, old, new: put, all }, files) {
    const { text, lines } = replaceText(path, await files.readText(path), { old, put, all })
    await files.write(path, text)
    return { path, replaced: lines.length, lines: lines.slice(0, 100) }
  },
  async list_files({ path, ...page }, files) {
    const found = await files.list(path, page)
    return { entries: found.items, ...getPageInfo(found) }
  },
  async find_files({ pattern, ...page }, files) {
    const found = await files.glob(pattern, page)
    return { entries: found.items, ...getPageInfo(found) }
  },
  async search_files({ pattern, regex, ignore_case, glob, ...page }, files) {
    const found = await files.grep(
      regex || ignore_case ? compilePattern(pattern, regex, ignore_case) : pattern,
      { ...page, ...compact({ glob }) },
    )
    return { lines: found.items, ...getPageInfo(found) }
  },
  async remove_file({ path, recursive }, files) {
    await files.remove(path, { recursive })
    return { path }
  },
  async move_file({ path, to }, files) {
    await files.move(path, to)
    return { path, to }
  },
}

/** Tells which path was probably meant, where one does not exist. */
export async function withPathSuggestion<Answer>(
  files: Filesystem,
  act: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await act()
  } catch (error) {
    if (
      !ToolError.is(error) ||
      error.code !== 'NOT_FOUND' ||
      typeof error.details?.['path'] !== 'string'
    )
      throw error
    const meant = await findProbablePath(files, error.details['path']).catch(() => undefined)
    if (meant === undefined) throw error
    throw new ToolError('NOT_FOUND', `${error.message}; did you mean '${meant}'?`, {
      details: { ...error.details, meant },
      suggestion: { fix: `Use '${meant}'`, example: meant },
    })
  }
}

// The first name that is not there may be misspelt; else a file of that name may lie elsewhere.
async function findProbablePath(files: Filesystem, path: string): Promise<string | undefined> {
  const names = path.split('/')
  for (const [index, name] of names.entries()) {
    const folder = names.slice(0, index).join('/') || '.'
    if (
      (await files.stat(names.slice(0, index + 1).join('/')).catch(() => undefined)) !== undefined
    )
      continue
    const near = findClosest(
      name,
      (await files.list(folder)).items.map((entry) =>
        entry.path.slice(entry.path.lastIndexOf('/') + 1),
      ),
    )
    const meant =
      near === undefined
        ? undefined
        : [...names.slice(0, index), near, ...names.slice(index + 1)].join('/')
    if (meant !== undefined && (await files.stat(meant)) !== undefined) return meant
    break
  }
  const elsewhere = (
    await files.glob(`**/${names.at(-1)!.replace(/[\\*?[\]{},]/g, '\\$&')}`, { limit: 2 })
  ).items
  return elsewhere.length === 1 ? elsewhere[0]!.path : undefined
}

function getPageInfo({ total, next }: Page<unknown>): PageInfo {
  return compact({ total, next })
}

function compilePattern(pattern: string, regex: boolean, ignoreCase: boolean): RegExp {
  try {
    return new RegExp(regex ? pattern : escapeRegExp(pattern), ignoreCase ? 'iu' : 'u')
  } catch (error) {
    throw new ToolError(
      'INVALID_INPUT',
      `'pattern' is no regular expression: ${(error as Error).message}`,
      {
        field: 'pattern',
        suggestion:
          'Escape characters that should mean themselves with \\, or leave regex out to find them as text',
      },
    )
  }
}

const MAX_LINES_NAMED = 10

/**
 * Replaces a piece of text that stands there once, or everywhere; gives the lines where it stood.
 * Throws with advice where it stands nowhere, or more than once.
 */
function replaceText(
  path: string,
  text: string,
  { old, put, all }: { readonly old: string; readonly put: string; readonly all: boolean },
): { readonly text: string; readonly lines: readonly number[] } {
  if (old === put)
    throw new ToolError(
      'INVALID_INPUT',
      "'old' and 'new' are the same: there is nothing to change",
      { field: 'new' },
    )
  // Who reads a file by lines does not see how they end.
  const [sought, written] =
    text.includes(old) || !text.includes('\r\n') ? [old, put] : [toCrLf(old), toCrLf(put)]
  const pieces = text.split(sought)
  const lines = findMatchLines(pieces, sought)
  if (lines.length === 0) throw createTextNotFoundError(path, text, old)
  if (lines.length > 1 && !all) {
    throw new ToolError(
      'CONFLICT',
      `the text stands ${lines.length} times in '${path}': in lines ${lines.slice(0, MAX_LINES_NAMED).join(', ')}${lines.length > MAX_LINES_NAMED ? ' and more' : ''}`,
      {
        field: 'old',
        details: { path, lines: lines.slice(0, 100) },
        suggestion:
          "Give more of the text around it in 'old', so that it stands there once, or set 'all' to true",
      },
    )
  }
  return { text: pieces.join(written), lines }
}

function findMatchLines(pieces: readonly string[], sought: string): number[] {
  const inside = countLines(sought)
  const lines: number[] = []
  let line = 1
  for (const piece of pieces.slice(0, -1)) {
    lines.push((line += countLines(piece)))
    line += inside
  }
  return lines
}

function createTextNotFoundError(path: string, text: string, old: string): ToolError {
  const plain = (line: string): string => line.replace(/\s+/g, ' ').trim()
  const first = old
    .split('\n')
    .map(plain)
    .find((line) => line !== '')
  const near =
    first === undefined ? -1 : text.split('\n').findIndex((line) => plain(line) === first)
  return new ToolError(
    'NOT_FOUND',
    `the text does not stand in '${path}'${near === -1 ? '' : `; line ${near + 1} is like its first line, but for the spaces or what follows`}`,
    {
      field: 'old',
      suggestion:
        near === -1
          ? `Read the file and copy the text from it exactly: read_file ${JSON.stringify({ path })}`
          : `Copy the text from the file exactly: read_file ${JSON.stringify({ path, offset: Math.max(0, near - 2), limit: 20 })}`,
    },
  )
}

function toCrLf(text: string): string {
  return text.replace(/\r?\n/g, '\r\n')
}

function countLines(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1
  return count
}
