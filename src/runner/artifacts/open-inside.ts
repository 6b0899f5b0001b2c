import { constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { isLinux } from '../../process/host.ts'

/** A file or folder that was refused, and why. */
export class Refusal extends Error {}

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/** Opens a file or folder below a folder, part by part, and follows no link on the way, whoever exchanges what meanwhile. `steps` is its path from there; none is the folder itself. Throws a Refusal. */
export async function openInside(root: string, steps: readonly string[]): Promise<FileHandle> {
  let at = await open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(explain)
  let path = root
  try {
    for (const [index, step] of steps.entries()) {
      path = join(path, step)
      // Not blocking, because opening a pipe would wait for somebody who writes.
      const next = await open(
        isLinux ? `/proc/self/fd/${at.fd}/${step}` : path,
        O_RDONLY | O_NOFOLLOW | O_NONBLOCK | (index < steps.length - 1 ? O_DIRECTORY : 0),
      ).catch(explain)
      await at.close()
      at = next
    }
    return at
  } catch (error) {
    await at.close().catch(() => undefined)
    throw error
  }
}

function explain(error: NodeJS.ErrnoException): never {
  const why: { readonly [code: string]: string } = {
    ENOENT: 'does not exist',
    ELOOP: 'is a link, or lies behind one',
    ENOTDIR: 'is a link, or lies behind something that is no folder',
    EACCES: 'cannot be read',
    ENXIO: 'is neither a file nor a folder',
    EMLINK: 'is a link',
  }
  throw new Refusal(why[error.code ?? ''] ?? `cannot be opened (${error.code ?? error.message})`)
}
