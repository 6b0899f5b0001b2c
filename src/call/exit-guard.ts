import type { AsyncLocalStorage } from 'node:async_hooks'
import { ToolError } from '../contract/tool-error.ts'

type Fail = (error: ToolError) => void
let calls: AsyncLocalStorage<Fail | undefined> | undefined
let servesOnly = false

class ExitCalled extends ToolError {}

/** From here on this process only serves: whoever calls `process.exit` in it is a handler. Cheaper for many calls than to follow each of them. Gives the function that ends it. */
export function refuseExit(failCall: Fail): () => void {
  const before = process.exit
  servesOnly = true
  process.exit = ((code?: number | string | null) => {
    const error = exitCalled(code)
    failCall(error)
    swallowForNow()
    throw error
  })
  return () => {
    servesOnly = false
    process.exit = before
  }
}

/** Runs a handler so that `process.exit` inside it fails the call instead of ending the host. */
export function withoutExit<T>(fail: Fail, run: () => T): T {
  return servesOnly ? run() : (calls ??= guardExit()).run(fail, run)
}

/** Runs something of the host in the middle of a handler's work: its `process.exit` is meant. */
export function asHost<T>(run: () => T): T {
  return calls && !servesOnly ? calls.run(undefined, run) : run()
}

function guardExit(): AsyncLocalStorage<Fail | undefined> {
  // Loaded here because programs that only print help never call.
  const { AsyncLocalStorage } = process.getBuiltinModule('node:async_hooks')
  const storage = new AsyncLocalStorage<Fail | undefined>()
  const exit = process.exit
  process.exit = ((code?: number | string | null) => {
    const failCall = storage.getStore()
    if (!failCall) return exit(code)
    const error = exitCalled(code)
    failCall(error)
    swallowForNow()
    throw error
  })
  return storage
}

function exitCalled(code: number | string | null | undefined): ExitCalled {
  return new ExitCalled('INTERNAL', `the tool called process.exit(${code ?? ''})`, { suggestion: { action: 'abort', fix: 'The author of the tool should throw or return instead' } })
}

// Thrown inside a timer or a promise that nobody awaits, the error reaches nobody: it must not end the host either.
let swallowing = 0
function swallowForNow(): void {
  if (swallowing++ === 0) process.on('uncaughtException', swallow)
  setImmediate(() => {
    if (--swallowing === 0) process.off('uncaughtException', swallow)
  }).unref()
}

function swallow(error: unknown): void {
  if (error instanceof ExitCalled) return
  process.off('uncaughtException', swallow)
  // Our listening must not save the process from an error that nobody else expects.
  if (process.listenerCount('uncaughtException') === 0) process.nextTick(() => { throw error })
}
