import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../../contract/json.ts'
import type { RunEvent } from '../../contract/run-state.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import { readBatches } from '../../runner/log/read-log.ts'
import type { OpenQuestion } from '../../views/model/summary/summary.ts'
import { findEnd } from './execution-records.ts'
import { readRunJournal } from './read-run-journal.ts'

/** A step as `runs show` shows it. */
export type ShownStep = { readonly step: string; readonly state: 'running' | 'ok' | 'failed' | 'skipped' | 'interrupted'; readonly kind?: string; readonly tries?: number; readonly duration_s?: number; /** The run of its tool. */ readonly run_id?: string; readonly error?: string }

type Kept = { state: ShownStep['state']; kind?: string; tries: number; began: number; ended?: number; run_id?: string; error?: string }

const MOST_STEPS = 1000
const STATES: readonly unknown[] = ['running', 'ok', 'failed', 'skipped']

/** What the record of a workflow's run tells of its steps, and the questions that wait for an answer, also where nobody performs it now; `answered` where the answer is there and nobody has taken it yet. */
export async function readWorkflowRun(paths: RunPaths): Promise<{ readonly steps: readonly ShownStep[]; readonly open: readonly OpenQuestion[] }> {
  const steps = new Map<string, Kept>()
  const open = new Map<string, OpenQuestion>()
  for await (const events of readBatches(paths.events)) for (const event of events) {
    takeStep(steps, event)
    takeQuestion(open, event)
  }
  const records = await readRunJournal(paths)
  if (findEnd(records, paths.id)) open.clear()
  return { steps: [...steps].map(([step, kept]) => shown(step, kept)), open: [...open.values()].map((question) => (existsSync(join(paths.answers, `${question.id}.json`)) ? { ...question, answered: true } : question)) }
}

function takeStep(steps: Map<string, Kept>, event: RunEvent): void {
  const { type, ts } = event
  if (type === 'runner_end' || type === 'runner_start') {
    for (const kept of steps.values()) if (kept.state === 'running' && (type === 'runner_start' || event['state'] !== 'completed')) kept.state = 'interrupted'
    return
  }
  const step = type === 'log' ? event['step'] : type === 'task_started' ? event['task_id'] : undefined
  if (typeof step !== 'string' || step === '') return
  const [path = '', attempt] = step.split('#')
  const kept = steps.get(path)
  if (type === 'task_started') {
    if (kept) Object.assign(kept, { state: 'running', tries: Number(attempt ?? 1), ...(typeof event['child_run_id'] === 'string' && { run_id: event['child_run_id'] }) })
    return
  }
  const state = event['step_state']
  // Told again after a restart, it is no news.
  if (kept && kept.state === state && state !== 'running') return
  if (!STATES.includes(state) || (!kept && steps.size >= MOST_STEPS)) return
  const next = kept ?? { state: 'running', tries: 1, began: Date.parse(ts) }
  Object.assign(next, { state, ...(state !== 'running' && { ended: Date.parse(ts) }), ...(typeof event['kind'] === 'string' && { kind: event['kind'] }), ...(state === 'failed' && { error: String(event['msg']) }) })
  steps.set(path, next)
}

// Each attempt asks anew what is still open.
function takeQuestion(open: Map<string, OpenQuestion>, { type, interaction, answer }: RunEvent): void {
  if (type === 'runner_start') open.clear()
  else if (type === 'action_required' && isObject(interaction) && typeof interaction['id'] === 'string') open.set(interaction['id'], interaction as OpenQuestion)
  else if (type === 'runner_log' && isObject(answer)) open.delete(String(answer['id']))
}

function shown(step: string, { state, kind, tries, began, ended, run_id, error }: Kept): ShownStep {
  const seconds = ended === undefined ? NaN : (ended - began) / 1000
  return { step, state, ...(kind !== undefined && { kind }), ...(tries > 1 && { tries }), ...(seconds >= 0 && { duration_s: seconds }), ...(run_id !== undefined && { run_id }), ...(error !== undefined && { error }) }
}
