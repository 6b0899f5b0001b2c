import { accessSync, closeSync, constants, openSync, readSync } from 'node:fs'
import { extname } from 'node:path'

/** How a file is started, and how long its interpreter takes without it. */
export type StartCommand = {
  readonly command: readonly [string, ...string[]]
  readonly bare: readonly [string, ...string[]]
}

const NODE = ['node', '-e', '0'] as const
const PYTHON = ['python3', '-c', 'pass'] as const
const SHELL = ['sh', '-c', ':'] as const

const BY_EXTENSION: {
  readonly [extension: string]: {
    readonly interpreter: string
    readonly bare: StartCommand['bare']
  }
} = {
  '.py': { interpreter: 'python3', bare: PYTHON },
  '.sh': { interpreter: 'bash', bare: SHELL },
  '.js': { interpreter: 'node', bare: NODE },
  '.mjs': { interpreter: 'node', bare: NODE },
  '.cjs': { interpreter: 'node', bare: NODE },
}

/** How to start a file: itself where it may be executed, else by the interpreter of its extension; undefined where neither works. */
export function startCommand(file: string): StartCommand | undefined {
  const byExtension = BY_EXTENSION[extname(file)]
  const bare = bareOf(firstLine(file)) ?? byExtension?.bare ?? NODE
  if (isExecutable(file)) return { command: [file], bare }
  return byExtension && { command: [byExtension.interpreter, file], bare }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function firstLine(file: string): string {
  const buffer = Buffer.alloc(200)
  const descriptor = openSync(file, 'r')
  try {
    return buffer.toString('latin1', 0, readSync(descriptor, buffer)).split('\n', 1)[0]!
  } finally {
    closeSync(descriptor)
  }
}

// A compiled program has no interpreter; what node takes is a fair measure for it.
function bareOf(line: string): StartCommand['bare'] | undefined {
  if (!line.startsWith('#!')) return undefined
  if (/python/.test(line)) return PYTHON
  if (/\b(ba|da|z|k)?sh\b/.test(line)) return SHELL
  return NODE
}
