import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const OUT = 1
const ERR = 2

/** Sends everything that handlers and their libraries write to stdout to stderr instead, children included. Our own writer holds the real functions and is not affected. */
export function redirectStrayOutput(): void {
  redirectStreams()
  redirectFileWrites()
  redirectChildren()
  syncBuiltinESMExports()
}

function redirectStreams(): void {
  // Only a program that used stdout already has its stream; making one here would cost milliseconds.
  const mayExist = loadedModules().some((name) => /^NativeModule (tty|net|internal\/fs\/sync_write_stream)$/.test(name))
  if (mayExist) process.stdout.write = ((...args: Parameters<typeof process.stderr.write>) => process.stderr.write(...args)) as typeof process.stdout.write
  Object.defineProperty(process, 'stdout', { configurable: true, enumerable: true, get: () => process.stderr })
}

function redirectFileWrites(): void {
  for (const name of ['write', 'writeSync', 'writev', 'writevSync', 'writeFile', 'writeFileSync', 'appendFile', 'appendFileSync'] as const) {
    const original = fs[name] as (target: unknown, ...rest: unknown[]) => unknown
    Object.assign(fs, { [name]: (target: unknown, ...rest: unknown[]) => original(target === OUT || target === '/dev/stdout' ? ERR : target, ...rest) })
  }
}

// A child that inherits stdout writes behind our back: it inherits stderr instead.
function redirectChildren(): void {
  if (!loadedModules().includes('NativeModule child_process')) return
  const children = process.getBuiltinModule('node:child_process')
  const prototype = children.ChildProcess.prototype as unknown as { spawn(options: { stdio?: unknown }): unknown }
  const spawn = prototype.spawn
  prototype.spawn = function redirected(options) {
    return spawn.call(this, { ...options, stdio: withoutStdout(options.stdio) })
  }
  const { spawnSync, execFileSync, execSync } = children
  const redirect = (args: unknown[]): unknown[] => args.map((arg) => (isOptions(arg) ? { ...arg, stdio: withoutStdout(arg.stdio) } : arg))
  Object.assign(children, {
    spawnSync: (...args: unknown[]) => (spawnSync as (...all: unknown[]) => unknown)(...redirect(args)),
    execFileSync: (...args: unknown[]) => (execFileSync as (...all: unknown[]) => unknown)(...redirect(args)),
    execSync: (...args: unknown[]) => (execSync as (...all: unknown[]) => unknown)(...redirect(args)),
  })
}

function isOptions(arg: unknown): arg is { stdio?: unknown } {
  return typeof arg === 'object' && arg !== null && !Array.isArray(arg) && 'stdio' in arg
}

function withoutStdout(stdio: unknown): unknown {
  if (stdio === 'inherit') return ['inherit', ERR, 'inherit']
  if (!Array.isArray(stdio)) return stdio
  return stdio.map((target: unknown, index) => (target === OUT || (target === 'inherit' && index === OUT) || (target as { fd?: unknown } | null)?.fd === OUT ? ERR : target))
}

// Not in the types, but in every version of node: which built-in modules were loaded so far.
function loadedModules(): readonly string[] {
  return (process as unknown as { readonly moduleLoadList?: readonly string[] }).moduleLoadList ?? []
}
