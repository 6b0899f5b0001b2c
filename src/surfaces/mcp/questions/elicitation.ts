import type { Interaction } from '../../../contract/interaction.ts'
import { isObject } from '../../../contract/json.ts'
import type { JsonSchema } from '../../../contract/json.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import { RPC, RpcError } from '../wire/messages.ts'
import type { Question } from './question.ts'

type Form = { readonly properties: { readonly [name: string]: object }; readonly required: readonly string[]; /** Takes the answer out of the filled form. */ take(content: JsonSchema): unknown; readonly schema?: JsonSchema }

const FIELD = 'answer'

/** A question of a tool as a form that the client shows to its user. */
export function elicit(question: Interaction): Question {
  const form = formOf(question)
  return {
    capability: 'elicitation',
    key: question.key,
    method: 'elicitation/create',
    params: {
      mode: 'form',
      message: question.problem === undefined ? question.prompt : `${question.prompt}\n(The last answer ${question.problem}.)`,
      requestedSchema: form.schema ?? { type: 'object', properties: form.properties, required: form.required },
    },
    read: (answer) => readForm(answer, form, question),
  }
}

function readForm(answer: unknown, form: Form, question: Interaction): unknown {
  const action = isObject(answer) ? answer['action'] : undefined
  if (action === 'accept') return form.take(isObject(answer) && isObject(answer['content']) ? answer['content'] : {})
  if (action !== 'decline' && action !== 'cancel') throw new RpcError(RPC.invalidParams, 'the answer to an elicitation needs an action: accept, decline or cancel')
  if (question.dialogue) return undefined
  if (question.kind === 'confirm') return false
  throw new ToolError('PERMISSION', `the user ${action === 'decline' ? 'declined to answer' : 'dismissed'} '${question.prompt}'`, { details: { action }, suggestion: { action: 'abort', fix: 'Do not ask again unless the user wants it' } })
}

function formOf({ kind, prompt, schema, options = [], default: byDefault, dialogue }: Interaction): Form {
  const start = byDefault === undefined ? {} : { default: byDefault }
  if (kind === 'confirm') return single({ type: 'boolean', title: 'Yes?', ...start }, (value) => value ?? true)
  if (kind === 'decision') {
    const labelled = options.some(({ label }) => label !== undefined)
    const choices = labelled ? { oneOf: options.map(({ value, label }) => ({ const: value, title: label ?? value })) } : { enum: options.map(({ value }) => value) }
    return single({ type: 'string', ...choices, ...start })
  }
  if (dialogue) return { ...single({ type: 'string', title: 'Answer' }), take: (content) => content }
  if (schema === undefined) return single({ type: 'string', ...start })
  if (isFlatForm(schema)) return { properties: {}, required: [], schema, take: (content) => content }
  if (isPrimitive(schema)) return single({ ...schema, ...start })
  return single({ type: 'string', title: 'JSON', description: `JSON for: ${prompt}` }, parseAnswer)
}

function single(property: object, take: (value: unknown) => unknown = (value) => value): Form {
  return { properties: { [FIELD]: property }, required: [FIELD], take: (content) => take(content[FIELD]) }
}

// Forms have one level: texts, numbers, booleans, and choices of texts.
function isFlatForm(schema: JsonSchema): boolean {
  return schema['type'] === 'object' && isObject(schema['properties']) && Object.values(schema['properties']).every((property) => isObject(property) && (isPrimitive(property) || isMultipleChoice(property)))
}

function isPrimitive({ type }: JsonSchema): boolean {
  return type === 'string' || type === 'number' || type === 'integer' || type === 'boolean'
}

function isMultipleChoice({ type, items }: JsonSchema): boolean {
  return type === 'array' && isObject(items) && (Array.isArray(items['enum']) || Array.isArray(items['anyOf']))
}

function parseAnswer(text: unknown): unknown {
  try {
    return JSON.parse(String(text)) as unknown
  } catch {
    return text
  }
}
