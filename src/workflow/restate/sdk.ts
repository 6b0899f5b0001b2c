/**
 * The part of `@restatedev/restate-sdk` that is used, as types, and the loader of the package. The
 * package is optional.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ToolError } from '../../protocol/tool-error.ts'

// The little of `@restatedev/restate-sdk` that is used here, so that its types are not needed where
// it is not installed.

/** A promise whose place in the order of events is recorded. */
export type RestatePromise<Value> = Promise<Value> & {
  map<Mapped>(mapper: (value?: Value, failure?: RestateFailure) => Mapped): RestatePromise<Mapped>
}

/** A call of another handler. */
type RestateCall<Value> = RestatePromise<Value> & { readonly invocationId: RestatePromise<string> }

/** What a terminal error of the engine carries. */
export type RestateFailure = Error & { readonly code: number }

/** A value that is resolved once, from anywhere, under a name. */
type RestateDurablePromise<Value> = {
  get(): RestatePromise<Value>
  peek(): RestatePromise<Value | undefined>
  resolve(value: Value): RestatePromise<void>
}

/** What every handler is given. */
export type RestateContext = {
  readonly key: string
  readonly date: { now(): RestatePromise<number> }
  run<Value>(name: string, action: () => Promise<Value>): RestatePromise<Value>
  sleep(milliseconds: number, name?: string): RestatePromise<void>
  genericCall<Input, Output>(call: {
    readonly service: string
    readonly key?: string
    readonly method: string
    readonly parameter: Input
    readonly inputSerde: unknown
    readonly outputSerde: unknown
    readonly name?: string
  }): RestateCall<Output>
  genericSend<Input>(send: {
    readonly service: string
    readonly key?: string
    readonly method: string
    readonly parameter: Input
    readonly inputSerde: unknown
  }): unknown
  awakeable<Value>(): { readonly id: string; readonly promise: RestatePromise<Value> }
  resolveAwakeable(id: string, value: unknown): void
  cancel(invocationId: string): void
  promise<Value>(name: string): RestateDurablePromise<Value>
  get<Value>(name: string): RestatePromise<Value | null>
  set(name: string, value: unknown): void
  clear(name: string): void
  stateKeys(): RestatePromise<string[]>
}

export type RestateHandler<Input, Output> = (
  context: RestateContext,
  input: Input,
) => Promise<Output>

/** Milliseconds, or a sum of units. */
type RestateDuration = number | { readonly days?: number; readonly seconds?: number }

/** How the engine treats a handler. */
export type RestateOptions = {
  readonly inactivityTimeout?: RestateDuration
  readonly abortTimeout?: RestateDuration
  readonly journalRetention?: RestateDuration
  readonly workflowRetention?: RestateDuration
  readonly ingressPrivate?: boolean
  readonly enableLazyState?: boolean
  readonly retryPolicy?: {
    readonly maxAttempts?: number
    readonly initialInterval?: RestateDuration
    readonly maxInterval?: RestateDuration
    readonly exponentiationFactor?: number
    readonly onMaxAttempts?: 'pause' | 'kill'
  }
}

type RestateServiceDefinition = {
  readonly name: string
  readonly handlers: { readonly [name: string]: unknown }
  readonly options?: RestateOptions
}
type DeclareRestateHandler = <Input, Output>(
  options: RestateOptions,
  handler: RestateHandler<Input, Output>,
) => unknown

/** The module. */
export type RestateSdk = {
  service(definition: RestateServiceDefinition): unknown
  workflow(definition: RestateServiceDefinition): unknown
  object(definition: RestateServiceDefinition): unknown
  readonly handlers: {
    readonly handler: DeclareRestateHandler
    readonly workflow: {
      readonly workflow: DeclareRestateHandler
      readonly shared: DeclareRestateHandler
    }
    readonly object: {
      readonly exclusive: DeclareRestateHandler
      readonly shared: DeclareRestateHandler
    }
  }
  readonly RestatePromise: {
    race<Value>(promises: readonly RestatePromise<Value>[]): RestatePromise<Value>
  }
  readonly TerminalError: new (
    message: string,
    options?: { readonly errorCode?: number },
  ) => RestateFailure
  readonly CancelledError: new () => RestateFailure
  readonly RestateError: new (message: string) => Error
  readonly serde: { readonly json: unknown }
  createEndpointHandler(options: {
    readonly services: readonly unknown[]
    readonly logger?: (
      meta: { readonly level: string; readonly replaying: boolean },
      ...words: readonly unknown[]
    ) => void
  }): {
    (request: IncomingMessage, response: ServerResponse): void
    (request: Http2ServerRequest, response: Http2ServerResponse): void
  }
}

/**
 * The version that runs on every Node that we run on: later ones need functions that Node 20 does
 * not have.
 */
const SDK_PACKAGE = '@restatedev/restate-sdk@1.12.0'

/**
 * Loads the SDK of the project in `cwd`, or the one beside this package. Throws CONFIG, with the
 * command that installs it.
 */
export async function loadRestateSdk(cwd: string): Promise<RestateSdk> {
  const file = resolveSdk(join(cwd, 'package.json')) ?? resolveSdk(import.meta.url)
  if (file === undefined)
    throw new ToolError(
      'CONFIG',
      `workers for Restate need the package @restatedev/restate-sdk, and it is not installed in ${cwd}`,
      { suggestion: `npm install ${SDK_PACKAGE}` },
    )
  let loaded: Partial<RestateSdk>
  try {
    loaded = await import(pathToFileURL(file).href)
  } catch (error) {
    throw new ToolError(
      'CONFIG',
      `@restatedev/restate-sdk cannot be loaded: ${(error as Error).message}`,
      { suggestion: `npm install ${SDK_PACKAGE}`, cause: error },
    )
  }
  if (!loaded.workflow || !loaded.createEndpointHandler || !loaded.RestatePromise)
    throw new ToolError(
      'CONFIG',
      `${file} is a version of @restatedev/restate-sdk that does not fit`,
      { suggestion: `npm install ${SDK_PACKAGE}` },
    )
  return loaded as RestateSdk
}

function resolveSdk(from: string): string | undefined {
  try {
    return createRequire(from).resolve('@restatedev/restate-sdk')
  } catch {
    return undefined
  }
}
