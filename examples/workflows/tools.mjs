// Four little tools that a workflow puts together. The "site" is a folder of texts.
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolError, tool } from 'toolable'

/** @type {import('toolable').TypedJsonSchema<{ folder: string }>} */
const FOLDER = {
  type: 'object',
  properties: { folder: { type: 'string' } },
  required: ['folder'],
  additionalProperties: false,
}

export const listPages = tool({
  name: 'list_pages',
  summary: 'The pages of a folder',
  input: FOLDER,
  annotations: { readOnly: true },
  run: async ({ folder }, ctx) =>
    (await readdir(join(ctx.cwd, folder)))
      .filter((name) => name.endsWith('.txt'))
      .sort()
      .map((name) => ({ name, path: `${folder}/${name}` })),
})

export const checkPage = tool({
  name: 'check_page',
  summary: 'Count the words of a page; a page without any is an error',
  input: /** @type {import('toolable').TypedJsonSchema<{ path: string }>} */ ({
    type: 'object',
    properties: { path: { type: 'string' } },
    required: ['path'],
    additionalProperties: false,
  }),
  annotations: { readOnly: true },
  async run({ path }, ctx) {
    const words = (await readFile(join(ctx.cwd, path), 'utf8'))
      .split(/\s+/)
      .filter((word) => word !== '').length
    if (words === 0) throw new ToolError('PRECONDITION', `${path} is empty`)
    return { path, words }
  },
})

export const copyPages = tool({
  name: 'copy_pages',
  summary: 'Copy a folder of pages',
  input: /** @type {import('toolable').TypedJsonSchema<{ from: string, to: string }>} */ ({
    type: 'object',
    properties: { from: { type: 'string' }, to: { type: 'string' } },
    required: ['from', 'to'],
    additionalProperties: false,
  }),
  annotations: { idempotent: true },
  async run({ from, to }, ctx) {
    await mkdir(join(ctx.cwd, to), { recursive: true })
    await cp(join(ctx.cwd, from), join(ctx.cwd, to), { recursive: true })
    return { to }
  },
})

export const removePages = tool({
  name: 'remove_pages',
  summary: 'Remove a folder of pages',
  input: FOLDER,
  annotations: { destructive: true, idempotent: true },
  run: async ({ folder }, ctx) => (
    await rm(join(ctx.cwd, folder), { recursive: true, force: true }),
    { removed: folder }
  ),
})

export const writeIndex = tool({
  name: 'write_index',
  summary: 'Write a list of pages and their words',
  input:
    /** @type {import('toolable').TypedJsonSchema<{ folder: string, pages: { path: string, words: number }[] }>} */ ({
      type: 'object',
      properties: {
        folder: { type: 'string' },
        pages: { type: 'array', items: { type: 'object' } },
      },
      required: ['folder', 'pages'],
      additionalProperties: false,
    }),
  annotations: { idempotent: true },
  async run({ folder, pages }, ctx) {
    if (pages.length === 0) throw new ToolError('PRECONDITION', 'there are no pages to list')
    await writeFile(
      join(ctx.cwd, folder, 'index'),
      pages.map(({ path, words }) => `${path} ${words}\n`).join(''),
    )
    return { pages: pages.length, words: pages.reduce((sum, { words }) => sum + words, 0) }
  },
})
