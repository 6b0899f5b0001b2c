import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { host } from '../../call/host.ts'
import { ToolError } from '../../contract/tool-error.ts'

/** Reads `--secret-file name=path` pairs. A file that others may read is refused: it is no secret. */
export function readSecrets(pairs: readonly string[], cwd: string): { readonly [name: string]: string } {
  const secrets: Record<string, string> = Object.create(null) as Record<string, string>
  for (const pair of pairs) {
    const [, name, path] = /^([\w.-]+)=(.+)$/s.exec(pair) ?? []
    if (name === undefined || path === undefined) throw new ToolError('USAGE', '--secret-file needs name=path', { field: 'secret-file', suggestion: 'For example --secret-file token=./token.txt' })
    secrets[name] = readSecret(name, resolve(cwd, path))
  }
  return secrets
}

function readSecret(name: string, file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats?.isFile()) throw new ToolError('INVALID_PATH', `the secret '${name}': there is no file ${file}`, { field: 'secret-file' })
  if (host.platform !== 'win32' && (stats.mode & 0o077) !== 0) throw new ToolError('PERMISSION', `the secret '${name}': ${file} can be read by others`, { field: 'secret-file', suggestion: `chmod 600 ${file}` })
  return readFileSync(file, 'utf8').replace(/\r?\n$/, '')
}
