import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { createExclusively } from '../../call/exclusive-file.ts'
import { prepareRoot } from '../../runner/folder/create-run.ts'
import { readSecret } from '../../surfaces/cli/secrets.ts'
import { checkToken } from '../../surfaces/http/check-options.ts'

const TOKEN_BYTES = 32

/** The token of a dashboard: from the file that was named, else the one of this project, which is made the first time. Whoever may only look has another one. Throws where others can read the file. */
export function readToken(root: string, { cwd, tokenFile, readOnly }: { readonly cwd: string; readonly tokenFile: string | undefined; readonly readOnly: boolean }): string {
  if (tokenFile !== undefined) return checkToken(readSecret('token', resolve(cwd, tokenFile), 'token-file').trim())
  const file = join(root, readOnly ? '.ui-token-read-only' : '.ui-token')
  const fresh = randomBytes(TOKEN_BYTES).toString('base64url')
  return make(root, file, fresh) ? checkToken(readSecret('token', file).trim()) : fresh
}

// Where nothing can be written, the token lives as long as the server.
function make(root: string, file: string, token: string): boolean {
  try {
    prepareRoot(root)
    createExclusively(file, `${token}\n`)
    return true
  } catch (error) {
    if (['EACCES', 'EROFS', 'EPERM', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}
