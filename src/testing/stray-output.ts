import { AsyncLocalStorage } from 'node:async_hooks'
import { Console } from 'node:console'
import { Writable } from 'node:stream'

type StrayOutputRun = { readonly write: (text: string) => void; readonly console: Console }
type OutputMethod = (...args: unknown[]) => unknown
type PatchedObject = { [name: string]: unknown }

const currentRun = new AsyncLocalStorage<StrayOutputRun>()
let activeRuns = 0
let restoreOutput: (() => void) | undefined

/**
 * Runs something with all that it prints past the command line handed to `write`; what others print
 * at the same time is left alone.
 */
export async function withStrayOutput<T>(
  write: (text: string) => void,
  run: () => Promise<T>,
): Promise<T> {
  if (activeRuns++ === 0) restoreOutput = redirectOutput()
  try {
    return await currentRun.run({ write, console: createConsole(write) }, run)
  } finally {
    if (--activeRuns === 0) restoreOutput?.()
  }
}

function createConsole(write: (text: string) => void): Console {
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      write(chunk)
      done()
    },
  })
  return new Console({ stdout: stream, stderr: stream })
}

// A test runner may have its own console, which does not write to the streams of the process.
function redirectOutput(): () => void {
  const methods = Object.keys(console).filter(
    (name) =>
      typeof (console as unknown as PatchedObject)[name] === 'function' &&
      name in Console.prototype,
  )
  const undo = [
    ...methods.map((name) =>
      replaceMethod(
        console as unknown as PatchedObject,
        name,
        (stray) => (stray.console as unknown as PatchedObject)[name] as OutputMethod,
      ),
    ),
    ...[process.stdout, process.stderr].map((stream) =>
      replaceMethod(stream as unknown as PatchedObject, 'write', createWrite),
    ),
  ]
  return () => undo.forEach((again) => again())
}

function createWrite({ write }: StrayOutputRun): OutputMethod {
  return (chunk, encoding, done) => {
    write(typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString())
    const told = typeof encoding === 'function' ? encoding : done
    if (typeof told === 'function') queueMicrotask(() => void (told as OutputMethod)())
    return true
  }
}

function replaceMethod(
  holder: PatchedObject,
  name: string,
  choose: (stray: StrayOutputRun) => OutputMethod,
): () => void {
  const own = Object.getOwnPropertyDescriptor(holder, name)
  const original = holder[name] as OutputMethod
  const replaced = function (this: unknown, ...args: unknown[]): unknown {
    const stray = currentRun.getStore()
    return stray ? choose(stray)(...args) : Reflect.apply(original, this, args)
  }
  holder[name] = replaced
  return () => {
    // Whoever has replaced it since holds ours, and it does no harm.
    if (holder[name] !== replaced) return
    if (own) Object.defineProperty(holder, name, own)
    else delete holder[name]
  }
}
