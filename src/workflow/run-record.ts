/**
 * Reads the record of a workflow run: its journal, its steps and open questions, and whether it can
 * be resumed.
 */

import { constants, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { RunEvent, RunState } from '../protocol/run-state.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { readEventBatches } from '../runner/log-reader.ts'
import type { RunRequest } from '../runner/request.ts'
import type { RunPaths } from '../runner/run-paths.ts'
import { compact, isObject } from '../util/values.ts'
import type { OpenQuestion } from '../views/model/run-summary.ts'
import { exceedsStepLimit } from '../views/model/step-limit.ts'
import type { Workflow } from './definition/model.ts'
import type { EndRecord, JournalRecord } from './embedded/journal-records.ts'
import { createEndRecord, openJournalFile, readJournal } from './embedded/journal-records.ts'
import type { Journal } from './embedded/journal.ts'
import type { OperationOutcome } from './engine.ts'

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

type KeptStep = {
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

const STEP_STATES: readonly unknown[] = ['running', 'ok', 'failed', 'skipped']

/**
 * The steps of a run, up to a limit; failed steps and those of the workflow itself are always kept.
 */
export type ShownSteps = {
  readonly steps: readonly ShownStep[]
  /** How many were left out. */ readonly more_steps?: number
}

type StepCollection = { readonly kept: Map<string, KeptStep>; leftOut: number }

/**
 * The steps of a workflow run and its open questions, also when no process runs it; `answered` if
 * an answer is there that has not been used yet.
 */
export async function readWorkflowRun(
  paths: RunPaths,
): Promise<ShownSteps & { readonly open: readonly OpenQuestion[] }> {
  const steps: StepCollection = { kept: new Map(), leftOut: 0 }
  const open = new Map<string, OpenQuestion>()
  for await (const events of readEventBatches(paths.events))
    for (const event of events) {
      applyStepEvent(steps, event)
      applyQuestionEvent(open, event)
    }
  const records = await readRunJournal(paths)
  if (findRecordedOutcome(records, paths.id)) open.clear()
  return compact({
    steps: [...steps.kept.values()].map(toShownStep),
    more_steps: steps.leftOut > 0 ? steps.leftOut : undefined,
    open: [...open.values()].map((question) =>
      existsSync(join(paths.answers, `${question.id}.json`))
        ? { ...question, answered: true }
        : question,
    ),
  })
}

function applyStepEvent(steps: StepCollection, event: RunEvent): void {
  const { type, ts } = event
  if (type === 'runner_end' || type === 'runner_start') {
    for (const kept of steps.kept.values())
      if (kept.state === 'running' && (type === 'runner_start' || event['state'] !== 'completed'))
        setStepState(steps, kept, 'interrupted')
    return
  }
  if (type !== 'log' && type !== 'task_started') return
  const step = event[type === 'log' ? 'step' : 'task_id']
  if (typeof step !== 'string' || step === '') return
  const [path = '', attempt] = step.split('#')
  const kept = steps.kept.get(path)
  if (type === 'task_started') {
    if (kept)
      Object.assign(
        kept,
        compact({
          state: 'running',
          tries: Number(attempt ?? 1),
          run_id: typeof event['child_run_id'] === 'string' ? event['child_run_id'] : undefined,
        }),
      )
    return
  }
  const state = event['step_state']
  // A repetition after a restart is no news.
  if (kept && kept.state === state && state !== 'running') return
  if (!STEP_STATES.includes(state)) return
  const next: KeptStep = kept ?? {
    key: path,
    depth: path.replace(/^finally\//, '').split('/').length - 1,
    state: 'running',
    tries: 1,
    began: Date.parse(ts),
  }
  Object.assign(
    next,
    compact({
      ended: state !== 'running' ? Date.parse(ts) : undefined,
      kind: typeof event['kind'] === 'string' ? event['kind'] : undefined,
      error: state === 'failed' ? String(event['msg']) : undefined,
    }),
  )
  steps.kept.set(path, next)
  setStepState(steps, next, state as KeptStep['state'])
}

// It is counted, where there is no room for it.
function setStepState(steps: StepCollection, step: KeptStep, state: KeptStep['state']): void {
  step.state = state
  if (!exceedsStepLimit(steps.kept.values(), steps.kept.size, step)) return
  steps.kept.delete(step.key)
  steps.leftOut += 1
}

// Each attempt asks again what is still open.
function applyQuestionEvent(
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

function toShownStep({
  key: step,
  state,
  kind,
  tries,
  began,
  ended,
  run_id,
  error,
}: KeptStep): ShownStep {
  const seconds = ended === undefined ? NaN : (ended - began) / 1000
  return compact({
    step,
    state,
    kind,
    tries: tries > 1 ? tries : undefined,
    duration_s: seconds >= 0 ? seconds : undefined,
    run_id,
    error,
  })
}

/** The file of a run that holds what its workflow has done. */
export const JOURNAL_FILE_NAME = 'journal.jsonl'

/**
 * The records in the journal of a run; none if it does not exist yet. Throws CONFIG for a file that
 * is no journal.
 */
async function readRunJournal({ folder }: RunPaths): Promise<readonly JournalRecord[]> {
  const path = join(folder, JOURNAL_FILE_NAME)
  if (!existsSync(path)) return []
  const file = await openJournalFile(path, constants.O_RDONLY)
  try {
    const records: JournalRecord[] = []
    if ((await file.stat()).size > 0)
      await readJournal(file, path, (record) => {
        records.push(record)
      })
    return records
  } finally {
    await file.close()
  }
}

/** Records the begin of an execution. */
export function appendBegin(
  journal: Pick<Journal, 'append'>,
  { run_id, workflow, input }: RunRequest,
  now: () => number,
): void {
  const { definition, hash } = workflow!
  journal.append({ t: 'define', h: hash, d: definition as unknown as Workflow })
  journal.append({
    t: 'begin',
    w: run_id,
    h: hash,
    n: String(definition['name']),
    i: input ?? {},
    at: new Date(now()).toISOString(),
  })
}

/**
 * Records the end of an execution; returns what was recorded, which is a failure if the output is
 * too long.
 */
export function appendEnd(
  journal: Pick<Journal, 'appendLine'>,
  id: string,
  settled: OperationOutcome,
  now: () => number,
): OperationOutcome {
  const { end, line } = createEndRecord(id, settled, new Date(now()).toISOString())
  journal.appendLine(line)
  return toRecordedOutcome(end)
}

/** The recorded outcome of an execution, if there is one. */
export function findRecordedOutcome(
  records: readonly JournalRecord[],
  id: string,
): OperationOutcome | undefined {
  const end = records.find((record): record is EndRecord => record.t === 'end' && record.w === id)
  return end && toRecordedOutcome(end)
}

function toRecordedOutcome(end: EndRecord): OperationOutcome {
  return end.s === 'completed'
    ? { ok: true, value: end.v }
    : {
        ok: false,
        error: isObject(end.e)
          ? end.e
          : {
              code: end.s === 'cancelled' ? 'CANCELLED' : 'INTERNAL',
              message: `it is ${end.s}`,
              retryable: false,
            },
      }
}

/** Throws PRECONDITION for a workflow that has ended: what it did is undone, or done. */
export async function requireResumable(
  paths: RunPaths,
  { state, code }: { readonly state: RunState; readonly code: string | undefined },
): Promise<void> {
  if (await isResumable(paths, code)) return
  throw new ToolError(
    'PRECONDITION',
    `the workflow ${paths.id} has come to its end: it is ${state}`,
    { suggestion: `See toolable runs show ${paths.id}, and start it anew: toolable workflow run` },
  )
}

/** Whether a workflow that is not completed can be resumed, by the code of its error. */
export async function isResumable(paths: RunPaths, code: string | undefined): Promise<boolean> {
  // The end may be in the journal but not on the record of the run yet: then there is something to
  // finish.
  return code === 'E_INTERRUPTED' || !findRecordedOutcome(await readRunJournal(paths), paths.id)
}
