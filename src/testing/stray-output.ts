import { AsyncLocalStorage } from 'node:async_hooks'
import { Console } from 'node:console'
import { Writable } from 'node:stream'

type Stray = { readonly write: (text: string) => void; readonly console: Console }
type Method = (...args: unknown[]) => unknown
type Holder = { [name: string]: unknown }

const runs = new AsyncLocalStorage<Stray>()
let active = 0
let restore: (() => void) | undefined

/** Runs something with all that it prints past the command line handed to `write`; what others print at the same time is left alone. */
export async function withStrayOutput<T>(
  write: (text: string) => void,
  run: () => Promise<T>,
): Promise<T> {
  if (active++ === 0) restore = redirect()
  try {
    return await runs.run({ write, console: consoleInto(write) }, run)
  } finally {
    if (--active === 0) restore?.()
  }
}

function consoleInto(write: (text: string) => void): Console {
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      write(chunk)
      done()
    },
  })
  return new Console({ stdout: stream, stderr: stream })
}

// A test runner may have a console of its own, which does not end in the streams of the process.
function redirect(): () => void {
  const methods = Object.keys(console).filter(
    (name) =>
      typeof (console as unknown as Holder)[name] === 'function' && name in Console.prototype,
  )
  const undo = [
    ...methods.map((name) =>
      replace(
        console as unknown as Holder,
        name,
        (stray) => (stray.console as unknown as Holder)[name] as Method,
      ),
    ),
    ...[process.stdout, process.stderr].map((stream) =>
      replace(stream as unknown as Holder, 'write', writer),
    ),
  ]
  return () => undo.forEach((again) => again())
}

function writer({ write }: Stray): Method {
  return (chunk, encoding, done) => {
    write(typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString())
    const told = typeof encoding === 'function' ? encoding : done
    if (typeof told === 'function') queueMicrotask(() => void (told as Method)())
    return true
  }
}

function replace(holder: Holder, name: string, choose: (stray: Stray) => Method): () => void {
  const own = Object.getOwnPropertyDescriptor(holder, name)
  const original = holder[name] as Method
  const replaced = function (this: unknown, ...args: unknown[]): unknown {
    const stray = runs.getStore()
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
