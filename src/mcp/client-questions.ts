/**
 * What the server asks of a client: elicitation, sampling and roots.
 */

import type { Interaction, SampleRequest } from '../protocol/events.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { JsonSchema } from '../util/values.ts'
import { compact, isObject, tryParseJson } from '../util/values.ts'
import type { RpcParams } from './protocol.ts'
import { RPC_CODES, RpcError } from './protocol.ts'

type ElicitationForm = {
  readonly schema: FormSchema
  /** Takes the answer out of the filled form. */
  take(content: JsonSchema): unknown
}

const ANSWER_FIELD = 'answer'

/** A question of a tool as a form that the client shows to its user. */
export function createElicitation(question: Interaction): ClientQuestion {
  const form = createForm(question)
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
    read: (answer) => readElicitationAnswer(answer, form, question),
  }
}

function readElicitationAnswer(
  answer: unknown,
  form: ElicitationForm,
  question: Interaction,
): unknown {
  const { action, content } = isObject(answer) ? answer : {}
  if (action === 'accept') return form.take(isObject(content) ? content : {})
  if (action !== 'decline' && action !== 'cancel')
    throw new RpcError(
      RPC_CODES.invalidParams,
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

function createForm({
  kind,
  prompt,
  schema,
  options = [],
  default: byDefault,
  dialogue,
}: Interaction): ElicitationForm {
  const start = byDefault === undefined ? {} : { default: byDefault }
  // An empty form that was accepted is a yes only where no was not the default.
  if (kind === 'confirm')
    return createSingleFieldForm(
      { type: 'boolean', title: 'Yes?', ...start },
      (value) => value ?? byDefault ?? true,
    )
  if (kind === 'decision') {
    const labelled = options.some(({ label }) => label !== undefined)
    const choices = labelled
      ? { oneOf: options.map(({ value, label }) => ({ const: value, title: label ?? value })) }
      : { enum: options.map(({ value }) => value) }
    return createSingleFieldForm({ type: 'string', ...choices, ...start })
  }
  if (dialogue)
    return {
      ...createSingleFieldForm({ type: 'string', title: 'Answer' }),
      take: (content) => content,
    }
  if (schema === undefined) return createSingleFieldForm({ type: 'string', ...start })
  const form = toObjectForm(schema)
  if (form) return { schema: form, take: (content) => content }
  const field = schema['type'] === 'array' ? undefined : toFormField({ ...schema, ...start })
  return field
    ? createSingleFieldForm(field)
    : createSingleFieldForm(
        { type: 'string', title: 'JSON', description: `JSON for: ${prompt}` },
        parseJsonAnswer,
      )
}

function createSingleFieldForm(
  field: object,
  take: (value: unknown) => unknown = (value) => value,
): ElicitationForm {
  return {
    schema: { type: 'object', properties: { [ANSWER_FIELD]: field }, required: [ANSWER_FIELD] },
    take: (content) => take(content[ANSWER_FIELD]),
  }
}

function parseJsonAnswer(text: unknown): unknown {
  const parsed = tryParseJson(String(text))
  return parsed === undefined ? text : parsed
}

/** A form as clients can show it. */
type FormSchema = {
  readonly type: 'object'
  readonly properties: { readonly [name: string]: object }
  readonly required: readonly string[]
}

const TEXT_FORMATS: readonly unknown[] = ['email', 'uri', 'date', 'date-time']

/**
 * A schema of objects as a form of one level; undefined when it has more than texts, numbers,
 * booleans, and choices of texts.
 */
function toObjectForm({ type, properties, required }: JsonSchema): FormSchema | undefined {
  if (type !== 'object' || !isObject(properties)) return undefined
  const fields = Object.entries(properties).map(
    ([name, property]) => [name, isObject(property) ? toFormField(property) : undefined] as const,
  )
  if (fields.some(([, field]) => field === undefined)) return undefined
  return {
    type,
    properties: Object.fromEntries(fields) as { readonly [name: string]: object },
    required: Array.isArray(required) ? (required as readonly string[]) : [],
  }
}

/**
 * A schema as one field of a form, with nothing but what the protocol knows: clients refuse the
 * rest, and answers are checked here anyway.
 */
function toFormField(schema: JsonSchema): object | undefined {
  const { type, items } = schema
  switch (type) {
    case 'boolean':
      return pickKeywords(schema, [], 'boolean')
    case 'number':
    case 'integer':
      return pickKeywords(schema, ['minimum', 'maximum'], 'number')
    case 'string':
      return pickKeywords(schema, listTextKeywords(schema), 'string')
    case 'array': {
      const choice = isObject(items) ? toMultipleChoice(items) : undefined
      return (
        choice && { ...pickKeywords(schema, ['minItems', 'maxItems', 'default']), items: choice }
      )
    }
    default:
      return undefined
  }
}

function listTextKeywords(schema: JsonSchema): readonly string[] {
  if (isTextList(schema['enum'])) return ['enum', 'enumNames']
  if (isTitledList(schema['oneOf'])) return ['oneOf']
  const limits = ['minLength', 'maxLength']
  return TEXT_FORMATS.includes(schema['format']) ? [...limits, 'format'] : limits
}

function toMultipleChoice(items: JsonSchema): object | undefined {
  if (isTextList(items['enum'])) return { type: 'string', enum: items['enum'] }
  return isTitledList(items['anyOf']) ? { anyOf: items['anyOf'] } : undefined
}

/** The type, the labels and these keywords; the default too where it has the given type. */
function pickKeywords(
  schema: JsonSchema,
  names: readonly string[],
  defaultType?: 'string' | 'number' | 'boolean',
): object {
  const hasDefault = typeof schema['default'] === defaultType
  const wanted = ['type', 'title', 'description', ...names, ...(hasDefault ? ['default'] : [])]
  return compact(Object.fromEntries(wanted.map((name) => [name, schema[name]])))
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function isTitledList(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (item) =>
        isObject(item) && typeof item['const'] === 'string' && typeof item['title'] === 'string',
    )
  )
}

/** A prompt of a tool for the client's model. */
export function createSamplingQuestion({
  key,
  prompt,
  max_tokens,
  system,
  temperature,
  stop_sequences,
}: SampleRequest): ClientQuestion {
  return {
    capability: 'sampling',
    key,
    method: 'sampling/createMessage',
    params: compact({
      messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
      maxTokens: max_tokens,
      systemPrompt: system,
      temperature,
      stopSequences: stop_sequences,
    }),
    read(answer) {
      const content = isObject(answer) ? answer['content'] : undefined
      const text = (Array.isArray(content) ? content : [content]).flatMap((block: unknown) =>
        isObject(block) && block['type'] === 'text' && typeof block['text'] === 'string'
          ? [block['text']]
          : [],
      )
      if (text.length === 0)
        throw new ToolError('DEPENDENCY', "the completion of the client's model has no text")
      return text.join('')
    },
  }
}

/** The question which folders the client works in. */
export function createRootsQuestion(key: string | undefined): ClientQuestion {
  return {
    capability: 'roots',
    key,
    method: 'roots/list',
    params: {},
    read(answer) {
      const roots = isObject(answer) ? answer['roots'] : undefined
      if (!Array.isArray(roots))
        throw new RpcError(
          RPC_CODES.invalidParams,
          'the answer to roots/list needs a list of roots',
        )
      return roots.filter(isObject).flatMap(({ uri, name }) => {
        const known = typeof name === 'string' ? name : undefined
        return typeof uri === 'string' ? [compact({ uri, name: known })] : []
      })
    },
  }
}

/**
 * Something the server asks of the client, and how its answer becomes what the tool waits for.
 * Throws ToolError for a refusal.
 */
export type ClientQuestion = {
  readonly capability: 'elicitation' | 'sampling' | 'roots'
  readonly key: string | undefined
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list'
  readonly params: RpcParams
  read(answer: unknown): unknown
}
