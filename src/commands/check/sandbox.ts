import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findSandbox } from '../../process/sandbox/find-sandbox.ts'
import type { SandboxProfile } from '../../process/sandbox/profile.ts'

const ROOT_MARKS = ['package.json', 'pyproject.toml', '.git', 'toolable.yaml', 'toolable.json']

/** The sandbox in which a program can be tried without harm: it sees the project that it belongs to. Undefined where the machine has none. */
export async function sandboxFor(
  file: string,
  env: { readonly [name: string]: string | undefined },
): Promise<SandboxProfile | undefined> {
  if (!(await findSandbox(env)).available) return undefined
  const real = realpathSync(file)
  return {
    writable: 'private-tmp',
    network: 'none',
    readable: [...new Set([dirname(file), dirname(real), projectOf(real)])],
  }
}

// What it imports lies beside the file that says where the project begins.
function projectOf(file: string): string {
  for (let folder = dirname(file); dirname(folder) !== folder; folder = dirname(folder)) {
    if (ROOT_MARKS.some((mark) => existsSync(join(folder, mark)))) return folder
  }
  return dirname(file)
}
