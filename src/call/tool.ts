import { isVerified } from '../contract/built.ts'
import type { CallEvent } from '../contract/events.ts'
import type { ToolManifest } from '../contract/manifest.ts'
import type { Outcome } from '../contract/outcome.ts'
import { ToolError, toolErrorFrom } from '../contract/tool-error.ts'
import { defineTool } from '../define/tool.ts'
import type { ToolDefinition, ToolOptions } from '../define/tool-type.ts'
import type { LazySchema } from '../define/schema/schema.ts'
import type {
  DeclaredResult,
  InputOf,
  Literals,
  Primitive,
  ResultFor,
  RunReturn,
} from '../define/types.ts'
import type { Begun, Finished } from './finished.ts'
import type { CallOptions } from './options.ts'
import { openLate } from './late-stream.ts'
import { loadEngine } from './load-engine.ts'

const brand = Symbol.for('toolable.tool')

type GivenInput<Input> = unknown extends Input
  ? [input?: unknown, options?: CallOptions]
  : {} extends Input
    ? [input?: Input, options?: CallOptions]
    : [input: Input, options?: CallOptions]

/** A tool is an ordinary async function: it validates, runs, returns the result, and throws ToolError. */
export type Tool<Input = unknown, Result = unknown> = {
  (...call: GivenInput<Input>): Promise<Result>
  readonly [brand]: ToolDefinition
  /** The events of one call, ending in its `result`. Leaving the loop cancels the call. */
  stream(...call: GivenInput<Input>): AsyncIterable<CallEvent>
  /** Everything that can be said about the tool without running it. */
  manifest(): Promise<ToolManifest>
}

/** A tool whatever its types are. */
export type AnyTool = Tool<never, unknown> | Tool<unknown, unknown> | Tool

type NoInput = Record<string, never>
type GivenFor<Input extends LazySchema | undefined> = Input extends LazySchema
  ? InputOf<Input>
  : NoInput

/** Defines a tool. Throws CONFIG, saying what to change, when the definition cannot work on every surface. */
export function tool<
  const Input extends LazySchema | undefined = undefined,
  const Output extends LazySchema | undefined = undefined,
  Literal extends Primitive = Primitive,
  Returned extends RunReturn<Literals<Literal>> = never,
>(
  options: ToolOptions<Input, Output, Returned & RunReturn<DeclaredResult<Output>>>,
): Tool<GivenFor<Input>, ResultFor<Output, Returned>> {
  const made = callable(options)
  // A build has looked at all tools of its program. Of those of a big one most starts need none but the one that is called.
  if (!isVerified()) definitionOf(made)
  return made as unknown as Tool<GivenFor<Input>, ResultFor<Output, Returned>>
}

/** Calls a tool and gives its outcome; never throws. */
export function call<Input, Result>(
  target: Tool<Input, Result>,
  ...given: GivenInput<NoInfer<Input>>
): Promise<Outcome<Result>>
export function call(target: Tool, input?: unknown, options?: CallOptions): Promise<Outcome> {
  if (!isTool(target))
    return Promise.resolve({
      ok: false,
      status: 'error',
      error: new ToolError('CONFIG', 'call() needs a tool that tool() made').toObject(),
      meta: { tool: '', duration_ms: 0 },
    })
  return perform(definitionOf(target), input, options, outcomeOf)
}

// The engine is there after the first call, and most calls have nothing to wait for.
function perform<Answer>(
  definition: ToolDefinition,
  input: unknown,
  options: CallOptions | undefined,
  read: (finished: Finished) => Answer,
): Promise<Answer> {
  const engine = loadEngine()
  return engine instanceof Promise
    ? performLater(engine, definition, input, options, read)
    : promiseOf(engine.begin(definition, input, options), read)
}

async function performLater<Answer>(
  engine: ReturnType<typeof loadEngine>,
  definition: ToolDefinition,
  input: unknown,
  options: CallOptions | undefined,
  read: (finished: Finished) => Answer,
): Promise<Answer> {
  const { begin } = await engine
  return promiseOf(begin(definition, input, options), read)
}

function promiseOf<Answer>(begun: Begun, read: (finished: Finished) => Answer): Promise<Answer> {
  if (!begun.finished) return promiseLater(begun, read)
  try {
    return Promise.resolve(read(begun.finished))
  } catch (error) {
    return Promise.reject(error)
  }
}

function promiseLater<Answer>(begun: Begun, read: (finished: Finished) => Answer): Promise<Answer> {
  return new Promise((resolve, reject) =>
    begun.whenFinished((finished) => {
      try {
        resolve(read(finished))
      } catch (error) {
        reject(error)
      }
    }),
  )
}

function outcomeOf({ outcome }: Finished): Outcome {
  return outcome
}

function valueOf({ outcome, value, error }: Finished): unknown {
  if (outcome.ok) return value
  throw error ?? toolErrorFrom(outcome.error)
}

/** The checked definition behind a tool. */
export function definitionOf(target: { readonly [brand]: ToolDefinition }): ToolDefinition {
  return target[brand]
}

/** True for what `tool` gives, also from another copy of this package. */
export function isTool(value: unknown): value is Tool {
  return typeof value === 'function' && brand in value
}

function callable(options: ToolOptions): Tool {
  const made = ((input?: unknown, given?: CallOptions): Promise<unknown> =>
    perform(made[brand], input, given, valueOf)) as Tool & { [author]: ToolOptions }
  Object.defineProperty(made, 'name', { value: options.name })
  Object.setPrototypeOf(made, ABILITIES)
  made[author] = options
  return made
}

// What the author has written, until somebody needs the definition.
const author = Symbol('options')

// Of all tools at once: what belongs to one is made when it is asked for.
const ABILITIES: object = Object.create(Function.prototype, {
  [brand]: {
    get(this: Tool & { [author]: ToolOptions }): ToolDefinition {
      const definition = defineTool(this[author], { isVerified: isVerified() })
      Object.defineProperty(this, brand, { value: definition })
      return definition
    },
  },
  stream: {
    get(this: Tool): Tool['stream'] {
      return (input?: unknown, options?: CallOptions) =>
        openLate(async () => {
          const { invoke, streamCall } = await loadEngine()
          return streamCall((streaming) => invoke(definitionOf(this), input, streaming), options)
        })
    },
  },
  manifest: {
    get(this: Tool): Tool['manifest'] {
      return async () => (await definitionOf(this).compiled()).manifest
    },
  },
})
