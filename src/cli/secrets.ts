import { readdirSync, readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { CancelSignal } from '../core/call.ts'
import { host } from '../core/host.ts'
import type { Io } from '../protocol/io.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { quoteForShell } from '../util/text.ts'
import { readStdinText } from './input.ts'

/**
 * Reads `--secret-file name=path` pairs; the path `-` is stdin. A file that others may read is
 * refused: it is no secret.
 */
export async function readSecrets(
  pairs: readonly string[],
  { stdin, cwd }: Io,
  { talksOnStdin, signal }: { readonly talksOnStdin: boolean; readonly signal: CancelSignal },
): Promise<{ readonly [name: string]: string }> {
  const secrets: Record<string, string> = Object.create(null) as Record<string, string>
  for (const pair of pairs) {
    const [, name, path] = /^([\w.-]+)=(.+)$/s.exec(pair) ?? []
    if (name === undefined || path === undefined)
      throw new ToolError('USAGE', '--secret-file needs name=path', {
        field: 'secret-file',
        suggestion: 'For example --secret-file token=./token.txt',
      })
    if (path === '-' && (talksOnStdin || stdin.taken))
      throw new ToolError(
        'USAGE',
        `stdin cannot carry the secret '${name}' and something else at once`,
        { field: 'secret-file', suggestion: 'Give the secret by a file' },
      )
    secrets[name] = stripFinalNewline(
      path === '-'
        ? ((await readStdinText(stdin, { signal })) ?? '')
        : readSecretFile(name, resolve(cwd, path)),
    )
  }
  return secrets
}

/** The secrets that a runner has laid out for us: a folder with a file for each, called like it. */
export function readSecretsFolder(folder: string): { readonly [name: string]: string } {
  const secrets: Record<string, string> = Object.create(null) as Record<string, string>
  for (const name of readdirSync(folder))
    secrets[name] = stripFinalNewline(readFileSync(resolve(folder, name), 'utf8'))
  return secrets
}

/** Reads a secret from a file that only its owner can read; throws INVALID_PATH or PERMISSION. */
export function readSecretFile(name: string, file: string, field = 'secret-file'): string {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats?.isFile())
    throw new ToolError('INVALID_PATH', `the secret '${name}': there is no file ${file}`, { field })
  if (host.platform !== 'win32' && (stats.mode & 0o077) !== 0)
    throw new ToolError('PERMISSION', `the secret '${name}': ${file} can be read by others`, {
      field,
      suggestion: `chmod 600 ${quoteForShell(file)}`,
    })
  return readFileSync(file, 'utf8')
}

function stripFinalNewline(text: string): string {
  return text.replace(/\r?\n$/, '')
}
