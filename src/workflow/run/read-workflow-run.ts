import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../../contract/json.ts'
import type { RunEvent } from '../../contract/run-state.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import { readBatches } from '../../runner/log/read-log.ts'
import { isCrowded } from '../../views/model/run-model/step-room.ts'
import type { OpenQuestion } from '../../views/model/summary/summary.ts'
import { findEnd } from './execution-records.ts'
import { readRunJournal } from './read-run-journal.ts'

/** A step as `runs show` shows it. */
export type ShownStep = {
  readonly step: string
  readonly state: 'running' | 'ok' | 'failed' | 'skipped' | 'interrupted'
  readonly kind?: string
  readonly tries?: number
  readonly duration_s?: number
  /** The run of its tool. */ readonly run_id?: string
  readonly error?: string
}

type Kept = {
  readonly key: string
  readonly depth: number
  state: ShownStep['state']
  kind?: string
  tries: number
  began: number
  ended?: number
  run_id?: string
  error?: string
}

const STATES: readonly unknown[] = ['running', 'ok', 'failed', 'skipped']

/** The steps of a run, as many as are kept; what failed is, and what the workflow itself consists of. */
export type ShownSteps = {
  readonly steps: readonly ShownStep[]
  /** How many were left out. */ readonly more_steps?: number
}

type Steps = { readonly kept: Map<string, Kept>; leftOut: number }

/** What the record of a workflow's run tells of its steps, and the questions that wait for an answer, also where nobody performs it now; `answered` where the answer is there and nobody has taken it yet. */
export async function readWorkflowRun(
  paths: RunPaths,
): Promise<ShownSteps & { readonly open: readonly OpenQuestion[] }> {
  const steps: Steps = { kept: new Map(), leftOut: 0 }
  const open = new Map<string, OpenQuestion>()
  for await (const events of readBatches(paths.events))
    for (const event of events) {
      takeStep(steps, event)
      takeQuestion(open, event)
    }
  const records = await readRunJournal(paths)
  if (findEnd(records, paths.id)) open.clear()
  return {
    steps: [...steps.kept.values()].map(shown),
    ...(steps.leftOut > 0 && { more_steps: steps.leftOut }),
    open: [...open.values()].map((question) =>
      existsSync(join(paths.answers, `${question.id}.json`))
        ? { ...question, answered: true }
        : question,
    ),
  }
}

function takeStep(steps: Steps, event: RunEvent): void {
  const { type, ts } = event
  if (type === 'runner_end' || type === 'runner_start') {
    for (const kept of steps.kept.values())
      if (kept.state === 'running' && (type === 'runner_start' || event['state'] !== 'completed'))
        turn(steps, kept, 'interrupted')
    return
  }
  const step =
    type === 'log' ? event['step'] : type === 'task_started' ? event['task_id'] : undefined
  if (typeof step !== 'string' || step === '') return
  const [path = '', attempt] = step.split('#')
  const kept = steps.kept.get(path)
  if (type === 'task_started') {
    if (kept)
      Object.assign(kept, {
        state: 'running',
        tries: Number(attempt ?? 1),
        ...(typeof event['child_run_id'] === 'string' && { run_id: event['child_run_id'] }),
      })
    return
  }
  const state = event['step_state']
  // Told again after a restart, it is no news.
  if (kept && kept.state === state && state !== 'running') return
  if (!STATES.includes(state)) return
  const next: Kept = kept ?? {
    key: path,
    depth: path.replace(/^finally\//, '').split('/').length - 1,
    state: 'running',
    tries: 1,
    began: Date.parse(ts),
  }
  Object.assign(next, {
    ...(state !== 'running' && { ended: Date.parse(ts) }),
    ...(typeof event['kind'] === 'string' && { kind: event['kind'] }),
    ...(state === 'failed' && { error: String(event['msg']) }),
  })
  steps.kept.set(path, next)
  turn(steps, next, state as Kept['state'])
}

// It is counted, where there is no room for it.
function turn(steps: Steps, step: Kept, state: Kept['state']): void {
  step.state = state
  if (!isCrowded(steps.kept.values(), steps.kept.size, step)) return
  steps.kept.delete(step.key)
  steps.leftOut += 1
}

// Each attempt asks anew what is still open.
function takeQuestion(
  open: Map<string, OpenQuestion>,
  { type, interaction, answer }: RunEvent,
): void {
  if (type === 'runner_start') open.clear()
  else if (
    type === 'action_required' &&
    isObject(interaction) &&
    typeof interaction['id'] === 'string'
  )
    open.set(interaction['id'], interaction as OpenQuestion)
  else if (type === 'runner_log' && isObject(answer)) open.delete(String(answer['id']))
}

function shown({ key: step, state, kind, tries, began, ended, run_id, error }: Kept): ShownStep {
  const seconds = ended === undefined ? NaN : (ended - began) / 1000
  return {
    step,
    state,
    ...(kind !== undefined && { kind }),
    ...(tries > 1 && { tries }),
    ...(seconds >= 0 && { duration_s: seconds }),
    ...(run_id !== undefined && { run_id }),
    ...(error !== undefined && { error }),
  }
}
