import type { JsonSchema } from './json.ts'

/** A choice of a decision. */
export type InteractionOption = {
  readonly value: string
  readonly label?: string
  readonly description?: string
}

/** A question that waits for somebody: a person, the calling agent, or a policy. */
export type Interaction = {
  readonly id: string
  readonly kind: 'decision' | 'input' | 'confirm' | 'sample'
  readonly prompt: string
  readonly schema?: JsonSchema
  readonly options?: readonly InteractionOption[]
  readonly default?: unknown
  /** Seconds to wait for an answer. */
  readonly timeout?: number
  /** Part of a session: any JSON object is an answer. */
  readonly dialogue?: true
  /** Why the last answer to this question was refused. */
  readonly problem?: string
  /** For `sample`: the parameters of the completion. */
  readonly sampling?: Omit<SampleRequest, 'id' | 'prompt' | 'key'>
  /** The name that the tool gave the question: the same in every run of the same call. */
  readonly key?: string
}

/** A request for a completion by the caller's model. */
export type SampleRequest = {
  readonly id: string
  readonly prompt: string
  readonly max_tokens: number
  readonly system?: string
  readonly temperature?: number
  readonly stop_sequences?: readonly string[]
  /** The name that the tool gave the request. */
  readonly key?: string
}

/** Answers a question; undefined means that nobody is there to answer. */
export type Answerer = (question: Interaction, signal: AbortSignal) => unknown | Promise<unknown>

/** Completes a prompt with the caller's model. */
export type Sampler = (request: SampleRequest, signal: AbortSignal) => string | Promise<string>

/** A folder or other place that the caller works in. */
export type Root = { readonly uri: string; readonly name?: string }

/** Tells the places that the caller works in. */
export type RootsProvider = (
  request: { readonly key?: string },
  signal: AbortSignal,
) => readonly Root[] | Promise<readonly Root[]>
