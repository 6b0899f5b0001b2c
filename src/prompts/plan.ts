/**
 * A plan: creating and changing it, its text and progress, and the session file that keeps it
 * beyond the process. Changes are made through a PlanKeeper.
 */

import { existsSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { findProjectFolder } from '../core/project.ts'
import { readStateFile, withStateFile } from '../core/state/state-api.ts'
import type { Context } from '../protocol/context.ts'
import type { Plan, PlanStep } from '../protocol/plan.ts'
import { isTrimmedText, PLAN_LIMITS, toPlan } from '../protocol/plan.ts'
import type { SliceView } from '../protocol/state.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { shorten } from '../util/text.ts'
import { compact } from '../util/values.ts'
import { planSlice } from './plan-slice.ts'

/** The plan of a state. Every change is reported as progress and returns the new plan. */
export type PlanKeeper = {
  /** Creates a plan, which replaces the current one. */
  setup(objective: string, steps?: readonly string[]): Plan
  add(steps: readonly string[]): Plan
  update(stepId: number, change: StepChange): Plan
  /** Throws PRECONDITION when there is no plan. */
  read(): Plan
  /** Removes the plan and returns it. */
  clear(): Plan | undefined
}

/** How the tools for models name what they do. */
export const TOOL_PLAN_TERMS: PlanTerms = {
  setup: 'planning_setup_plan',
  update: 'planning_update_step',
  read: 'planning_read_plan',
  steps: 'initial_steps',
  id: 'step_id',
}

/** Keeps the plan of a state. Throws ToolErrors with advice in the terms of the transport. */
export function createPlanKeeper(
  ctx: Pick<Context, 'state' | 'progress'>,
  terms: PlanTerms = TOOL_PLAN_TERMS,
): PlanKeeper {
  const slice = (): SliceView<Plan> => ctx.state.get(planSlice)
  const report = (plan: Plan): Plan => {
    const { message, percent } = describePlanProgress(plan)
    ctx.progress(message, percent, { plan })
    return plan
  }
  // Repeated when a concurrent call has changed the plan first.
  const change = (make: (plan: Plan) => Plan): Plan => {
    const seen = requirePlan(slice().latest(), terms)
    slice().reduce(
      ([plan]) => [make(requireSameSteps(seen, requirePlan(plan, terms), terms))],
      undefined,
    )
    return report(slice().latest()!)
  }
  return {
    setup(objective, steps = []) {
      slice().replace([createPlan(objective, steps, terms)])
      return report(slice().latest()!)
    },
    add: (steps) => change((plan) => addPlanSteps(plan, steps, terms)),
    update: (stepId, changes) => change((plan) => updatePlanStep(plan, stepId, changes, terms)),
    read: () => requirePlan(slice().latest(), terms),
    clear() {
      const plan = slice().latest()
      if (plan) slice().replace([])
      return plan
    },
  }
}

const SESSION_FOLDER = '.toolable'

type PlanFileOptions = {
  /** Nothing will change, so no lock is taken. */
  readonly readOnly: boolean
  readonly terms?: PlanTerms
}

/**
 * The session file that counts in a directory: the one that was named, else
 * `.toolable/session.json` beside the configuration that was named, else beside the nearest one
 * upwards, else in the directory itself.
 */
export function findSessionFile(
  cwd: string,
  {
    file,
    config,
  }: { readonly file?: string | undefined; readonly config?: string | undefined } = {},
): string {
  if (file !== undefined) return resolve(cwd, file)
  return join(
    config === undefined ? (findProjectFolder(cwd) ?? cwd) : dirname(resolve(cwd, config)),
    SESSION_FOLDER,
    'session.json',
  )
}

/** Works on the plan of a session file. Changes are reported after they are on the disk. */
export async function withPlanFile<Result>(
  path: string,
  ctx: Pick<Context, 'progress' | 'signal'>,
  work: (keeper: PlanKeeper) => Result,
  { readOnly, terms }: PlanFileOptions,
): Promise<Result> {
  const slices = [planSlice]
  const said: Parameters<Context['progress']>[] = []
  const doWork = (state: Context['state']): Result =>
    work(createPlanKeeper({ state, progress: (...progress) => void said.push(progress) }, terms))
  const isNew = !existsSync(dirname(path))
  const result = readOnly
    ? doWork(await readStateFile(path, { slices }))
    : await withStateFile(path, doWork, { slices, signal: ctx.signal })
  if (isNew) writeGitignore(dirname(path))
  for (const progress of said) ctx.progress(...progress)
  return result
}

// A session belongs to one user; the folder exists only when something was kept.
function writeGitignore(folder: string): void {
  if (basename(folder) !== SESSION_FOLDER || !existsSync(folder)) return
  try {
    writeFileSync(join(folder, '.gitignore'), '*\n', { flag: 'wx' })
  } catch {
    /* The plan is kept anyway. */
  }
}

/** A change of a step: a title, a status or both. */
export type StepChange = { readonly title?: string; readonly status?: PlanStep['status'] }

/** The names of a transport for the ways to change a plan, for advice that can be followed there. */
export type PlanTerms = {
  readonly setup: string
  readonly update: string
  readonly read: string
  /** The name of the list of first steps. */
  readonly steps: string
  /** The name of the id of a step. */
  readonly id: string
}

/** A new plan. Throws INVALID_INPUT for a text that is empty or too long. */
function createPlan(objective: string, titles: readonly string[], terms: PlanTerms): Plan {
  return toPlan(
    requireText(objective, 'objective', PLAN_LIMITS.objective),
    appendSteps([], titles, terms.steps),
  )
}

/** The plan with more steps behind its own. Throws CONFLICT where it is completed. */
function addPlanSteps(plan: Plan, titles: readonly string[], terms: PlanTerms): Plan {
  requireActivePlan(plan, terms)
  if (titles.length === 0)
    throw new ToolError('INVALID_INPUT', 'there has to be at least one step to add', {
      field: 'steps',
      suggestion: 'Give the title of at least one step',
    })
  return toPlan(plan.objective, appendSteps(plan.steps, titles, 'steps'))
}

/**
 * The plan with one step changed. Throws NOT_FOUND for an unknown step, and CONFLICT where the plan
 * is completed.
 */
function updatePlanStep(
  plan: Plan,
  id: number,
  { title, status }: StepChange,
  terms: PlanTerms,
): Plan {
  if (title === undefined && status === undefined)
    throw new ToolError(
      'INVALID_INPUT',
      `nothing to change in step ${id}: neither a title nor a status was given`,
      { field: 'status', suggestion: 'Give a title, a status or both' },
    )
  requireActivePlan(plan, terms)
  if (!plan.steps.some(({ step_id }) => step_id === id))
    throw createUnknownStepError(plan, id, terms)
  const change = compact({
    title: title !== undefined ? requireText(title, 'title', PLAN_LIMITS.title) : undefined,
    status,
  })
  return toPlan(
    plan.objective,
    plan.steps.map((step) => (step.step_id === id ? { ...step, ...change } : step)),
  )
}

/** The plan itself. Throws PRECONDITION where there is none. */
function requirePlan(plan: Plan | undefined, terms: PlanTerms): Plan {
  if (plan) return plan
  throw new ToolError('PRECONDITION', 'there is no plan yet', {
    suggestion: { action: 'use_different_tool', fix: `Make one first: ${terms.setup}` },
  })
}

/**
 * The plan as it is now, where it still is the one that was seen: only a status may differ, because
 * what was answered names its steps by number. Throws CONFLICT otherwise.
 */
function requireSameSteps(seen: Plan, now: Plan, terms: PlanTerms): Plan {
  const isSame =
    now === seen ||
    (now.objective === seen.objective &&
      now.steps.length === seen.steps.length &&
      now.steps.every(
        ({ step_id, title }, index) =>
          seen.steps[index]!.step_id === step_id && seen.steps[index]!.title === title,
      ))
  if (isSame) return now
  throw new ToolError('CONFLICT', 'the plan was changed by another call at the same time', {
    retryable: true,
    suggestion: `Look at the plan and try again: ${terms.read}`,
  })
}

/** Steps that are done, and all of them. */
export function countPlanSteps({ steps }: Plan): { readonly done: number; readonly total: number } {
  return { done: steps.filter(({ status }) => status === 'done').length, total: steps.length }
}

function appendSteps(
  steps: readonly PlanStep[],
  titles: readonly string[],
  field: string,
): readonly PlanStep[] {
  if (steps.length + titles.length > PLAN_LIMITS.steps)
    throw new ToolError(
      'INVALID_INPUT',
      `a plan has at most ${PLAN_LIMITS.steps} steps, and this one would have ${steps.length + titles.length}`,
      { field, suggestion: 'Put small steps together' },
    )
  const last = steps.reduce((highest, { step_id }) => Math.max(highest, step_id), 0)
  return [
    ...steps,
    ...titles.map((title, index): PlanStep => ({
      step_id: last + 1 + index,
      title: requireText(title, `${field}.${index}`, PLAN_LIMITS.title),
      status: 'pending',
    })),
  ]
}

function requireText(given: string, field: string, most: number): string {
  const text = given.trim()
  if (isTrimmedText(text, most)) return text
  const problem =
    text === '' ? 'is empty' : `has ${Array.from(text).length} characters, and ${most} are the most`
  throw new ToolError('INVALID_INPUT', `${field}: the text ${problem}`, {
    field,
    suggestion:
      text === ''
        ? 'Say in a few words what is to be done'
        : 'Say it shorter, or make several steps of it',
  })
}

function requireActivePlan({ status, objective }: Plan, { setup }: PlanTerms): void {
  if (status === 'completed')
    throw new ToolError(
      'CONFLICT',
      `the plan '${shorten(objective, 80)}' is completed, and closed to changes`,
      { suggestion: { action: 'use_different_tool', fix: `Begin a new plan: ${setup}` } },
    )
}

function createUnknownStepError(
  { steps }: Plan,
  id: number,
  { read, id: field }: PlanTerms,
): ToolError {
  const ids = steps.map(({ step_id }) => step_id)
  const known =
    ids.length === 0
      ? 'the plan has no steps yet'
      : `the steps are ${ids.length > 20 ? `${ids.slice(0, 20).join(', ')}, ...` : ids.join(', ')}`
  return new ToolError('NOT_FOUND', `there is no step ${id}; ${known}`, {
    field,
    details: { step_ids: ids.slice(0, 100) },
    suggestion: `Look at the plan: ${read}`,
  })
}

const STATUS_MARKS = { pending: ' ', in_progress: ' ', done: 'x' } as const

/** The plan as a model reads it: one line about the whole, then a Markdown checklist. */
export function renderPlanChecklist(plan: Plan): string {
  const { done, total } = countPlanSteps(plan)
  const progress = total === 0 ? 'no steps yet' : `${done} of ${total} steps done`
  return [
    `Plan (${plan.status}, ${progress}): ${toOneLine(plan.objective)}`,
    ...plan.steps.map(
      ({ step_id, title, status }) =>
        `- [${STATUS_MARKS[status]}] ${step_id}. ${toOneLine(title)}${status === 'in_progress' ? ' (in progress)' : ''}`,
    ),
  ].join('\n')
}

/**
 * How far a plan is, as a progress event tells it: the share of its steps, and what is being done
 * or comes next. No percentage where there are no steps.
 */
export function describePlanProgress(plan: Plan): {
  readonly message: string
  readonly percent: number | undefined
} {
  const { done, total } = countPlanSteps(plan)
  const current =
    plan.steps.find(({ status }) => status === 'in_progress') ??
    plan.steps.find(({ status }) => status === 'pending')
  const what = toOneLine(current?.title ?? plan.objective)
  if (total === 0) return { message: `no steps yet: ${what}`, percent: undefined }
  return {
    message: `${done} of ${total} steps done: ${what}`,
    percent: Math.round((done / total) * 100),
  }
}

// A line break in a title would look like another item.
function toOneLine(text: string): string {
  return text.replace(/\s+/g, ' ')
}
