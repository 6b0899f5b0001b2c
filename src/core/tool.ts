/**
 * Calls: from a defined tool to an outcome. Nothing in `core/` knows a transport.
 *
 * Every start loads this file, `provider.ts` (sets of tools, and what transports see of them) and
 * `call.ts`. The code that makes a call is loaded by the first call, through `loadEngine`. Read it
 * in this order: `invoke.ts` (one call from input to outcome), `context.ts` (its input and what the
 * handler receives), `result.ts`, `json-value.ts` and `events.ts` (what comes out), `lifecycle.ts`
 * (deadline and cancellation). State, guards and files have their own folders.
 */

import type { LazySchema } from '../define/schema/source.ts'
import type {
  DeclaredResult,
  InputOf,
  Literals,
  Primitive,
  RunReturn,
  ToolDefinition,
  ToolOptions,
  ToolResultFor,
} from '../define/tool-types.ts'
import { defineTool } from '../define/tool.ts'
import { isVerifiedBuild } from '../protocol/built-program.ts'
import type { CallEvent } from '../protocol/events.ts'
import type { ToolManifest } from '../protocol/manifest.ts'
import type { Outcome } from '../protocol/outcome.ts'
import { createFailureOutcome, reviveToolError, ToolError } from '../protocol/tool-error.ts'
import type { CallIdentity, CallOptions, CallResult, PendingCall } from './call.ts'
import type * as Engine from './engine.ts'

const toolBrand = Symbol.for('toolable.tool')

type ToolCallArguments<Input> = unknown extends Input
  ? [input?: unknown, options?: CallOptions]
  : {} extends Input
    ? [input?: Input, options?: CallOptions]
    : [input: Input, options?: CallOptions]

/**
 * A tool is an ordinary async function: it validates, runs, returns the result, and throws
 * ToolError.
 */
export type Tool<Input = unknown, Result = unknown> = {
  (...call: ToolCallArguments<Input>): Promise<Result>
  readonly [toolBrand]: ToolDefinition
  /** The events of one call, ending in its `result`. Leaving the loop cancels the call. */
  stream(...call: ToolCallArguments<Input>): AsyncIterable<CallEvent>
  /** Everything that can be said about the tool without running it. */
  manifest(): Promise<ToolManifest>
}

/** A tool of any type. */
export type AnyTool = Tool<never, unknown> | Tool<unknown, unknown> | Tool

type EmptyInput = Record<string, never>
type InputFor<Input extends LazySchema | undefined> = Input extends LazySchema
  ? InputOf<Input>
  : EmptyInput

/**
 * Defines a tool. Throws CONFIG, saying what to change, when the definition cannot work on every
 * surface.
 */
export function tool<
  const Input extends LazySchema | undefined = undefined,
  const Output extends LazySchema | undefined = undefined,
  Literal extends Primitive = Primitive,
  Returned extends RunReturn<Literals<Literal>> = never,
>(
  options: ToolOptions<Input, Output, Returned & RunReturn<DeclaredResult<Output>>>,
): Tool<InputFor<Input>, ToolResultFor<Output, Returned>> {
  const made = createCallable(options)
  // A build has looked at all tools of its program. Of those of a big one most starts need none but
  // the one that is called.
  if (!isVerifiedBuild()) getDefinition(made)
  return made as unknown as Tool<InputFor<Input>, ToolResultFor<Output, Returned>>
}

/** Calls a tool and gives its outcome; never throws. */
export function call<Input, Result>(
  target: Tool<Input, Result>,
  ...given: ToolCallArguments<NoInfer<Input>>
): Promise<Outcome<Result>>
export function call(target: Tool, input?: unknown, options?: CallOptions): Promise<Outcome> {
  if (!isTool(target)) {
    const error = new ToolError('CONFIG', 'call() needs a tool that tool() made')
    return Promise.resolve(createFailureOutcome(error.toObject(), ''))
  }
  return performCall(getDefinition(target), input, options, getOutcome)
}

// The engine is loaded by the first call. Each call costs one promise, whether it waits or not.
function performCall<Answer>(
  definition: ToolDefinition,
  input: unknown,
  options: CallOptions | undefined,
  read: (finished: CallResult) => Answer,
): Promise<Answer> {
  const engine = loadEngine()
  if (engine instanceof Promise)
    return engine.then(() => performCall(definition, input, options, read))
  const pending = engine.beginCall(definition, input, options)
  return pending.result ? readNow(pending.result, read) : readLater(pending, read)
}

async function readNow<Answer>(
  result: CallResult,
  read: (finished: CallResult) => Answer,
): Promise<Answer> {
  return read(result)
}

function readLater<Answer>(
  pending: PendingCall,
  read: (finished: CallResult) => Answer,
): Promise<Answer> {
  return new Promise((resolve, reject) =>
    pending.onFinish((result) => {
      try {
        resolve(read(result))
      } catch (error) {
        reject(error)
      }
    }),
  )
}

/** Makes a call of a tool of a toolset. Loads the engine where it is the first; never throws. */
export function invokeTool(
  definition: ToolDefinition,
  input: unknown,
  options: CallOptions | undefined,
  identity?: CallIdentity,
): Promise<CallResult> {
  const engine = loadEngine()
  return engine instanceof Promise
    ? engine.then(({ invoke }) => invoke(definition, input, options, identity))
    : engine.invoke(definition, input, options, identity)
}

export function getOutcome({ outcome }: CallResult): Outcome {
  return outcome
}

function getValue({ outcome, value, error }: CallResult): unknown {
  if (outcome.ok) return value
  throw error ?? reviveToolError(outcome.error)
}

/** The checked definition behind a tool. */
export function getDefinition(target: { readonly [toolBrand]: ToolDefinition }): ToolDefinition {
  return target[toolBrand]
}

/** True for what `tool` gives, also from another copy of this package. */
export function isTool(value: unknown): value is Tool {
  return typeof value === 'function' && toolBrand in value
}

function createCallable(options: ToolOptions): Tool {
  const made = ((input?: unknown, given?: CallOptions): Promise<unknown> =>
    performCall(made[toolBrand], input, given, getValue)) as Tool & { [authorOptions]: ToolOptions }
  Object.defineProperty(made, 'name', { value: options.name })
  Object.setPrototypeOf(made, TOOL_PROTOTYPE)
  made[authorOptions] = options
  return made
}

// What the author wrote, until the definition is needed.
const authorOptions = Symbol('options')

// Shared by all tools: members of one tool are created on first use.
const TOOL_PROTOTYPE: object = Object.create(Function.prototype, {
  [toolBrand]: {
    get(this: Tool & { [authorOptions]: ToolOptions }): ToolDefinition {
      const definition = defineTool(this[authorOptions], { isVerified: isVerifiedBuild() })
      Object.defineProperty(this, toolBrand, { value: definition })
      return definition
    },
  },
  stream: {
    get(this: Tool): Tool['stream'] {
      return (input?: unknown, options?: CallOptions) =>
        createLazyStream(async () => {
          const { invoke, streamCall } = await loadEngine()
          return streamCall((streaming) => invoke(getDefinition(this), input, streaming), options)
        })
    },
  },
  manifest: {
    get(this: Tool): Tool['manifest'] {
      return async () => (await getDefinition(this).compiled()).manifest
    },
  },
})

let loadedEngine: typeof Engine | undefined

/** The part that makes calls; a promise only the first time. */
export function loadEngine(): typeof Engine | Promise<typeof Engine> {
  return loadedEngine ?? import('./engine.ts').then((loaded) => (loadedEngine = loaded))
}

/**
 * A stream that is opened by the first look at it. A reader may leave at any time, also while
 * nothing comes.
 */
export function createLazyStream(
  open: () => Promise<AsyncIterableIterator<CallEvent>>,
): AsyncIterableIterator<CallEvent> {
  let opened: Promise<AsyncIterableIterator<CallEvent>> | undefined
  let left = false
  const done = { done: true, value: undefined } as const
  return {
    async next() {
      if (left && !opened) return done
      return (await (opened ??= open())).next()
    },
    async return() {
      left = true
      return (await (await opened)?.return?.()) ?? done
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
