import fs from 'node:fs'
import { tellStray } from '../../call/stray-words.ts'
import { redirectChildren } from './stray-children.ts'

const OUT = 1
const ERR = 2

/** Sends everything that handlers and their libraries write to stdout to stderr instead, children included; what the streams of the process get is heard first by whoever listens (stray-words.ts). Our own writer holds the real functions and is not affected. */
export function redirectStrayOutput(): void {
  redirectStreams()
  redirectFileWrites()
  redirectChildren()
  if (mayHaveBeenImported()) process.getBuiltinModule('node:module').syncBuiltinESMExports()
}

// An ES module keeps the functions that it has imported; without the loader of such modules there is none, and asking for it costs milliseconds.
function mayHaveBeenImported(): boolean {
  const loaded = loadedModules()
  return loaded.length === 0 || loaded.includes('NativeModule internal/modules/esm/loader')
}

function redirectStreams(): void {
  // Only a program that used a stream already has it; making one here would cost milliseconds.
  const mayExist = loadedModules().some((name) =>
    /^NativeModule (tty|net|internal\/fs\/sync_write_stream)$/.test(name),
  )
  if (mayExist) redirectStream(process.stdout)
  const known = Object.getOwnPropertyDescriptor(process, 'stderr')
  const open = known?.get as (() => NodeJS.WriteStream) | undefined
  if (mayExist || !open) listenTo(process.stderr)
  else
    Object.defineProperty(process, 'stderr', {
      ...known,
      get: () => listenTo(Reflect.apply(open, process, [])),
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

const heard = new WeakSet<NodeJS.WriteStream>()

function listenTo(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  if (heard.has(stream)) return stream
  heard.add(stream)
  const write = stream._write.bind(stream)
  return Object.assign(stream, {
    _write: (chunk: Uint8Array | string, encoding: BufferEncoding, done: () => void) =>
      tellStray(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk)
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
        original(target === OUT || target === '/dev/stdout' ? ERR : target, ...rest),
    })
  }
}

// Not in the types, but in every version of node: which built-in modules were loaded so far.
function loadedModules(): readonly string[] {
  return (
    (process as unknown as { readonly moduleLoadList?: readonly string[] }).moduleLoadList ?? []
  )
}
