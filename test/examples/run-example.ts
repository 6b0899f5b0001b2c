import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { HANG_MS } from '../support/limits.ts'

export type Run = {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

const programs = {
  'file-tools': fileURLToPath(new URL('../../examples/file-tools/file-tools.mjs', import.meta.url)),
  greet: fileURLToPath(new URL('../../examples/hello/hello.mjs', import.meta.url)),
} as const

/** Runs an example by its front door, in a folder and with nothing else in its environment. */
export function runExample(
  program: keyof typeof programs,
  argv: readonly string[],
  {
    folder,
    input = '',
    env = {},
  }: { readonly folder: string; readonly input?: string; readonly env?: NodeJS.ProcessEnv },
): Run {
  return spawnSync(process.execPath, [programs[program], ...argv], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, ...env },
    input,
    encoding: 'utf8',
    timeout: HANG_MS,
  })
}
