import type { JsonSchema } from '../../contract/json.ts'

export type Place = 'path' | 'query' | 'header' | 'cookie'

/** How one input field becomes part of a request. */
export type FieldPlan = {
  readonly field: string
  /** What the API calls it. */
  readonly name: string
  readonly in: Place
  readonly style: string
  readonly explode: boolean
  /** The value travels as JSON text. */
  readonly json?: true
}

/** How the body is made: of all fields that are no parameters, or of one field. */
export type BodyPlan = { readonly type: string; readonly field?: string }

/** How an input becomes a request. */
export type RequestPlan = {
  readonly fields: readonly FieldPlan[]
  readonly body?: BodyPlan
  /** Headers that say how the call is made, and that only we set: a toolable server has them. */
  readonly control: readonly string[]
  readonly schema: JsonSchema
}
