import type { Interaction } from '../../../contract/interaction.ts'
import { isObject } from '../../../contract/json.ts'
import type { JsonSchema } from '../../../contract/json.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import { RPC, RpcError } from '../wire/messages.ts'
import { fieldOf, formOfObject } from './form-schema.ts'
import type { FormSchema } from './form-schema.ts'
import type { Question } from './question.ts'

type Form = {
  readonly schema: FormSchema
  /** Takes the answer out of the filled form. */ take(content: JsonSchema): unknown
}

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
      message:
        question.problem === undefined
          ? question.prompt
          : `${question.prompt}\n(The last answer ${question.problem}.)`,
      requestedSchema: form.schema,
    },
    read: (answer) => readForm(answer, form, question),
  }
}

function readForm(answer: unknown, form: Form, question: Interaction): unknown {
  const action = isObject(answer) ? answer['action'] : undefined
  if (action === 'accept')
    return form.take(isObject(answer) && isObject(answer['content']) ? answer['content'] : {})
  if (action !== 'decline' && action !== 'cancel')
    throw new RpcError(
      RPC.invalidParams,
      'the answer to an elicitation needs an action: accept, decline or cancel',
    )
  if (question.dialogue) return undefined
  if (question.kind === 'confirm') return false
  throw new ToolError(
    'PERMISSION',
    `the user ${action === 'decline' ? 'declined to answer' : 'dismissed'} '${question.prompt}'`,
    {
      details: { action },
      suggestion: { action: 'abort', fix: 'Do not ask again unless the user wants it' },
    },
  )
}

function formOf({
  kind,
  prompt,
  schema,
  options = [],
  default: byDefault,
  dialogue,
}: Interaction): Form {
  const start = byDefault === undefined ? {} : { default: byDefault }
  // An empty form that was accepted is a yes only where no was not the default.
  if (kind === 'confirm')
    return single(
      { type: 'boolean', title: 'Yes?', ...start },
      (value) => value ?? byDefault ?? true,
    )
  if (kind === 'decision') {
    const labelled = options.some(({ label }) => label !== undefined)
    const choices = labelled
      ? { oneOf: options.map(({ value, label }) => ({ const: value, title: label ?? value })) }
      : { enum: options.map(({ value }) => value) }
    return single({ type: 'string', ...choices, ...start })
  }
  if (dialogue)
    return { ...single({ type: 'string', title: 'Answer' }), take: (content) => content }
  if (schema === undefined) return single({ type: 'string', ...start })
  const form = formOfObject(schema)
  if (form) return { schema: form, take: (content) => content }
  const field = schema['type'] === 'array' ? undefined : fieldOf({ ...schema, ...start })
  return field
    ? single(field)
    : single({ type: 'string', title: 'JSON', description: `JSON for: ${prompt}` }, parseAnswer)
}

function single(field: object, take: (value: unknown) => unknown = (value) => value): Form {
  return {
    schema: { type: 'object', properties: { [FIELD]: field }, required: [FIELD] },
    take: (content) => take(content[FIELD]),
  }
}

function parseAnswer(text: unknown): unknown {
  try {
    return JSON.parse(String(text)) as unknown
  } catch {
    return text
  }
}
