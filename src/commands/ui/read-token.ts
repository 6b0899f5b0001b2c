import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { createExclusively } from '../../call/exclusive-file.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { prepareRoot } from '../../runner/folder/create-run.ts'
import { readSecret } from '../../surfaces/cli/secrets.ts'
import { checkToken } from '../../surfaces/http/check-options.ts'

const TOKEN_BYTES = 32

/** The token of a dashboard: from the file that was named, else the one of this project, which is made the first time. Whoever may only look has another one. Throws where it cannot be kept, and where others can read it. */
export function readToken(
  root: string,
  {
    cwd,
    tokenFile,
    readOnly,
  }: { readonly cwd: string; readonly tokenFile: string | undefined; readonly readOnly: boolean },
): string {
  if (tokenFile !== undefined)
    return checkToken(readSecret('token', resolve(cwd, tokenFile), 'token-file').trim())
  const file = join(root, readOnly ? '.ui-token-read-only' : '.ui-token')
  try {
    prepareRoot(root)
    createExclusively(file, `${randomBytes(TOKEN_BYTES).toString('base64url')}\n`)
  } catch (error) {
    throw new ToolError(
      'CONFIG',
      `the token cannot be kept in ${root}: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`,
      {
        field: 'token-file',
        cause: error,
        suggestion: {
          fix: 'Give a token of your own by --token-file, or start it where runs can be recorded',
          example: '(umask 077; openssl rand -hex 32 > token.txt)',
        },
      },
    )
  }
  return checkToken(readSecret('token', file).trim())
}
