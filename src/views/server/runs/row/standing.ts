import { isObject } from '../../../../contract/json.ts'
import { isOver } from '../../../../contract/run-state.ts'
import type { RunEvent } from '../../../../contract/run-state.ts'
import { lastWords } from '../../../model/summary/event-text.ts'
import { startSummary } from '../../../model/summary/summarize.ts'
import type { OpenQuestion } from '../../../model/summary/summary.ts'
import type { RunRow } from '../../../model/wire/run-row.ts'
import type { RunFacts } from './facts.ts'
import { keepText } from './keep-text.ts'
import { boundQuestion, boundValue } from './bound-question.ts'

/** A question, and what came of it. */
export type Asked = {
  readonly question: OpenQuestion
  readonly asked: string
  readonly deadline?: string
  readonly answered?: {
    readonly at: string
    readonly by?: string
    readonly value?: unknown
    readonly note?: string
  }
  readonly withdrawn?: true
}

/** Where a run stands, as a list shows it, while its events come. It need not see all of them: those that change something, and the last ones. */
export type Standing = {
  add(event: RunEvent): void
  row(): RunRow
  /** Questions that nobody has answered, of the attempt that goes on. */
  open(): readonly Asked[]
  /** Questions that are settled, since they were last taken away. */
  takeSettled(): readonly Asked[]
  /** Questions that were open when the last attempt ended: a workflow that goes on asks them again. */
  readonly left: readonly Asked[]
  /** It has a plan. */
  readonly planned: boolean
  /** The number of the last event. */
  readonly seq: number
}

const LONGEST_TEXT = 160
const MOST_SETTLED = 200
const SPEAKS: readonly string[] = ['start', 'progress', 'heartbeat', 'item', 'task_started']

/** Begins to follow a run from its first event. */
export function startStanding(facts: RunFacts): Standing {
  const summary = startSummary(facts)
  const open = new Map<string, Asked>()
  let settled: Asked[] = []
  let last: RunEvent | undefined
  let heard: string | undefined
  let seq = 0
  let began = NaN
  // While it waits for an answer its time stands still.
  let waited = 0
  let waitsSince: number | undefined
  let speaks = facts.owesBeats === true
  let left: readonly Asked[] = []
  let made: RunRow | undefined
  let planned = false

  const settle = (asked: Asked): void => {
    settled.push(asked)
    if (settled.length > 2 * MOST_SETTLED) settled = settled.slice(-MOST_SETTLED)
  }
  const giveUp = (): void => {
    left = [...open.values()]
    for (const asked of open.values()) settle({ ...asked, withdrawn: true })
    open.clear()
  }
  const ask = ({ ts, interaction, context }: RunEvent): void => {
    if (!isObject(interaction) || typeof interaction['id'] !== 'string') return
    const wait =
      secondsOf(interaction['timeout']) ??
      (isObject(context) ? secondsOf(context['timeout']) : undefined) ??
      facts.patience
    const until = wait === undefined ? NaN : Date.parse(ts) + wait * 1000
    open.set(interaction['id'], {
      question: boundQuestion(interaction as OpenQuestion),
      asked: ts,
      ...(isTime(until) && { deadline: new Date(until).toISOString() }),
    })
    waitsSince ??= Date.parse(ts)
  }
  const answer = ({ ts, answer: given }: RunEvent): void => {
    const asked = isObject(given) ? open.get(String(given['id'])) : undefined
    if (!isObject(given) || !asked) return
    open.delete(asked.question.id)
    if (given['withdrawn'] === true) settle({ ...asked, withdrawn: true })
    else
      settle({
        ...asked,
        answered: {
          at: ts,
          ...(typeof given['by'] === 'string' && { by: keepText(given['by'], 100) }),
          ...(Object.hasOwn(given, 'value') && { value: boundValue(given['value']) }),
          ...(typeof given['note'] === 'string' && { note: keepText(given['note'], 1000) }),
        },
      })
    if (open.size > 0 || waitsSince === undefined) return
    waited += Date.parse(ts) - waitsSince
    waitsSince = undefined
  }

  const makeRow = (): RunRow => {
    const { state, attempt, started, ended, duration_s, error, progress, questions, artifacts } =
      summary.current()
    const over = isOver(state)
    const { run_id, tool, workflow, created, caller, parent, timeout, grace } = facts
    const text = last && last.type !== 'runner_start' ? lastWords(last) || last.type : undefined
    const until =
      state === 'running' && timeout !== undefined ? began + waited + timeout * 1000 : NaN
    return {
      run_id,
      tool,
      state,
      attempt,
      created,
      ...(workflow !== undefined && { workflow }),
      ...(started !== undefined && { started }),
      ...(ended !== undefined && { ended }),
      ...(duration_s !== undefined && { duration_s }),
      ...(caller !== undefined && { caller }),
      ...(error && {
        code: keepText(error.code, 60),
        ...(error.message !== undefined && { message: keepText(error.message, LONGEST_TEXT) }),
      }),
      ...(text !== undefined && { last: keepText(text, LONGEST_TEXT) }),
      ...(!over && progress?.percent !== undefined && { percent: progress.percent }),
      ...(!over && progress?.step !== undefined && { step: keepText(progress.step, 80) }),
      ...(!over && heard !== undefined && { heard }),
      ...(!over && speaks && grace !== undefined && { grace_s: grace }),
      ...(isTime(until) && { deadline: new Date(until).toISOString() }),
      questions: questions.length,
      artifacts: artifacts?.length ?? 0,
      ...(parent && { parent }),
    }
  }

  return {
    add(event) {
      const { type, ts } = event
      seq = event.seq
      heard = ts
      made = undefined
      planned ||= type === 'progress' && event['plan'] !== undefined
      summary.add(event)
      if (type === 'runner_start') {
        giveUp()
        left = []
        began = Date.parse(ts)
        waited = 0
        waitsSince = undefined
      } else if (type === 'action_required') ask(event)
      else if (type === 'runner_log') answer(event)
      else if (type === 'runner_end') giveUp()
      if (!speaks && SPEAKS.includes(type)) speaks = true
      if (type !== 'heartbeat' && type !== 'runner_end' && (type !== 'runner_start' || !last))
        last = event
    },
    row: () => (made ??= makeRow()),
    open: () => [...open.values()],
    takeSettled() {
      const taken = settled
      settled = []
      return taken
    },
    get left() {
      return left
    },
    get planned() {
      return planned
    },
    get seq() {
      return seq
    },
  }
}

function secondsOf(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 && Number.isFinite(value) ? value : undefined
}

// What a tool calls a time may lie beyond what a date can say.
function isTime(milliseconds: number): boolean {
  return Math.abs(milliseconds) <= 8.64e15
}
