import { rename, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { session, tool } from 'toolable'
import { z } from 'zod'
import { matcher } from '../lib/glob.mjs'
import { inside, root, rootFlag } from '../lib/root.mjs'
import { walk } from '../lib/walk.mjs'

// region rename-files
export const renameFiles = tool({
  name: 'rename_files',
  summary: 'Go through files and ask for a new name for each',
  input: z.object({ pattern: z.string().min(1).max(200).describe('Glob of the files'), root }),
  output: z.object({ renamed: z.array(z.object({ from: z.string(), to: z.string() })) }),
  positional: ['pattern'],
  flags: rootFlag,
  session: true,
  async *run({ pattern, root }, ctx) {
    const folder = resolve(ctx.cwd, root)
    const files = await listFiles(folder, pattern, ctx.signal)
    const renamed = []
    for (const [index, from] of files.entries()) {
      const question = `${from} -> `
      let answer = yield index === 0
        ? session.start(`${files.length} files: answer with a new name, skip or quit`, question)
        : session.ask(question)
      let problem
      while ((problem = await problemOf(folder, nameIn(answer))))
        answer = yield session.ask(`${problem}; ${question}`)
      if (answer.action === 'quit') break
      if (nameIn(answer) === '') continue
      await rename(join(folder, from), join(folder, nameIn(answer)))
      renamed.push({ from, to: nameIn(answer) })
    }
    yield session.end()
    return { renamed }
  },
})
// endregion

async function listFiles(folder, pattern, signal) {
  const matches = matcher(pattern)
  const found = []
  for await (const path of walk(folder, signal)) if (matches(path)) found.push(path)
  return found
}

// Plain words of a person arrive as {"text": "new.md"}; programs may send {"action": "skip"} or
// {"action": "quit"}.
function nameIn({ action, text }) {
  const name = typeof text === 'string' && action === undefined ? text.trim() : ''
  return name === 'skip' ? '' : name
}

async function problemOf(folder, name) {
  if (name === '') return undefined
  try {
    await stat(await inside(folder, name))
    return `${name} is taken`
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT'
      ? undefined
      : `${name} cannot be used`
  }
}
