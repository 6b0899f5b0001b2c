/**
 * Sends what tools and their libraries write to stdout to stderr instead, so that stdout holds
 * nothing but the answer.
 */

import fs from 'node:fs'
import { emitStrayOutput } from '../core/call-scope.ts'

const STDOUT_FD = 1
const STDERR_FD = 2

/**
 * Sends everything that handlers and their libraries write to stdout to stderr instead, children
 * included. Listeners of `core/call-scope.ts` get what the streams of the process would print. Our
 * own writer holds the real functions and is not affected.
 */
export function redirectStrayOutput(): void {
  redirectStreams()
  redirectFileWrites()
  redirectChildren()
  if (mayBeImported()) process.getBuiltinModule('node:module').syncBuiltinESMExports()
}

// An ES module keeps the functions that it has imported; without the loader of such modules there
// is none, and asking for it costs milliseconds.
function mayBeImported(): boolean {
  const loaded = getLoadedModules()
  return loaded.length === 0 || loaded.includes('NativeModule internal/modules/esm/loader')
}

function redirectStreams(): void {
  // Only a program that used a stream already has it; making one here would cost milliseconds.
  const mayExist = getLoadedModules().some((name) =>
    /^NativeModule (tty|net|internal\/fs\/sync_write_stream)$/.test(name),
  )
  if (mayExist) redirectStream(process.stdout)
  const known = Object.getOwnPropertyDescriptor(process, 'stderr')
  const open = known?.get as (() => NodeJS.WriteStream) | undefined
  if (mayExist || !open) tapStream(process.stderr)
  else
    Object.defineProperty(process, 'stderr', {
      ...known,
      get: () => tapStream(Reflect.apply(open, process, [])),
    })
  Object.defineProperty(process, 'stdout', {
    configurable: true,
    enumerable: true,
    get: () => process.stderr,
  })
}

// Below write(), which a library may have taken with it when it was loaded.
function redirectStream(stream: NodeJS.WriteStream): void {
  Object.assign(stream, {
    _write: (chunk: Uint8Array | string, encoding: BufferEncoding, done: () => void) =>
      process.stderr.write(chunk, encoding, done),
    _writev: null,
  })
}

const tappedStreams = new WeakSet<NodeJS.WriteStream>()

function tapStream(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  if (tappedStreams.has(stream)) return stream
  tappedStreams.add(stream)
  const write = stream._write.bind(stream)
  return Object.assign(stream, {
    _write: (chunk: Uint8Array | string, encoding: BufferEncoding, done: () => void) =>
      emitStrayOutput(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk)
        ? done()
        : write(chunk, encoding, done),
    _writev: null,
  })
}

function redirectFileWrites(): void {
  for (const name of [
    'write',
    'writeSync',
    'writev',
    'writevSync',
    'writeFile',
    'writeFileSync',
    'appendFile',
    'appendFileSync',
  ] as const) {
    const original = fs[name] as (target: unknown, ...rest: unknown[]) => unknown
    Object.assign(fs, {
      [name]: (target: unknown, ...rest: unknown[]) =>
        original(target === STDOUT_FD || target === '/dev/stdout' ? STDERR_FD : target, ...rest),
    })
  }
}

// Not in the types, but in every version of node: which built-in modules were loaded so far.
function getLoadedModules(): readonly string[] {
  return (
    (process as unknown as { readonly moduleLoadList?: readonly string[] }).moduleLoadList ?? []
  )
}

type ChildStdio = readonly { readonly fd?: unknown }[]
type SpawnMethod = (this: unknown, options: { readonly stdio?: ChildStdio }) => unknown

/** Gives every child that would inherit stdout stderr instead, whoever starts it and however. */
function redirectChildren(): void {
  const natives = findNativeSpawns()
  if (natives)
    for (const { holder, method } of natives) redirectMethod(holder, method, mapDescriptors)
  else redirectByName()
}

type SpawnHolder = Record<string, unknown>

// All ways to start a child end in one of these two functions. They are there without
// node:child_process, which takes milliseconds to load
// and may be loaded only inside a handler.
function findNativeSpawns():
  { readonly holder: SpawnHolder; readonly method: string }[] | undefined {
  try {
    const binding = (process as unknown as { binding(name: string): SpawnHolder }).binding
    const { Process } = binding('process_wrap') as { Process?: { prototype: SpawnHolder } }
    const found = [
      { holder: Process!.prototype, method: 'spawn' },
      { holder: binding('spawn_sync'), method: 'spawn' },
    ]
    return found.every(({ holder, method }) => typeof holder[method] === 'function')
      ? found
      : undefined
  } catch {
    // Under node's permission model, and in a node that has given them up.
    return undefined
  }
}

function redirectByName(): void {
  const children = process.getBuiltinModule('node:child_process')
  redirectMethod(children.ChildProcess.prototype as unknown as SpawnHolder, 'spawn', mapStdioOption)
  for (const method of ['spawnSync', 'execFileSync', 'execSync'])
    redirectMethod(children, method, mapStdioOption)
}

function redirectMethod(
  holder: SpawnHolder,
  method: string,
  map: (stdio: unknown) => unknown,
): void {
  const original = holder[method] as SpawnMethod
  holder[method] = function redirected(this: unknown, ...args: unknown[]) {
    return Reflect.apply(
      original,
      this,
      args.map((arg) => (hasStdio(arg) ? { ...arg, stdio: map(arg.stdio) } : arg)),
    )
  }
}

function hasStdio(arg: unknown): arg is { stdio: unknown } {
  return typeof arg === 'object' && arg !== null && !Array.isArray(arg) && 'stdio' in arg
}

function mapDescriptors(stdio: unknown): unknown {
  return Array.isArray(stdio)
    ? (stdio as ChildStdio).map((target) =>
        target?.fd === STDOUT_FD ? { ...target, fd: STDERR_FD } : target,
      )
    : stdio
}

function mapStdioOption(stdio: unknown): unknown {
  if (stdio === 'inherit') return ['inherit', STDERR_FD, 'inherit']
  if (!Array.isArray(stdio)) return stdio
  return stdio.map((target: unknown, index) =>
    target === STDOUT_FD ||
    (target === 'inherit' && index === STDOUT_FD) ||
    (target as { fd?: unknown } | null)?.fd === STDOUT_FD
      ? STDERR_FD
      : target,
  )
}
