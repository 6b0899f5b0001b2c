import type { JsonObject } from '../../../contract/json.ts'
import type { ToolFacts } from '../../../contract/manifest.ts'

const yes = { type: 'string', enum: ['yes', 'no'], default: 'no' } as const

/** Headers and query parameters that calls share. */
export const SHARED_PARAMETERS = {
  Confirm: {
    name: 'Toolable-Confirm',
    in: 'header',
    description: 'Consent to a destructive tool.',
    schema: yes,
  },
  DryRun: {
    name: 'Toolable-Dry-Run',
    in: 'header',
    description: 'Plan instead of act; the result is then the plan.',
    schema: yes,
  },
  Timeout: {
    name: 'Toolable-Timeout',
    in: 'header',
    description: 'Longest time the call may take: seconds, or a number with ms, s, m or h.',
    schema: { type: 'string', examples: ['30s'] },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Repeats with the same key and input get the first answer for 24 hours.',
    schema: { type: 'string', maxLength: 255 },
  },
  Caller: {
    name: 'Toolable-Caller',
    in: 'header',
    description: 'Who calls, for the record.',
    schema: { type: 'string', maxLength: 100 },
  },
  Stream: {
    name: 'stream',
    in: 'query',
    description: 'Answer with server-sent events, as `Accept: text/event-stream` does.',
    schema: { type: 'boolean', default: false },
  },
} as const satisfies { readonly [name: string]: JsonObject }

/** References to the parameters that make sense for a tool. */
export function parametersOf({
  annotations,
}: Pick<ToolFacts, 'annotations'>): readonly JsonObject[] {
  const { Confirm: _confirm, ...common } = SHARED_PARAMETERS
  return Object.keys(annotations.destructive ? SHARED_PARAMETERS : common).map((name) => ({
    $ref: `#/components/parameters/${name}`,
  }))
}
