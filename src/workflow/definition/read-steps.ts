import type { KeyPath } from '../../contract/documents/document.ts'
import { isObject } from '../../contract/json.ts'
import { shown } from './definition-reader.ts'
import type { DefinitionReader } from './definition-reader.ts'
import type { Draft, Use } from './draft.ts'
import { findForm } from './find-form.ts'
import { stepsOf } from './kinds/compound.ts'
import { READERS } from './kinds/all.ts'
import type { Given, KindContext, KindRead } from './kinds/kind.ts'
import type { StepNames } from './name-steps.ts'
import { readRetry } from './read-retry.ts'
import { rememberSource } from './source-of-step.ts'
import type { Step } from './workflow-type.ts'

const DEEPEST = 20

/** What steps are read with. */
export type StepsContext = {
  readonly reader: DefinitionReader
  readonly names: StepNames
  readonly workflow: KindContext['workflow']
  /** Counts a step; false where there are too many. */
  count(): boolean
  readonly depth: number
}

/** Reads a list of steps: each of them an object, or a text that is a command. Notes what is wrong. */
export function readSteps(
  context: StepsContext,
  value: unknown,
  path: KeyPath,
  role: 'steps' | 'tasks',
): readonly Draft[] {
  const { reader, depth } = context
  const refuse = (message: string): readonly Draft[] => reader.find(path, message) ?? []
  if (!Array.isArray(value))
    return refuse(`'${String(path.at(-1))}' must be a list of steps; got ${shown(value)}`)
  if (value.length === 0 && role === 'steps')
    return refuse(`'${String(path.at(-1))}' needs at least one step`)
  if (depth > DEEPEST) return refuse(`steps are nested more than ${DEEPEST} levels deep`)
  return value.map((step: unknown, index) =>
    readStep(context, step, [...path, index], (type) =>
      role === 'tasks' ? String(index) : `${type}-${index + 1}`,
    ),
  )
}

function readStep(
  context: StepsContext,
  value: unknown,
  path: KeyPath,
  automatic: (type: string) => string,
): Draft {
  const { reader, names, workflow } = context
  const given: unknown = typeof value === 'string' ? { command: value } : value
  const none = (name: string): Draft => ({
    name,
    path,
    step: undefined,
    uses: [],
    inside: [],
    compensate: [],
  })
  if (!context.count()) return none(automatic('step'))
  if (!isObject(given)) {
    reader.find(path, `a step must be an object, or a text with a command; got ${shown(value)}`)
    return none(automatic('step'))
  }
  const form = findForm(reader, given, path)
  const name = names.nameOf(reader, given['name'], automatic(form?.type ?? 'step'), path)
  const base = readBase(context, given, path)
  if (!form) return { ...none(name), uses: base.uses, compensate: base.compensate }
  const inner: StepsContext = { ...context, depth: context.depth + 1 }
  const read: KindRead =
    typeof value === 'string'
      ? { fields: given, uses: reader.command(value, path) }
      : READERS[form.mark]!(given, path, {
          reader,
          workflow,
          steps: (list, where, role) => readSteps(inner, list, where, role),
        })
  const step = read.fields && ({ type: form.type, name, ...read.fields, ...base.fields } as Step)
  if (step)
    rememberSource(step, {
      source: reader.source,
      path,
      ...(typeof value === 'string' && { bare: true }),
    })
  return {
    name,
    path,
    step,
    uses: [...base.uses, ...(read.uses ?? [])],
    inside: read.inside ?? [],
    compensate: base.compensate,
  }
}

type Base = {
  readonly fields: object
  readonly uses: readonly Use[]
  readonly compensate: readonly Draft[]
}

function readBase(context: StepsContext, given: Given, path: KeyPath): Base {
  const { reader } = context
  const { when, retry, timeout, on_error: onError, compensate } = given
  const condition = typeof when === 'boolean' ? String(when) : when
  if (condition !== undefined && typeof condition !== 'string')
    reader.find(
      [...path, 'when'],
      `'when' must be an expression; got ${shown(when)}`,
      'Write when: steps.scan.result.length > 0',
    )
  if (onError !== undefined && onError !== 'stop' && onError !== 'continue')
    reader.find([...path, 'on_error'], `'on_error' is stop or continue; got ${shown(onError)}`)
  const undo =
    compensate === undefined
      ? []
      : readCompensation({ ...context, depth: context.depth + 1 }, compensate, [
          ...path,
          'compensate',
        ])
  return {
    fields: {
      ...(condition !== undefined && { when: condition }),
      ...(retry !== undefined && { retry: readRetry(reader, retry, [...path, 'retry']) }),
      ...(timeout !== undefined && { timeout: reader.duration(timeout, [...path, 'timeout']) }),
      ...(onError !== undefined && { on_error: onError }),
      ...(undo.length > 0 && { compensate: stepsOf(undo) }),
    },
    uses: typeof condition === 'string' ? reader.condition(condition, [...path, 'when']) : [],
    compensate: undo,
  }
}

function readCompensation(context: StepsContext, value: unknown, path: KeyPath): readonly Draft[] {
  if (Array.isArray(value)) return readSteps(context, value, path, 'steps')
  return [readStep(context, value, path, (type) => `${type}-1`)]
}
