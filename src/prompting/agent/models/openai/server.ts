import type { JsonObject } from '../../../../contract/json.ts'

/** Everything that a request needs. */
export type OpenAiServer = {
  readonly model: string
  readonly address: URL
  readonly headers: { readonly [name: string]: string }
  /** Never told to anybody else. */ readonly secrets: readonly string[]
  readonly stream: boolean
  readonly silence: number
  readonly strict: boolean
  readonly body: JsonObject
}
