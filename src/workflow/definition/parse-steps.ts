/**
 * Parses lists of steps: finds the form of each step, its name and common fields, and hands the
 * rest to its step kind.
 */

import { formatPath } from '../../define/schema/walk.ts'
import type { KeyPath } from '../../protocol/documents.ts'
import { describeUnknownName, findClosest, shorten } from '../../util/text.ts'
import { compact, isObject } from '../../util/values.ts'
import type { RawStep, StepParseContext } from '../steps/kind.ts'
import { getSteps } from '../steps/kind.ts'
import { CHILD_KEYS, STEP_FORMS } from '../steps/table.ts'
import type { RetryPolicy, WorkflowStep } from './model.ts'
import { DEFAULT_RETRY } from './model.ts'
import type { DefinitionReader, StepDraft } from './reader.ts'
import { describeValue, setStepSource } from './reader.ts'
import { COMMON_STEP_KEYS, MAX_RETRIES, NAME_PATTERN, RETRY_KEYS } from './schema.ts'

const MAX_STEP_DEPTH = 20

/** What parsing the steps of one workflow needs. */
export type ParseStepsContext = {
  readonly names: StepNamer
  readonly workflow: StepParseContext['workflow']
  /** Counts a step; false when there are too many. */
  count(): boolean
  readonly depth: number
}

/** Parses a list of steps: each is an object, or a text that is a command. */
export function parseSteps(
  context: ParseStepsContext,
  value: unknown,
  reader: DefinitionReader,
  role: 'steps' | 'tasks',
): readonly StepDraft[] {
  const refuse = (message: string): readonly StepDraft[] => reader.addProblem(message) ?? []
  const key = String(reader.path.at(-1))
  if (!Array.isArray(value))
    return refuse(`'${key}' must be a list of steps; got ${describeValue(value)}`)
  if (value.length === 0 && role === 'steps') return refuse(`'${key}' needs at least one step`)
  if (context.depth > MAX_STEP_DEPTH)
    return refuse(`steps are nested more than ${MAX_STEP_DEPTH} levels deep`)
  return value.map((step: unknown, index) =>
    parseStep(context, step, reader.fork(index), (type) =>
      role === 'tasks' ? String(index) : `${type}-${index + 1}`,
    ),
  )
}

function parseStep(
  context: ParseStepsContext,
  value: unknown,
  reader: DefinitionReader,
  automatic: (type: string) => string,
): StepDraft {
  const { path, uses, source } = reader
  const isBare = typeof value === 'string'
  const given: unknown = isBare ? { command: value } : value
  const unread = { path, step: undefined, uses, inside: [], compensate: [] }
  if (!context.count()) return { ...unread, name: automatic('step') }
  if (!isObject(given)) {
    reader.addProblem(
      `a step must be an object, or a text with a command; got ${describeValue(value)}`,
    )
    return { ...unread, name: automatic('step') }
  }
  const inner: ParseStepsContext = { ...context, depth: context.depth + 1 }
  const form = findStepForm(reader, given)
  const name = context.names.nameOf(given['name'], automatic(form?.type ?? 'step'), reader)
  const { fields, compensate } = parseCommonFields(inner, given, reader)
  if (isBare) reader.command(value)
  const parsed = isBare
    ? { fields: given }
    : form?.parse(given, {
        reader,
        workflow: context.workflow,
        steps: (list, at, role) => parseSteps(inner, list, at, role),
      })
  if (!form || !parsed) return { ...unread, name, compensate }
  const step = { type: form.type, name, ...parsed.fields, ...fields } as WorkflowStep
  setStepSource(step, compact({ source, path, bare: isBare || undefined }))
  return { ...unread, name, step, inside: parsed.inside ?? [], compensate }
}

function parseCommonFields(
  context: ParseStepsContext,
  given: RawStep,
  reader: DefinitionReader,
): { readonly fields: object; readonly compensate: readonly StepDraft[] } {
  const { when, retry, timeout, on_error: onError } = given
  const condition = typeof when === 'boolean' ? String(when) : when
  if (condition !== undefined && typeof condition !== 'string')
    reader.addFieldProblem(
      'when',
      `'when' must be an expression; got ${describeValue(when)}`,
      'Write when: steps.scan.result.length > 0',
    )
  if (onError !== undefined && onError !== 'stop' && onError !== 'continue')
    reader.addFieldProblem(
      'on_error',
      `'on_error' is stop or continue; got ${describeValue(onError)}`,
    )
  const compensate = parseCompensation(context, given['compensate'], reader.at('compensate'))
  const fields = compact({
    when: condition,
    retry: retry === undefined ? undefined : parseRetry(retry, reader.at('retry')),
    timeout: timeout === undefined ? undefined : reader.at('timeout').duration(timeout),
    on_error: onError,
    compensate: compensate.length > 0 ? getSteps(compensate) : undefined,
  })
  if (typeof condition === 'string') reader.at('when').condition(condition)
  return { fields, compensate }
}

function parseCompensation(
  context: ParseStepsContext,
  value: unknown,
  reader: DefinitionReader,
): readonly StepDraft[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return parseSteps(context, value, reader, 'steps')
  return [parseStep(context, value, reader.fork(), (type) => `${type}-1`)]
}

type KnownForm = (typeof STEP_FORMS)[number]

const COMMON_KEYS = Object.keys(COMMON_STEP_KEYS)
const STEP_TYPES = [...new Set(STEP_FORMS.map(({ type }) => type))]

/** The form in which a step is written; reports why it is none, and every unknown key. */
function findStepForm(reader: DefinitionReader, given: RawStep): KnownForm | undefined {
  const { type } = given
  const forms = STEP_FORMS.filter((form) =>
    type === undefined ? !form.required.includes('type') : form.type === type,
  )
  if (forms.length === 0)
    return reader.addFieldProblem(
      'type',
      typeof type === 'string'
        ? describeUnknownName('step kind', type, STEP_TYPES).message
        : `'type' must be the kind of a step; got ${describeValue(type)}`,
      `The kinds are ${STEP_TYPES.join(', ')}`,
    )
  const [form, other] = forms.filter(({ mark }) => given[mark] !== undefined)
  if (!form) return reportNoForm(reader, given, forms)
  if (other)
    return reader.addFieldProblem(
      other.mark,
      `a step has either '${form.mark}' or '${other.mark}'`,
      'Make two steps of it',
    )
  const where = `a step with '${form.mark}'`
  reader.checkKeys(given, [...COMMON_KEYS, ...Object.keys(form.keys)], where)
  const missing = form.required.find((key) => given[key] === undefined)
  return missing === undefined ? form : reader.addProblem(`${where} needs '${missing}'`)
}

function reportNoForm(
  reader: DefinitionReader,
  given: RawStep,
  forms: readonly KnownForm[],
): undefined {
  const { type } = given
  const where = type === undefined ? 'a step' : `a step of the kind ${shorten(String(type), 40)}`
  const marks = forms.map(({ mark }) => mark)
  const keys = [...COMMON_KEYS, ...forms.flatMap((form) => Object.keys(form.keys))]
  // A key that is misspelt says more than that it is missing.
  const isMisspelt = Object.keys(given).some(
    (key) => !keys.includes(key) && findClosest(key, marks) !== undefined,
  )
  if (!isMisspelt)
    reader.addProblem(
      `${where} needs ${marks.length === 1 ? '' : 'one of '}${marks.map((mark) => `'${mark}'`).join(', ')}`,
    )
  reader.checkKeys(given, keys, where)
}

const ERROR_CODE_PATTERN = /^[A-Za-z][\w-]{0,63}$/

/** Parses `retry`; a number is how often. */
function parseRetry(value: unknown, reader: DefinitionReader): RetryPolicy | undefined {
  if (!isObject(value)) {
    const max = parseMaxRetries(value, reader)
    return max === undefined ? undefined : { ...DEFAULT_RETRY, max }
  }
  reader.checkKeys(value, Object.keys(RETRY_KEYS), "'retry'")
  const {
    max = DEFAULT_RETRY.max,
    delay = DEFAULT_RETRY.delay,
    factor = DEFAULT_RETRY.factor,
    longest,
    on,
  } = value
  const pause = reader.at('delay').duration(delay, 'none') ?? DEFAULT_RETRY.delay
  const codes = on === undefined ? undefined : parseErrorCodes(on, reader.at('on'))
  const isFactor = typeof factor === 'number' && factor >= 1 && factor <= 100
  if (!isFactor)
    reader.addFieldProblem(
      'factor',
      `'factor' must be a number from 1 to 100; got ${describeValue(factor)}`,
    )
  return compact({
    max: parseMaxRetries(max, reader.at('max')) ?? DEFAULT_RETRY.max,
    delay: pause,
    factor: isFactor ? factor : DEFAULT_RETRY.factor,
    longest:
      longest === undefined
        ? Math.max(DEFAULT_RETRY.longest, pause)
        : (reader.at('longest').duration(longest, 'none') ?? DEFAULT_RETRY.longest),
    on: codes,
  })
}

function parseMaxRetries(value: unknown, reader: DefinitionReader): number | undefined {
  if (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_RETRIES)
    return Number(value)
  return reader.addProblem(
    `'${String(reader.path.at(-1))}' must be a whole number from 0 to ${MAX_RETRIES}; got ${describeValue(value)}`,
    'Write retry: 3, or retry: {max: 3, delay: 1s, factor: 2, longest: 60s}',
  )
}

function parseErrorCodes(value: unknown, reader: DefinitionReader): readonly string[] {
  const list = Array.isArray(value) ? (value as readonly unknown[]) : [value]
  list.forEach((code, index) => {
    if (typeof code === 'string' && ERROR_CODE_PATTERN.test(code)) return
    const at = Array.isArray(value) ? reader.at(index) : reader
    at.addProblem(
      `${describeValue(code)} is no code of an error`,
      'Write codes (TIMEOUT, DEPENDENCY) or classes (retryable, infra_error)',
    )
  })
  return list.filter((code) => typeof code === 'string')
}

/**
 * Names every step of one workflow: by its own name, or by its kind and position. Two steps that
 * an expression could mean never share a name.
 */
export class StepNamer {
  private readonly given: Set<string>
  private readonly first = new Map<string, KeyPath>()

  constructor(workflow: unknown) {
    const names = [...iterateRawSteps(workflow, 'own')].map(({ name }) => name)
    this.given = new Set(names.filter((name) => typeof name === 'string'))
  }

  nameOf(name: unknown, automatic: string, reader: DefinitionReader): string {
    if (name === undefined) return this.free(automatic)
    if (typeof name !== 'string' || !NAME_PATTERN.test(name)) {
      reader.addFieldProblem('name', describeBadName(name))
      return automatic
    }
    // A definition that was written out has these everywhere; it means its place in the list.
    if (name === automatic) return name
    const before = this.first.get(name)
    if (before)
      reader.addFieldProblem(
        'name',
        `the name '${name}' is there twice: the first is ${formatPath(before)}`,
        'Give one of them another name',
      )
    else this.first.set(name, reader.path)
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

/** The problem of a value that cannot be the name of a workflow or a step. */
export function describeBadName(name: unknown): string {
  return `a name has 1 to 64 letters, digits, _ and -, and is not 'finally'; got ${describeValue(name)}`
}

const RAW_STEP_KEYS = ['steps', 'finally', 'compensate', ...CHILD_KEYS]
const MAX_RAW_DEPTH = 100

/**
 * What may be a step in a definition that has not been checked. Only keys under which steps are
 * found are followed; `own` leaves out nested workflows.
 */
export function* iterateRawSteps(
  workflow: unknown,
  which: 'all' | 'own' = 'all',
): Generator<RawStep> {
  const seen = new Set<unknown>()
  if (isObject(workflow))
    for (const key of ['steps', 'finally'])
      yield* iterateInside(
        workflow[key],
        which === 'own' ? RAW_STEP_KEYS : [...RAW_STEP_KEYS, 'workflow'],
        seen,
      )
}

function* iterateInside(
  value: unknown,
  keys: readonly string[],
  seen: Set<unknown>,
  depth = 0,
): Generator<RawStep> {
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
