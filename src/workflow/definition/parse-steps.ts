/**
 * Parses lists of steps: finds the form of each step, its name and common fields, and hands the
 * rest to its step kind.
 */

import { formatPath } from '../../define/schema/walk.ts'
import type { KeyPath } from '../../protocol/documents.ts'
import { describeUnknownName, findClosest, shorten } from '../../util/text.ts'
import { compact, isObject } from '../../util/values.ts'
import { getSteps } from '../steps/each.ts'
import type { ParsedStep, RawStep, StepParseContext } from '../steps/flow.ts'
import { STEP_PARSERS } from '../steps/table.ts'
import type { RetryPolicy, WorkflowStep } from './model.ts'
import { describeValue, setStepSource } from './reader.ts'
import type { DefinitionReader, ExpressionUse, StepDraft } from './reader.ts'
import { COMMON_STEP_KEYS, MAX_RETRIES, NAME_PATTERN, RETRY_KEYS, STEP_FORMS } from './schema.ts'
import type { StepForm } from './schema.ts'

const MAX_STEP_DEPTH = 20

/** What steps are read with. */
export type ParseStepsContext = {
  readonly reader: DefinitionReader
  readonly names: StepNamer
  readonly workflow: StepParseContext['workflow']
  /** Counts a step; false where there are too many. */
  count(): boolean
  readonly depth: number
}

/**
 * Reads a list of steps: each of them an object, or a text that is a command. Notes what is wrong.
 */
export function parseSteps(
  context: ParseStepsContext,
  value: unknown,
  path: KeyPath,
  role: 'steps' | 'tasks',
): readonly StepDraft[] {
  const { reader, depth } = context
  const refuse = (message: string): readonly StepDraft[] => reader.addProblem(path, message) ?? []
  if (!Array.isArray(value))
    return refuse(`'${String(path.at(-1))}' must be a list of steps; got ${describeValue(value)}`)
  if (value.length === 0 && role === 'steps')
    return refuse(`'${String(path.at(-1))}' needs at least one step`)
  if (depth > MAX_STEP_DEPTH)
    return refuse(`steps are nested more than ${MAX_STEP_DEPTH} levels deep`)
  return value.map((step: unknown, index) =>
    parseStep(context, step, [...path, index], (type) =>
      role === 'tasks' ? String(index) : `${type}-${index + 1}`,
    ),
  )
}

function parseStep(
  context: ParseStepsContext,
  value: unknown,
  path: KeyPath,
  automatic: (type: string) => string,
): StepDraft {
  const { reader, names, workflow } = context
  const given: unknown = typeof value === 'string' ? { command: value } : value
  const none = (name: string): StepDraft => ({
    name,
    path,
    step: undefined,
    uses: [],
    inside: [],
    compensate: [],
  })
  if (!context.count()) return none(automatic('step'))
  if (!isObject(given)) {
    reader.addProblem(
      path,
      `a step must be an object, or a text with a command; got ${describeValue(value)}`,
    )
    return none(automatic('step'))
  }
  const form = findStepForm(reader, given, path)
  const name = names.nameOf(reader, given['name'], automatic(form?.type ?? 'step'), path)
  const base = parseCommonFields(context, given, path)
  if (!form) return { ...none(name), uses: base.uses, compensate: base.compensate }
  const inner: ParseStepsContext = { ...context, depth: context.depth + 1 }
  const read: ParsedStep =
    typeof value === 'string'
      ? { fields: given, uses: reader.command(value, path) }
      : STEP_PARSERS[form.mark]!(given, path, {
          reader,
          workflow,
          steps: (list, where, role) => parseSteps(inner, list, where, role),
        })
  const step =
    read.fields && ({ type: form.type, name, ...read.fields, ...base.fields } as WorkflowStep)
  if (step)
    setStepSource(
      step,
      compact({ source: reader.source, path, bare: typeof value === 'string' || undefined }),
    )
  return {
    name,
    path,
    step,
    uses: [...base.uses, ...(read.uses ?? [])],
    inside: read.inside ?? [],
    compensate: base.compensate,
  }
}

type CommonStepFields = {
  readonly fields: object
  readonly uses: readonly ExpressionUse[]
  readonly compensate: readonly StepDraft[]
}

function parseCommonFields(
  context: ParseStepsContext,
  given: RawStep,
  path: KeyPath,
): CommonStepFields {
  const { reader } = context
  const { when, retry, timeout, on_error: onError, compensate } = given
  const condition = typeof when === 'boolean' ? String(when) : when
  if (condition !== undefined && typeof condition !== 'string')
    reader.addProblem(
      [...path, 'when'],
      `'when' must be an expression; got ${describeValue(when)}`,
      'Write when: steps.scan.result.length > 0',
    )
  if (onError !== undefined && onError !== 'stop' && onError !== 'continue')
    reader.addProblem(
      [...path, 'on_error'],
      `'on_error' is stop or continue; got ${describeValue(onError)}`,
    )
  const undo =
    compensate === undefined
      ? []
      : parseCompensation({ ...context, depth: context.depth + 1 }, compensate, [
          ...path,
          'compensate',
        ])
  return {
    fields: compact({
      when: condition,
      retry: retry !== undefined ? parseRetry(reader, retry, [...path, 'retry']) : undefined,
      timeout: timeout !== undefined ? reader.duration(timeout, [...path, 'timeout']) : undefined,
      on_error: onError,
      compensate: undo.length > 0 ? getSteps(undo) : undefined,
    }),
    uses: typeof condition === 'string' ? reader.condition(condition, [...path, 'when']) : [],
    compensate: undo,
  }
}

function parseCompensation(
  context: ParseStepsContext,
  value: unknown,
  path: KeyPath,
): readonly StepDraft[] {
  if (Array.isArray(value)) return parseSteps(context, value, path, 'steps')
  return [parseStep(context, value, path, (type) => `${type}-1`)]
}

const STEP_TYPES = [...new Set(STEP_FORMS.map(({ type }) => type))]

/**
 * The form in which a step is written; notes why it is none of them, and every key that does not
 * belong there.
 */
function findStepForm(
  reader: DefinitionReader,
  given: RawStep,
  path: KeyPath,
): StepForm | undefined {
  const { type } = given
  const forms =
    type === undefined
      ? STEP_FORMS.filter(({ implied }) => implied)
      : STEP_FORMS.filter((form) => form.type === type)
  if (forms.length === 0)
    return reader.addProblem(
      [...path, 'type'],
      typeof type === 'string'
        ? describeUnknownName('step kind', type, STEP_TYPES).message
        : `'type' must be the kind of a step; got ${describeValue(type)}`,
      `The kinds are ${STEP_TYPES.join(', ')}`,
    )
  const marked = forms.filter(({ mark }) => given[mark] !== undefined)
  const where = type === undefined ? 'a step' : `a step of the kind ${shorten(String(type), 40)}`
  if (marked.length === 0) {
    const marks = forms.map(({ mark }) => mark)
    const keys = [
      ...Object.keys(COMMON_STEP_KEYS),
      ...forms.flatMap((form) => Object.keys(form.keys)),
    ]
    // A key that is misspelt says more than that it is missing.
    if (
      !Object.keys(given).some(
        (key) => !keys.includes(key) && findClosest(key, marks) !== undefined,
      )
    )
      reader.addProblem(
        path,
        `${where} needs ${marks.length === 1 ? '' : 'one of '}${marks.map((mark) => `'${mark}'`).join(', ')}`,
      )
    reader.checkKeys(given, keys, path, where)
    return undefined
  }
  if (marked.length > 1)
    return reader.addProblem(
      [...path, marked[1]!.mark],
      `a step has either '${marked[0]!.mark}' or '${marked[1]!.mark}'`,
      'Make two steps of it',
    )
  const [form] = marked as [StepForm]
  reader.checkKeys(
    given,
    [...Object.keys(COMMON_STEP_KEYS), ...Object.keys(form.keys)],
    path,
    `a step with '${form.mark}'`,
  )
  const missing = form.required.find((key) => given[key] === undefined)
  return missing === undefined
    ? form
    : reader.addProblem(path, `a step with '${form.mark}' needs '${missing}'`)
}

/** How a step is tried again that says nothing about it. */
const DEFAULT_RETRY = { max: 3, delay: 1, factor: 2, longest: 60 } as const satisfies RetryPolicy

const ERROR_CODE_PATTERN = /^[A-Za-z][\w-]{0,63}$/

/** What `retry` means, written out: a number is how often. */
function parseRetry(
  reader: DefinitionReader,
  value: unknown,
  path: KeyPath,
): RetryPolicy | undefined {
  if (!isObject(value)) {
    const max = parseMaxRetries(reader, value, path)
    return max === undefined ? undefined : { ...DEFAULT_RETRY, max }
  }
  reader.checkKeys(value, Object.keys(RETRY_KEYS), path, "'retry'")
  const {
    max = DEFAULT_RETRY.max,
    delay = DEFAULT_RETRY.delay,
    factor = DEFAULT_RETRY.factor,
    longest,
    on,
  } = value
  const pause = reader.duration(delay, [...path, 'delay'], 'none') ?? DEFAULT_RETRY.delay
  const codes = on === undefined ? undefined : parseErrorCodes(reader, on, [...path, 'on'])
  const times = typeof factor === 'number' && factor >= 1 && factor <= 100 ? factor : undefined
  if (times === undefined)
    reader.addProblem(
      [...path, 'factor'],
      `'factor' must be a number from 1 to 100; got ${describeValue(factor)}`,
    )
  return compact({
    max: parseMaxRetries(reader, max, [...path, 'max']) ?? DEFAULT_RETRY.max,
    delay: pause,
    factor: times ?? DEFAULT_RETRY.factor,
    longest:
      longest === undefined
        ? Math.max(DEFAULT_RETRY.longest, pause)
        : (reader.duration(longest, [...path, 'longest'], 'none') ?? DEFAULT_RETRY.longest),
    on: codes,
  })
}

function parseMaxRetries(
  reader: DefinitionReader,
  value: unknown,
  path: KeyPath,
): number | undefined {
  if (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_RETRIES)
    return Number(value)
  return reader.addProblem(
    path,
    `'${String(path.at(-1))}' must be a whole number from 0 to ${MAX_RETRIES}; got ${describeValue(value)}`,
    'Write retry: 3, or retry: {max: 3, delay: 1s, factor: 2, longest: 60s}',
  )
}

function parseErrorCodes(
  reader: DefinitionReader,
  value: unknown,
  path: KeyPath,
): readonly string[] {
  const list = Array.isArray(value) ? (value as readonly unknown[]) : [value]
  list.forEach((code, index) => {
    if (typeof code !== 'string' || !ERROR_CODE_PATTERN.test(code))
      reader.addProblem(
        Array.isArray(value) ? [...path, index] : path,
        `${describeValue(code)} is no code of an error`,
        'Write codes (TIMEOUT, DEPENDENCY) or classes (retryable, infra_error)',
      )
  })
  return list.filter((code) => typeof code === 'string')
}

/**
 * Gives every step of one workflow its name: the one that it was given, or its kind and position,
 * in a way that two never share one where both could be meant.
 */
export class StepNamer {
  private readonly given: Set<string>
  private readonly first = new Map<string, KeyPath>()

  constructor(workflow: unknown) {
    this.given = new Set(
      [...iterateRawSteps(workflow, 'own')].flatMap(({ name }) =>
        typeof name === 'string' ? [name] : [],
      ),
    )
  }

  nameOf(reader: DefinitionReader, name: unknown, automatic: string, path: KeyPath): string {
    if (name === undefined) return this.free(automatic)
    if (typeof name !== 'string' || !NAME_PATTERN.test(name)) {
      reader.addProblem(
        [...path, 'name'],
        `a name has 1 to 64 letters, digits, _ and -, and is not 'finally'; got ${describeValue(name)}`,
      )
      return automatic
    }
    // A definition that was written out has these everywhere; it means its place in the list.
    if (name === automatic) return name
    const before = this.first.get(name)
    if (before)
      reader.addProblem(
        [...path, 'name'],
        `the name '${name}' is there twice: the first is ${formatPath(before)}`,
        'Give one of them another name',
      )
    else this.first.set(name, path)
    return name
  }

  private free(automatic: string): string {
    if (!this.given.has(automatic)) return automatic
    let count = 2
    while (this.given.has(`${automatic}-${count}`)) count += 1
    this.given.add(`${automatic}-${count}`)
    return `${automatic}-${count}`
  }
}

const STEP_LIST_KEYS = ['steps', 'finally', 'tasks', 'do', 'each', 'compensate']
const MAX_RAW_DEPTH = 100

/**
 * What may be a step in a definition that nobody has checked: only the keys that hold steps are
 * followed. `own` leaves out workflows that stand in it.
 */
export function* iterateRawSteps(
  workflow: unknown,
  which: 'all' | 'own' = 'all',
): Generator<{ readonly [key: string]: unknown }> {
  const seen = new Set<unknown>()
  if (isObject(workflow))
    for (const key of ['steps', 'finally'])
      yield* iterateInside(
        workflow[key],
        which === 'own' ? STEP_LIST_KEYS : [...STEP_LIST_KEYS, 'workflow'],
        seen,
      )
}

function* iterateInside(
  value: unknown,
  keys: readonly string[],
  seen: Set<unknown>,
  depth = 0,
): Generator<{ readonly [key: string]: unknown }> {
  // Data that was made in this process may contain itself.
  if (typeof value !== 'object' || value === null || seen.has(value) || depth > MAX_RAW_DEPTH)
    return
  seen.add(value)
  if (Array.isArray(value))
    for (const item of value) yield* iterateInside(item, keys, seen, depth + 1)
  if (!isObject(value)) return
  yield value
  for (const key of keys) yield* iterateInside(value[key], keys, seen, depth + 1)
}
