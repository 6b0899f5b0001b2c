import type { KeyPath } from '../../../contract/documents/document.ts'
import { isObject } from '../../../contract/json.ts'
import { shown } from '../definition-reader.ts'
import type { DefinitionReader } from '../definition-reader.ts'
import type { Use } from '../draft.ts'
import { ANSWER_KEYS, WAIT_KEYS } from '../keys.ts'
import { readOptions } from '../read-question.ts'
import { rememberQuestion } from '../source-of-step.ts'
import type { KindRead, ReadKind } from './kind.ts'

// A moment without its zone is another one on every machine.
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/

type ReadWait = (reader: DefinitionReader, value: unknown, path: KeyPath) => KindRead

const WAYS: { readonly [way: string]: ReadWait } = {
  for: readFor,
  until: readUntil,
  answer: readAnswer,
}

/** `wait: 10m`, or `wait: {for: ...}`, `{until: ...}`, `{answer: ...}` */
export const readWait: ReadKind = ({ wait }, path, { reader }) => {
  const at = [...path, 'wait']
  if (!isObject(wait)) return readFor(reader, wait, at)
  reader.knownKeys(wait, Object.keys(WAIT_KEYS), at, "'wait'")
  const ways = Object.keys(WAYS).filter((way) => wait[way] !== undefined)
  if (ways.length !== 1)
    return {
      fields: reader.find(
        at,
        `'wait' needs one of 'for', 'until' and 'answer'; it has ${ways.length === 0 ? 'none' : ways.join(' and ')}`,
        'Write wait: 10m',
      ),
    }
  return WAYS[ways[0]!]!(reader, wait[ways[0]!], [...at, ways[0]!])
}

/** `type: wait` with one of the ways beside it. */
export const waitBy =
  (way: string): ReadKind =>
  (given, path, { reader }) =>
    WAYS[way]!(reader, given[way], [...path, way])

function readFor(reader: DefinitionReader, value: unknown, path: KeyPath): KindRead {
  if (isExpression(value)) {
    const read = reader.value(value, path)
    return { fields: { for: read.value }, uses: read.uses }
  }
  return { fields: { for: reader.duration(value, path, 'none') } }
}

function readUntil(reader: DefinitionReader, value: unknown, path: KeyPath): KindRead {
  if (
    !isExpression(value) &&
    (typeof value !== 'string' || !MOMENT.test(value) || Number.isNaN(Date.parse(value)))
  )
    reader.find(
      path,
      `'until' must be a date and time with its zone, or an expression; got ${shown(value)}`,
      "Write until: '2030-01-31T08:00:00Z'",
    )
  const read = reader.value(value, path)
  return { fields: { until: read.value }, uses: read.uses }
}

function readAnswer(reader: DefinitionReader, value: unknown, path: KeyPath): KindRead {
  const answer = typeof value === 'string' ? { prompt: value } : value
  if (!isObject(answer))
    return {
      fields: reader.find(
        path,
        `'answer' must be a question; got ${shown(value)}`,
        'Write answer: Shall I go on?',
      ),
    }
  reader.knownKeys(answer, Object.keys(ANSWER_KEYS), path, "'answer'")
  const { prompt, schema, options, default: fallback } = answer
  if (typeof prompt !== 'string' || prompt === '')
    reader.find([...path, 'prompt'], `'prompt' must be a text; got ${shown(prompt)}`)
  if (schema !== undefined && !isObject(schema))
    reader.find([...path, 'schema'], "'schema' must be an object")
  const promptAt = typeof value === 'string' ? path : [...path, 'prompt']
  const read =
    options === undefined ? undefined : readOptions(reader, options, [...path, 'options'])
  const uses: readonly Use[] = [
    ...reader.value(prompt ?? '', promptAt).uses,
    ...(read?.uses ?? []),
    ...(fallback === undefined ? [] : reader.value(fallback, [...path, 'default']).uses),
  ]
  const asked = {
    prompt,
    ...(schema !== undefined && { schema: reader.value(schema, [...path, 'schema']).value }),
    ...(read && { options: read.options }),
    ...(fallback !== undefined && { default: reader.value(fallback, [...path, 'default']).value }),
  }
  rememberQuestion(asked, path)
  return { fields: { answer: asked }, uses }
}

function isExpression(value: unknown): value is string {
  return typeof value === 'string' && value.includes('${{')
}
