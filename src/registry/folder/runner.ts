import { join } from 'node:path'
import { host } from '../../call/host.ts'
import { look } from '../cache/stamp.ts'
import type { Runner } from '../manifests/manifest.ts'
import { extensionOf } from './file-name.ts'

type Command = readonly [program: string, ...args: string[]]

const BY_EXTENSION: { readonly [extension: string]: Runner } = {
  '.py': 'python',
  '.sh': 'bash',
  '.bash': 'bash',
  '.js': 'node',
  '.mjs': 'node',
  '.cjs': 'node',
}

/** The interpreter that the name of a file asks for; `exec` where it is started as it is, which needs its execute bit. */
export function runnerOf(file: string): Runner {
  const extension = extensionOf(file)
  return Object.hasOwn(BY_EXTENSION, extension) ? BY_EXTENSION[extension]! : 'exec'
}

/** True for a script of a known language, and for anything with an execute bit. */
export function isProgram(name: string, mode: number): boolean {
  return runnerOf(name) !== 'exec' || isExecutable(mode)
}

/** True where somebody may execute the file. */
export function isExecutable(mode: number): boolean {
  return (mode & 0o111) !== 0
}

/** The Python of a tool: that of its own folder, then the shared one, then python3. */
export function pythonOf(folder: string, toolFolder: string | undefined): string {
  const inside = host.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python']
  const environments = [
    ...(toolFolder === undefined ? [] : [join(toolFolder, 'venv', ...inside)]),
    join(folder, 'shared_venv', ...inside),
  ]
  return environments.find((path) => look(path)?.isFile) ?? 'python3'
}

/** Program and first arguments that start a file. `head` is how the file begins. */
export function commandOf(
  file: string,
  runner: Runner,
  python: string,
  head: string,
  executable: boolean,
): Command {
  const asked = /^#!\s*(.*)/.exec(head)?.[1] ?? ''
  switch (runner) {
    case 'python':
      // A script that brings its own starter (`uv run`) knows its packages; python3 does not.
      return executable && asked !== '' && !asked.includes('python') ? [file] : [python, file]
    case 'bash':
      return executable && asked !== ''
        ? [file]
        : [/^\S*\/(?:env\s+)?(?:da)?sh\b/.test(asked) ? 'sh' : 'bash', file]
    case 'node':
      return [host.node, file]
    case 'exec':
      return [file]
  }
}
