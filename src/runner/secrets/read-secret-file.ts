import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { host } from '../../call/host.ts'
import { ToolError } from '../../contract/tool-error.ts'

const LARGEST = 64 * 1024

/** The text of a file that is ours alone. Throws PERMISSION where it is not (mode 0600 or stricter, our own, no link), INVALID_PATH where there is none, CONFIG where it cannot be a secret. `field` is the flag that named it. */
export async function readSecretFile(what: string, file: string, field: string): Promise<string> {
  const { open } = await import('node:fs/promises')
  const refuse = (
    code: 'INVALID_PATH' | 'PERMISSION' | 'CONFIG',
    why: string,
    suggestion: string,
  ): ToolError => new ToolError(code, `${what}: ${file} ${why}`, { field, suggestion })
  const handle = await open(
    file,
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  ).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ELOOP') throw refuse('PERMISSION', 'is a link', 'Name the file itself')
    if (error.code === 'EACCES') throw refuse('PERMISSION', 'cannot be read', `chmod 600 ${file}`)
    throw refuse(
      'INVALID_PATH',
      error.code === 'ENOENT' || error.code === 'ENOTDIR'
        ? 'does not exist'
        : `cannot be opened (${error.code ?? error.message})`,
      'Write the secret into that file, with mode 0600',
    )
  })
  try {
    // Of the open file, so that nobody can exchange it in between.
    const stats = await handle.stat()
    if (!stats.isFile()) throw refuse('INVALID_PATH', 'is not a file', 'Name a file')
    if (host.uid !== undefined && stats.uid !== host.uid)
      throw refuse('PERMISSION', 'belongs to another user', 'Use a file of your own')
    if (host.uid !== undefined && (stats.mode & 0o077) !== 0)
      throw refuse(
        'PERMISSION',
        `can be read by others (mode ${(stats.mode & 0o777).toString(8).padStart(4, '0')})`,
        `chmod 600 ${file}`,
      )
    if (stats.size > LARGEST)
      throw refuse(
        'CONFIG',
        `has ${stats.size} bytes, and a secret has ${LARGEST} at most`,
        'Keep large data in a file that the tool may read',
      )
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(LARGEST + 1), 0, LARGEST + 1, 0)
    const bytes = buffer.subarray(0, bytesRead)
    if (bytes.length > LARGEST || !isUtf8(bytes))
      throw refuse('CONFIG', 'is not text', 'Keep it as base64, and let the tool decode it')
    return bytes.toString()
  } finally {
    await handle.close()
  }
}
