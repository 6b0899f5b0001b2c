import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fail, resource, tool } from 'toolable'
import { z } from 'zod'

const note = z.object({ id: z.string(), title: z.string(), uri: z.string() })

export const addNote = tool({
  name: 'add',
  summary: 'Write a note',
  input: z.object({
    title: z.string().min(1).max(100).describe('One line'),
    text: z.string().default('').describe('The note itself'),
  }),
  output: note,
  positional: ['title'],
  async run({ title, text }, ctx) {
    const id =
      title
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/^-|-$/g, '') || 'note'
    const file = fileOf(ctx, id)
    await mkdir(folderOf(ctx), { recursive: true })
    await writeFile(file, `# ${title}\n\n${text}\n`, { flag: 'wx' }).catch((error) => {
      if (error.code !== 'EEXIST') throw error
      fail('CONFLICT', `there is a note '${id}' already`, {
        field: 'title',
        suggestion: 'Choose another title',
      })
    })
    return { id, title, uri: `notes://${id}` }
  },
})

export const listNotes = tool({
  name: 'list',
  summary: 'List the notes',
  output: z.array(note),
  annotations: { readOnly: true },
  run: (_input, ctx) => allNotes(ctx),
})

// region notes-resource
export const notes = resource({
  uri: 'notes://{id}',
  summary: 'A note by its id',
  mimeTypes: ['text/markdown'],
  async read({ id }, ctx) {
    const text = await readFile(fileOf(ctx, id), 'utf8').catch(() =>
      fail('NOT_FOUND', `there is no note '${id}'`),
    )
    return { mimeType: 'text/markdown', text }
  },
  list: async (ctx) =>
    (await allNotes(ctx)).map(({ uri, title }) => ({
      uri,
      name: title,
      mimeType: 'text/markdown',
    })),
})
// endregion

async function allNotes(ctx) {
  const names = await readdir(folderOf(ctx)).catch(() => [])
  return Promise.all(
    names
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map(async (name) => {
        const id = name.slice(0, -'.md'.length)
        const [heading = ''] = (await readFile(fileOf(ctx, id), 'utf8')).split('\n')
        return { id, title: heading.replace(/^# /, ''), uri: `notes://${id}` }
      }),
  )
}

function folderOf(ctx) {
  return resolve(ctx.cwd, ctx.env.FILE_TOOLS_ROOT || '.', '.notes')
}

// An id is a plain word, so that no address leads out of the folder.
function fileOf(ctx, id) {
  if (!/^[a-z0-9-]+$/.test(id)) fail('NOT_FOUND', `there is no note '${id}'`)
  return resolve(folderOf(ctx), `${id}.md`)
}
