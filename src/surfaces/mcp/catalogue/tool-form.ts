import { isObject } from '../../../contract/json.ts'
import type { JsonSchema } from '../../../contract/json.ts'
import type { ToolFacts } from '../../../contract/manifest.ts'
import { reservedFields } from '../../../define/reserved.ts'
import type { Caller } from '../exchange.ts'
import type { ServedTool } from '../source.ts'

/** A tool as `tools/list` shows it. */
export type ToolForm = {
  readonly name: string
  readonly inputSchema: object
  readonly outputSchema?: object
  readonly [field: string]: unknown
}

/** Describes a tool to clients of an era: older ones can only take results that are objects. */
export async function toolForm(tool: ServedTool, era: Caller['era']): Promise<ToolForm> {
  const { facts } = tool
  const manifest = await tool.manifest()
  const written = tool.written()
  const input = written.input ?? manifest.inputSchema
  const outputSchema = outputOf(
    written.output ?? manifest.outputSchema,
    reservedFields(input).dryRun !== undefined,
    era,
  )
  const annotations = annotationHints(facts)
  return {
    name: tool.name,
    ...(facts.title !== undefined && { title: facts.title }),
    description:
      facts.description === undefined ? facts.summary : `${facts.summary}\n\n${facts.description}`,
    inputSchema: objectInput(input),
    ...(outputSchema && { outputSchema }),
    ...(annotations && { annotations }),
    ...(facts.mcp?.meta && { _meta: facts.mcp.meta }),
  }
}

/** True when an older client gets the result inside `{result: …}`. */
export function isWrapped(output: JsonSchema): boolean {
  return output['type'] !== 'object'
}

// Clients look for `type: "object"`, which an author may have left out.
function objectInput(schema: JsonSchema): object {
  return schema['type'] === 'object' ? schema : { type: 'object', ...schema }
}

// What a tool gives when its input asks only for a plan.
const PLAN = {
  type: 'object',
  description: 'What a dry run gives',
  anyOf: [{ required: ['plan'] }, { required: ['would_execute'] }],
} as const

function outputOf(
  output: JsonSchema | undefined,
  canPlan: boolean,
  era: Caller['era'],
): object | undefined {
  if (!output) return undefined
  const wrapped = era === 'legacy' && isWrapped(output)
  if (!wrapped && !canPlan) return output
  const { $defs, $schema, ...result } = output
  // Moved one level down, a reference to anything but $defs would point at nothing.
  if (pointsElsewhere(result) || pointsElsewhere($defs)) return undefined
  const inner = canPlan ? { anyOf: [result, PLAN] } : result
  const outer = wrapped
    ? { type: 'object', properties: { result: inner }, required: ['result'] }
    : { ...(!isWrapped(output) && { type: 'object' }), ...inner }
  return {
    ...($schema !== undefined && { $schema }),
    ...outer,
    ...($defs !== undefined && { $defs }),
  }
}

function pointsElsewhere(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(pointsElsewhere)
  if (!isObject(value)) return false
  return Object.entries(value).some(([key, inner]) =>
    ['$ref', '$dynamicRef', '$id', '$anchor', '$dynamicAnchor'].includes(key) &&
    typeof inner === 'string'
      ? !inner.startsWith('#/$defs/')
      : pointsElsewhere(inner),
  )
}

function annotationHints({ annotations, title }: ToolFacts): object | undefined {
  const { readOnly, destructive, idempotent, openWorld } = annotations
  const hints = {
    ...(title !== undefined && { title }),
    ...(readOnly !== undefined && { readOnlyHint: readOnly }),
    ...(destructive !== undefined && { destructiveHint: destructive }),
    ...(idempotent !== undefined && { idempotentHint: idempotent }),
    ...(openWorld !== undefined && { openWorldHint: openWorld }),
  }
  return Object.keys(hints).length === 0 ? undefined : hints
}
