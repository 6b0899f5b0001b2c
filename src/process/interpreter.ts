import { basename, dirname } from 'node:path'
import type { Environment } from './base-environment.ts'
import { probeEnvironment } from './base-environment.ts'
import { findProgram } from './find-program.ts'
import { runChild } from './run-child.ts'

const known = new Map<string, Promise<string>>()

/** The Python behind a shim of pyenv, asdf and the like, which would be several times as slow to start; any other program as it is. */
export function withoutShim(program: string, env: Environment): Promise<string> {
  const file = /^python[\d.]*$/.test(basename(program))
    ? findProgram(program, env['PATH'])
    : undefined
  if (file === undefined || basename(dirname(file)) !== 'shims') return Promise.resolve(program)
  const found = known.get(file) ?? askPython(file, program, env)
  known.set(file, found)
  return found
}

async function askPython(file: string, program: string, env: Environment): Promise<string> {
  const { status, stdout } = await runChild({
    command: [file, '-I', '-c', 'import sys; print(sys.executable)'],
    cwd: '/',
    env: { ...probeEnvironment(env, '/'), ...(env['HOME'] !== undefined && { HOME: env['HOME'] }) },
    timeout: 10_000,
  })
  const real = stdout.toString().trim()
  return status === 0 && findProgram(real, undefined) !== undefined ? real : program
}
