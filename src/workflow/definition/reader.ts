/**
 * The reader that parsing uses: checks shapes, keys, durations and expressions, and collects
 * problems with their location in the file.
 */

import { formatPath } from '../../define/schema/walk.ts'
import type { ConfigShape } from '../../protocol/config-shape.ts'
import { findConfigMismatch } from '../../protocol/config-shape.ts'
import type { KeyPath, LocatedDocument } from '../../protocol/documents.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { findClosest, shorten } from '../../util/text.ts'
import { compact } from '../../util/values.ts'
import type { ExpressionTemplate, PathExpression } from '../expression-parser.ts'
import {
  EXPRESSION_OPEN,
  listReferences,
  parseCondition,
  parseTemplate,
  pickExpressions,
} from '../expression-parser.ts'
import { splitCommand } from '../expressions.ts'
import type { WorkflowStep } from './model.ts'

const MAX_VALUE_DEPTH = 60
const MAX_VALUE_PARTS = 50_000

/**
 * Reads the value at one place of a definition. It collects problems instead of throwing, so that
 * all of them are reported together, and the expressions of the step it belongs to.
 */
export class DefinitionReader {
  constructor(
    readonly source: DefinitionSource,
    readonly findings: DefinitionFinding[],
    readonly path: KeyPath = [],
    readonly uses: ExpressionUse[] = [],
  ) {}

  /** The reader for a part of the same step. */
  at(...keys: KeyPath): DefinitionReader {
    return new DefinitionReader(this.source, this.findings, [...this.path, ...keys], this.uses)
  }

  /** The reader for a part that collects its own expressions, such as another step. */
  fork(...keys: KeyPath): DefinitionReader {
    return new DefinitionReader(this.source, this.findings, [...this.path, ...keys])
  }

  addProblem(message: string, fix?: string): undefined {
    this.findings.push(compact({ source: this.source, path: this.path, message, fix }))
    return undefined
  }

  addFieldProblem(key: KeyPath[number], message: string, fix?: string): undefined {
    return this.at(key).addProblem(message, fix)
  }

  /** Whether a value has a shape; reports where it has not. */
  matchesShape(shape: ConfigShape, value: unknown): boolean {
    const misfit = findConfigMismatch(shape, value, this.path.slice(-1))
    if (misfit === undefined) return true
    const path = [...this.path.slice(0, -1), ...misfit.path]
    this.findings.push(compact({ ...misfit, source: this.source, path }))
    return false
  }

  /** Reports each unknown key, with the one that was probably meant. */
  checkKeys(data: object, keys: readonly string[], where: string): void {
    for (const key of Object.keys(data).filter((one) => !keys.includes(one))) {
      const free = keys.filter((known) => !Object.hasOwn(data, known))
      const meant = findClosest(key, free)
      this.addFieldProblem(
        key,
        `unknown key '${shorten(key, 60)}' in ${where}${meant === undefined ? '' : `; did you mean '${meant}'?`}`,
        meant === undefined ? `The keys are ${keys.join(', ')}` : `Write ${meant}`,
      )
    }
  }

  /** The seconds of a duration; reports what is none. */
  duration(value: unknown, least: 'some' | 'none' = 'some'): number | undefined {
    const seconds = parseDurationSeconds(value)
    if (seconds !== undefined && (seconds > 0 || least === 'none')) return seconds
    return this.addProblem(
      `'${String(this.path.at(-1))}' must be a duration${least === 'some' ? ' above 0' : ''}: ${DURATION_HINT}; got ${describeValue(value)}`,
    )
  }

  condition(text: string): void {
    this.collectUses(() => [parseCondition(text)])
  }

  /** Reads a command, whose first word must be the name of a tool. */
  command(text: string): void {
    this.collectUses(() => {
      const words = splitCommand(text)
      if (words[0]!.some((part) => typeof part !== 'string'))
        this.addProblem(
          'the tool of a command cannot be an expression: nobody could check it before the start',
          'Write its name first: scan --root ${{ input.root }}',
        )
      return words.flat()
    })
  }

  /** Reads the field of an object as `value` does; undefined where it has none. */
  field(data: { readonly [key: string]: unknown }, key: string): unknown {
    return data[key] === undefined ? undefined : this.at(key).value(data[key])
  }

  /** Copies a JSON value whose texts are not interpolated, such as a JSON Schema. */
  plain(value: unknown): unknown {
    return this.fork().value(value)
  }

  /** Copies a JSON value whose texts may contain expressions. Reports what JSON cannot hold. */
  value(value: unknown): unknown {
    const around = new Set<object>()
    let parts = 0
    const copy = (here: unknown, reader: DefinitionReader): unknown => {
      if (typeof here === 'string') {
        if (here.includes(EXPRESSION_OPEN)) reader.collectUses(() => parseTemplate(here))
        return here
      }
      if (here === null || typeof here === 'boolean' || Number.isFinite(here)) return here
      if (typeof here !== 'object')
        return reader.addProblem(
          `${describeValue(here)} is nothing that JSON can hold`,
          'Give texts, numbers, true, false, null, lists and objects of them',
        )
      if (around.has(here)) return reader.addProblem('the value contains itself')
      if (around.size > MAX_VALUE_DEPTH)
        return reader.addProblem(`the value has more than ${MAX_VALUE_DEPTH} levels`)
      if (!Array.isArray(here) && !isPlainObject(here))
        return reader.addProblem(
          'an object of a class is nothing that JSON can hold',
          'Give plain objects',
        )
      // A part that several others share is written out, and counted, for each of them.
      parts += 1
      if (parts === MAX_VALUE_PARTS + 1)
        reader.addProblem(`the value has more than ${MAX_VALUE_PARTS} parts`)
      if (parts > MAX_VALUE_PARTS) return undefined
      around.add(here)
      const made: unknown = Array.isArray(here)
        ? here.map((item, index) => copy(item ?? null, reader.at(index)))
        : Object.fromEntries(
            Object.entries(here)
              .filter(([, item]) => item !== undefined)
              .map(([key, item]) => [key, copy(item, reader.at(key))]),
          )
      around.delete(here)
      return made
    }
    return copy(value, this)
  }

  private collectUses(parse: () => ExpressionTemplate): void {
    try {
      const references = pickExpressions(parse()).flatMap(listReferences)
      if (references.length > 0) this.uses.push({ path: this.path, references })
    } catch (error) {
      if (!ToolError.is(error)) throw error
      this.addProblem(error.message, error.suggestion?.fix)
    }
  }
}

/** A value as a message shows it. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  return typeof value === 'function' || typeof value === 'symbol'
    ? `a ${typeof value}`
    : shorten(typeof value === 'string' ? JSON.stringify(value) : String(value), 60)
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  // Objects of another realm have another Object.prototype.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** A text with expressions, and the paths that they refer to. */
export type ExpressionUse = {
  readonly path: KeyPath
  readonly references: readonly PathExpression[]
}

/** Steps inside a step. */
export type StepDraftGroup = {
  readonly drafts: readonly StepDraft[]
  /** They run concurrently, so that none sees the others. */
  readonly isParallel: boolean
  /** The names that only they see. */
  readonly items: readonly string[]
}

/** A step while it is parsed. */
export type StepDraft = {
  readonly name: string
  readonly path: KeyPath
  /** Undefined when it could not be parsed. */
  readonly step: WorkflowStep | undefined
  readonly uses: readonly ExpressionUse[]
  readonly inside: readonly StepDraftGroup[]
  readonly compensate: readonly StepDraft[]
}

/** Where a definition was written; empty for one that was made in this process. */
export type DefinitionSource = {
  readonly file?: string
  readonly locate?: LocatedDocument['locate']
  /** The keys that lead to it inside another definition. */
  readonly within?: KeyPath
}

/** Something that is wrong with a definition, and the keys that lead to it. */
export type DefinitionFinding = {
  readonly source: DefinitionSource
  readonly path: KeyPath
  readonly message: string
  readonly fix?: string
}

/** A finding as it is reported. */
export type WorkflowProblem = {
  readonly file?: string
  readonly line?: number
  readonly column?: number
  readonly path: string
  readonly message: string
  readonly fix?: string
}

/** Most problems after these follow from the first ones. */
export const MAX_PROBLEMS = 20

/** The findings with their lines, in the order of the file. */
export async function locateFindings(
  findings: readonly DefinitionFinding[],
): Promise<readonly WorkflowProblem[]> {
  const located = await Promise.all(
    findings
      .slice(0, MAX_PROBLEMS)
      .map(async (finding) => ({ ...toProblem(finding), ...(await locateFinding(finding)) })),
  )
  return located.sort(compareByLine)
}

/** The findings without lines. */
export function toProblem({ source, path, message, fix }: DefinitionFinding): WorkflowProblem {
  return compact({
    file: source.file,
    path: formatPath([...(source.within ?? []), ...path]),
    message,
    fix,
  })
}

/** `file:line: path: message`, as far as it is known. */
export function formatProblem({ file, line, path, message }: WorkflowProblem): string {
  const place = file !== undefined && line !== undefined ? `${file}:${line}` : file
  return [place, path || undefined, message].filter((part) => part !== undefined).join(': ')
}

/**
 * One CONFIG error for all problems of a definition; `found` also counts those that are not listed.
 */
export function createProblemsError(
  problems: readonly WorkflowProblem[],
  found: number = problems.length,
): ToolError {
  const more = found > problems.length ? [`and ${found - problems.length} more`] : []
  return new ToolError('CONFIG', [...problems.map(formatProblem), ...more].join('\n'), {
    details: { problems },
    suggestion:
      found > 1
        ? 'Correct these lines; docs/workflow-definition.md has every key'
        : (problems[0]?.fix ?? 'See docs/workflow-definition.md'),
  })
}

// A missing key has no place, but the nearest value around it has.
async function locateFinding({
  source,
  path: own,
}: DefinitionFinding): Promise<{ readonly line: number; readonly column: number } | undefined> {
  if (source.locate === undefined) return undefined
  const path = [...(source.within ?? []), ...own]
  for (let length = path.length; length > 0; length -= 1) {
    const place = await source.locate(path.slice(0, length))
    if (place) return place
  }
  return { line: 1, column: 1 }
}

function compareByLine(left: WorkflowProblem, right: WorkflowProblem): number {
  return left.file === right.file ? (left.line ?? 0) - (right.line ?? 0) : 0
}

/** Where a step was written. */
export type StepSource = {
  readonly source: DefinitionSource
  readonly path: KeyPath
  /** The step is only a text, so that its parts have no keys. */
  readonly bare?: true
}

const stepSources = new WeakMap<WorkflowStep, StepSource>()

/**
 * Remembers where a step was written. A definition is sent and hashed, and its file is no part of
 * it.
 */
export function setStepSource(step: WorkflowStep, source: StepSource): void {
  stepSources.set(step, source)
}

/** Where a step was written; undefined for one that came as data. */
export function getStepSource(step: WorkflowStep): StepSource | undefined {
  return stepSources.get(step)
}

const UNIT_SECONDS = { d: 86_400, h: 3600, m: 60, s: 1, ms: 0.001 }
const MAX_DURATION_SECONDS = 10 * 366 * UNIT_SECONDS.d

/** How durations are written, for messages. */
const DURATION_HINT = "seconds, or a text like '500ms', '30s', '10m', '1h30m' or '7d'"

// Undefined for what is no duration, for less than nothing and for more than ten years.
function parseDurationSeconds(value: unknown): number | undefined {
  const seconds = typeof value === 'string' ? parseDurationText(value.trim()) : value
  if (typeof seconds !== 'number') return undefined
  return seconds >= 0 && seconds <= MAX_DURATION_SECONDS ? seconds : undefined
}

function parseDurationText(text: string): number {
  if (/^\d{1,12}(\.\d{1,6})?$/.test(text)) return Number(text)
  if (!/^(\d{1,12}(\.\d{1,6})?(ms|s|m|h|d)\s*){1,5}$/.test(text)) return NaN
  const milliseconds = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)].reduce(
    (sum, [, count, unit]) =>
      sum + Math.round(Number(count) * UNIT_SECONDS[unit as keyof typeof UNIT_SECONDS] * 1000),
    0,
  )
  return milliseconds / 1000
}

/** Seconds as people write them: `1h30m`, `0.5s`. */
export function formatDuration(seconds: number): string {
  if (seconds < 1) return `${seconds}s`
  let rest = seconds
  let text = ''
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    const size = UNIT_SECONDS[unit]
    const count = unit === 's' ? Math.round(rest * 1000) / 1000 : Math.floor(rest / size)
    if (count > 0) text += `${count}${unit}`
    rest -= count * size
  }
  return text
}
