import { randomBytes } from 'node:crypto'
import { mkdir, open, rename, rm, rmdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** Puts a text in the place of a file at once, in folders that are made for it. When that fails, nothing of it is left and the old file is as it was. */
export async function writeAtomically(file: string, text: string): Promise<void> {
  const folder = dirname(file)
  const made = await mkdir(folder, { recursive: true })
  const temporary = join(folder, `.${basename(file)}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    await writeNew(temporary, text, await modeOf(file))
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true })
    if (made !== undefined) await removeEmpty(folder, made)
    throw error
  }
}

/** Removes empty folders from the inner one up to the outer one, as far as they are empty. */
export async function removeEmpty(inner: string, outer: string): Promise<void> {
  try {
    for (let folder = inner; folder.length >= outer.length; folder = dirname(folder))
      await rmdir(folder)
  } catch {
    /* somebody else uses it */
  }
}

async function writeNew(file: string, text: string, mode: number | undefined): Promise<void> {
  const handle = await open(file, 'wx')
  try {
    await handle.writeFile(text)
    if (mode !== undefined) await handle.chmod(mode)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function modeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).mode & 0o7777
  } catch {
    return undefined
  }
}
