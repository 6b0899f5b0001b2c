import type { Params } from '../wire/messages.ts'

/** Something the server asks of the client, and how its answer becomes what the tool waits for. Throws ToolError for a refusal. */
export type Question = {
  readonly capability: 'elicitation' | 'sampling' | 'roots'
  readonly key: string | undefined
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list'
  readonly params: Params
  read(answer: unknown): unknown
}
