/**
 * Applies the events of a run to its steps: steps of a workflow, tasks of an orchestrator, and
 * stages that a tool names in its progress.
 */

import type { RunEvent } from '../../protocol/run-state.ts'
import { compact, isObject } from '../../util/values.ts'
import { getMessage, getPercent, toEventText } from './event-text.ts'
import type { RunModel, StepModel, StepState } from './run-model.ts'
import { exceedsStepLimit } from './step-limit.ts'

const MAX_STEP_SPANS = 100
const MAX_KEY_CHARS = 200
const MAX_LINE_CHARS = 300
const END_STATES: readonly StepState[] = ['ok', 'failed', 'skipped', 'cancelled', 'interrupted']
const REPORTED_STATES = ['running', 'ok', 'failed', 'skipped']

/**
 * What an event means for the steps of a run: those of a workflow tell their state, those of an
 * orchestrator are tasks, and those of a plain tool are the stages that its progress names.
 */
export function applyToSteps(model: RunModel, event: RunEvent, at: number): void {
  const { type } = event
  if (type === 'runner_start') return closeAllSteps(model, 'interrupted', at)
  if (type === 'runner_end') return closeAllSteps(model, getEndState(model), at)
  if (type.startsWith('task_')) return applyTask(model, event, at)
  if (type === 'log' && typeof event['step'] === 'string' && event['step'] !== '')
    return applyLog(model, event['step'], event, at)
  if (type === 'progress' && !model.workflow && typeof event['step'] === 'string')
    return applyStage(model, event['step'], event, at)
  if (type === 'action_required' && isObject(event['interaction']))
    return setWaiting(model, event['interaction']['id'], true, at)
  if (type === 'runner_log' && isObject(event['answer']))
    setWaiting(model, event['answer']['id'], false, at)
}

function getEndState({ state, error }: RunModel): StepState {
  if (state === 'completed') return 'ok'
  if (state === 'cancelled') return 'cancelled'
  return error?.code === 'E_INTERRUPTED' ? 'interrupted' : 'failed'
}

function applyTask(model: RunModel, event: RunEvent, at: number): void {
  const { task_id: task, child_run_id: run, child_event: child } = event
  if (typeof task !== 'string' || task === '') return
  const [path = '', attempt] = task.split('#')
  const step = getStep(model, path)
  if (!step) return
  if (typeof run === 'string') step.run_id = run
  if (event.type === 'task_started') {
    if (attempt !== undefined) step.tries = Number(attempt) || step.tries
    beginStep(model, step, at)
  } else if (event.type === 'task_done') {
    // Of a step of a workflow the step itself tells the end: another try may follow.
    // Only this event reports a step that was cancelled because of its neighbour.
    if (model.workflow && isCancelled(event['child_result'])) endStep(model, step, 'cancelled', at)
    const { status } = event
    if (!model.workflow)
      endStep(model, step, status === 'ok' || status === 'cancelled' ? status : 'failed', at)
    delete step.percent
  } else if (event.type === 'task_action_required') step.state = 'waiting'
  else if (event.type === 'task_error' && !model.workflow)
    step.error = toEventText(isObject(child) ? { ...event, ...child } : event).slice(
      0,
      MAX_LINE_CHARS,
    )
  if (event.type !== 'task_progress' || !isObject(child)) return
  if (step.state === 'waiting' || step.state === 'pending') beginStep(model, step, at)
  setProgress(step, child)
}

function setProgress(step: StepModel, event: { readonly [field: string]: unknown }): void {
  const [percent, message] = [getPercent(event), getMessage(event)]
  if (percent !== undefined) step.percent = percent
  if (message !== undefined) step.last = message.slice(0, MAX_LINE_CHARS)
}

function isCancelled(result: unknown): boolean {
  return isObject(result) && isObject(result['error']) && result['error']['code'] === 'CANCELLED'
}

function applyLog(model: RunModel, path: string, event: RunEvent, at: number): void {
  const { step_state: state, kind } = event
  const message = getMessage(event)
  const known = findStep(model, path)
  if (state === undefined) {
    if (known && message !== undefined) known.last = message.slice(0, MAX_LINE_CHARS)
    return
  }
  if (state === 'retry' && known) {
    closeSpan(known, 'failed', at)
    // Until its next try begins, or is over.
    changeStepState(known, 'pending', at, model.attempt)
    known.tries = Math.max(known.tries, (Number(event['try']) || known.tries) + 1)
    known.last = (message ?? '').slice(0, MAX_LINE_CHARS)
    return
  }
  if (typeof state !== 'string' || !REPORTED_STATES.includes(state)) return
  // Repeated after a restart.
  if (known && known.state === state && state !== 'running') return
  const step = getStep(model, path)
  if (!step) return
  if (typeof kind === 'string') step.kind = kind
  if (state === 'running') return beginStep(model, step, at)
  if (state === 'failed' && message !== undefined) step.error = message.slice(0, MAX_LINE_CHARS)
  endStep(model, step, state as StepState, at)
}

function applyStage(model: RunModel, path: string, event: RunEvent, at: number): void {
  // Many tools name themselves in each line.
  if (path === '' || path === model.tool || model.tool.endsWith(`.${path}`)) return
  const step = getStep(model, path)
  if (!step) return
  if (step.state !== 'running') {
    // A tool that names its next stage has ended the one before, unless it is around it.
    for (const other of [...model.steps])
      if (
        other !== step &&
        other.state === 'running' &&
        other.kind === 'stage' &&
        !step.key.startsWith(`${other.key}/`)
      )
        endStep(model, other, 'ok', at)
    beginStep(model, step, at)
  }
  step.kind = 'stage'
  setProgress(step, event)
}

// The id of a question names its step: `approve`, or `all.2.<id of the tool's own question>`.
function setWaiting(model: RunModel, id: unknown, isAsked: boolean, at: number): void {
  if (typeof id !== 'string') return
  const isIts = ({ key }: StepModel): boolean =>
    id === key.replaceAll('/', '.') || id.startsWith(`${key.replaceAll('/', '.')}.`)
  const step = model.steps
    .filter((one) => isIts(one) && !END_STATES.includes(one.state))
    .sort((left, right) => right.key.length - left.key.length)[0]
  if (!step) return
  if (isAsked) changeStepState(step, 'waiting', at, model.attempt)
  else if (step.state === 'waiting') changeStepState(step, 'running', at, model.attempt)
}

function findStep({ steps }: RunModel, path: string): StepModel | undefined {
  const key = toStepKey(path)
  // Most events are about what began last.
  return steps.findLast((step) => step.key === key)
}

function toStepKey(path: string): string {
  return (path.split('#')[0] ?? '').slice(0, MAX_KEY_CHARS)
}

function getStep(model: RunModel, path: string): StepModel | undefined {
  const known = findStep(model, path)
  if (known) return known
  const key = toStepKey(path)
  const parts = key.split('/')
  const parent = findParent(model, parts)
  const step: StepModel = {
    key,
    name: parent === undefined ? key : key.slice(parent.length + 1),
    ...compact({ parent }),
    depth: parent === undefined ? 0 : model.steps.find((one) => one.key === parent)!.depth + 1,
    state: 'pending',
    tries: 1,
    spans: [],
  }
  model.steps.splice(getInsertPosition(model, parent), 0, step)
  return dropIfCrowded(model, step) ? undefined : step
}

// It is counted, where there is no room for it.
function dropIfCrowded(model: RunModel, step: StepModel): boolean {
  if (!exceedsStepLimit(model.steps, model.steps.length, step)) return false
  model.steps.splice(model.steps.lastIndexOf(step), 1)
  model.more_steps += 1
  return true
}

function findParent({ steps }: RunModel, parts: readonly string[]): string | undefined {
  for (let length = parts.length - 1; length > 0; length -= 1) {
    const key = parts.slice(0, length).join('/')
    if (steps.some((step) => step.key === key)) return key
  }
  return undefined
}

// Behind everything that is inside the same one.
function getInsertPosition({ steps }: RunModel, parent: string | undefined): number {
  if (parent === undefined) return steps.length
  const last = steps.findLastIndex(({ key }) => key === parent || key.startsWith(`${parent}/`))
  return last + 1
}

function beginStep(model: RunModel, step: StepModel, at: number): void {
  if (step.state === 'running') return
  if (step.state === 'waiting') return changeStepState(step, 'running', at, model.attempt)
  delete step.ended
  delete step.error
  step.began ??= at
  changeStepState(step, 'running', at, model.attempt)
}

function changeStepState(step: StepModel, state: StepState, at: number, attempt: number): void {
  closeSpan(step, undefined, at)
  step.state = state
  if (step.spans.length < MAX_STEP_SPANS) step.spans.push({ from: at, state, attempt })
}

function endStep(model: RunModel, step: StepModel, state: StepState, at: number): void {
  closeSpan(step, state, at)
  step.state = state
  if (state !== 'skipped') step.ended = at
  delete step.percent
  dropIfCrowded(model, step)
}

function closeSpan(step: StepModel, state: StepState | undefined, at: number): void {
  const span = step.spans.at(-1)
  if (!span || span.to !== undefined) return
  span.to = at
  if (state !== undefined) span.state = state
}

function closeAllSteps(model: RunModel, state: StepState, at: number): void {
  for (const step of [...model.steps])
    if (!END_STATES.includes(step.state) && step.began !== undefined)
      endStep(model, step, state, at)
}
