import { mkdir, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, extname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { stream, tool } from 'toolable'
import { z } from 'zod'
import { inside, root, rootFlag } from '../lib/root.mjs'
import { textLines } from '../lib/text-lines.mjs'
import { walk } from '../lib/walk.mjs'

// region index-files
export const indexFiles = tool({
  name: 'index_files',
  summary: 'Count files and lines, and write an index of them',
  input: z.object({
    index: z.string().default('file-index.json').describe('File for the index, in the root folder'),
    root,
  }),
  output: z.object({ files: z.int(), lines: z.int(), bytes: z.int() }),
  flags: rootFlag,
  annotations: { idempotent: true },
  async *run({ index, root }, ctx) {
    const folder = resolve(ctx.cwd, root)
    const target = await inside(folder, index)
    const paths = []
    for await (const path of walk(folder, ctx.signal)) if (path !== index) paths.push(path)

    const entries = []
    for (const [done, path] of paths.entries()) {
      yield stream.progress(path, Math.floor((done / paths.length) * 100))
      entries.push(await measure(folder, path))
    }
    await replaceFile(target, JSON.stringify(entries, null, 2))
    yield stream.artifact('index', pathToFileURL(target).href)
    return { files: entries.length, lines: sum(entries, 'lines'), bytes: sum(entries, 'bytes') }
  },
})
// endregion

async function measure(folder, path) {
  const { size } = await stat(join(folder, path))
  return {
    path,
    type: extname(path).slice(1),
    bytes: size,
    lines: await countLines(join(folder, path)),
  }
}

async function countLines(file) {
  let lines = 0
  for await (const { line } of textLines(file)) lines = line
  return lines
}

// A reader of the index sees the old one or the new one, never half of it.
async function replaceFile(target, text) {
  await mkdir(dirname(target), { recursive: true })
  await writeFile(`${target}.new`, `${text}\n`)
  await rename(`${target}.new`, target)
}

function sum(entries, field) {
  return entries.reduce((total, entry) => total + entry[field], 0)
}
