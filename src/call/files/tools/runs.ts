import type { FileEntry, Filesystem, FoundLine, Page } from '../../../contract/filesystem.ts'
import { closest } from '../../../contract/did-you-mean.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import { replaceOnce } from './replace.ts'

type Paged = { readonly offset: number; readonly limit: number }
type Rest = { readonly total: number; readonly next?: number }

/** What each tool does. */
export type FileToolRuns = {
  read_file(
    input: Paged & { readonly path: string },
    files: Filesystem,
  ): Promise<
    Rest & {
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
    input: Paged & { readonly path: string },
    files: Filesystem,
  ): Promise<Rest & { readonly entries: readonly FileEntry[] }>
  find_files(
    input: Paged & { readonly pattern: string },
    files: Filesystem,
  ): Promise<Rest & { readonly entries: readonly FileEntry[] }>
  search_files(
    input: Paged & {
      readonly pattern: string
      readonly regex: boolean
      readonly ignore_case: boolean
      readonly glob?: string
    },
    files: Filesystem,
  ): Promise<Rest & { readonly lines: readonly FoundLine[] }>
  remove_file(
    input: { readonly path: string; readonly recursive: boolean },
    files: Filesystem,
  ): Promise<{ readonly path: string }>
  move_file(
    input: { readonly path: string; readonly to: string },
    files: Filesystem,
  ): Promise<{ readonly path: string; readonly to: string }>
}

export const fileToolRuns: FileToolRuns = {
  async read_file({ path, ...page }, files) {
    const found = await files.readLines(path, page)
    return { path, line: page.offset + 1, text: found.items.join('\n'), ...restOf(found) }
  },
  async write_file({ path, content }, files) {
    const created = (await files.stat(path)) === undefined
    await files.write(path, content)
    return { path, bytes: Buffer.byteLength(content), created }
  },
  async edit_file({ path, old, new: put, all }, files) {
    const { text, lines } = replaceOnce(path, await files.readText(path), { old, put, all })
    await files.write(path, text)
    return { path, replaced: lines.length, lines: lines.slice(0, 100) }
  },
  async list_files({ path, ...page }, files) {
    const found = await files.list(path, page)
    return { entries: found.items, ...restOf(found) }
  },
  async find_files({ pattern, ...page }, files) {
    const found = await files.glob(pattern, page)
    return { entries: found.items, ...restOf(found) }
  },
  async search_files({ pattern, regex, ignore_case, glob, ...page }, files) {
    const found = await files.grep(
      regex || ignore_case ? expressionOf(pattern, regex, ignore_case) : pattern,
      { ...page, ...(glob !== undefined && { glob }) },
    )
    return { lines: found.items, ...restOf(found) }
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
export async function withAdvice<Answer>(
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
    const meant = await probablyMeant(files, error.details['path']).catch(() => undefined)
    if (meant === undefined) throw error
    throw new ToolError('NOT_FOUND', `${error.message}; did you mean '${meant}'?`, {
      details: { ...error.details, meant },
      suggestion: { fix: `Use '${meant}'`, example: meant },
    })
  }
}

// The first name that is not there may be misspelt; else a file of that name may lie elsewhere.
async function probablyMeant(files: Filesystem, path: string): Promise<string | undefined> {
  const names = path.split('/')
  for (const [index, name] of names.entries()) {
    const folder = names.slice(0, index).join('/') || '.'
    if (
      (await files.stat(names.slice(0, index + 1).join('/')).catch(() => undefined)) !== undefined
    )
      continue
    const near = closest(
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

function restOf({ total, next }: Page<unknown>): Rest {
  return { total, ...(next !== undefined && { next }) }
}

function expressionOf(pattern: string, regex: boolean, ignoreCase: boolean): RegExp {
  try {
    return new RegExp(
      regex ? pattern : pattern.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'),
      ignoreCase ? 'iu' : 'u',
    )
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
