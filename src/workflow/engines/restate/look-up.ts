import { isObject } from '../../../contract/json.ts'
import type { RunState } from '../../../contract/run-state.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import type { HttpAnswer } from '../../../registry/http/request.ts'
import type { Execution } from '../engine-type.ts'
import { query } from './admin.ts'
import type { Place } from './deliver.ts'
import { readRefusal } from './refusal.ts'
import { ASKED, QUESTIONS, STATE, WORKFLOWS } from './wire.ts'
import type { AskedQuestion, RunAnswer, Standing, TaskRecord } from './wire.ts'

const MOST_LISTED = 1000

/** How an execution stands; `ended` is its answer where that is known already. */
export async function lookUpExecution(
  id: string,
  place: Place,
  ended?: HttpAnswer,
): Promise<Execution | undefined> {
  const answer =
    ended ??
    (await place.ask({
      method: 'GET',
      path: `/restate/workflow/${WORKFLOWS}/${id}/output`,
      timeout: 30_000,
    }))
  if (answer.status === 404) return undefined
  if (answer.status === 200) return overOf(id, answer.document as RunAnswer)
  const standing = (await lookUpStanding(id, place).catch(() => undefined)) ?? {
    questions: [],
    tasks: [],
  }
  const { name = '', hash = '', created = '' } = standing.info ?? {}
  const base = { id, name, hash, created }
  if (answer.status === 470) return { ...base, ...standingOf(standing) }
  return {
    ...base,
    state: 'failed',
    error: describe(readRefusal(answer, place.ingress, `${id} failed`)),
  }
}

function overOf(id: string, { state, settled, info }: RunAnswer): Execution {
  return {
    id,
    ...info,
    state,
    ...(settled.ok ? { result: settled.value } : { error: settled.error }),
  }
}

/** What an execution asks and does: from the admin interface where there is one, else from a worker. */
export async function lookUpStanding(
  id: string,
  { ingress, admin, ask, signal }: Place,
  since = 0,
): Promise<Standing | undefined> {
  if (admin) {
    const rows = await query(
      admin,
      `select key, value_utf8 from state where service_name in ('${WORKFLOWS}', '${QUESTIONS}') and service_key = '${id}'`,
      signal,
    )
    return readStanding(rows, since)
  }
  const answer = await ask({
    method: 'POST',
    path: `/${WORKFLOWS}/${id}/state`,
    body: { since },
    timeout: 15_000,
  })
  if (answer.status === 200) return answer.document as Standing
  throw readRefusal(answer, ingress, `nobody can tell how ${id} stands`)
}

/** Executions, the newest first. Throws CONFIG where there is no admin interface to ask. */
export async function listExecutions(
  {
    name,
    state,
    limit = 100,
  }: { readonly name?: string; readonly state?: RunState; readonly limit?: number } = {},
  { admin, signal }: Place,
): Promise<readonly Execution[]> {
  if (!admin)
    throw new ToolError(
      'CONFIG',
      'lists come from the admin interface of the Restate server, and its address is not known',
      { field: 'admin', suggestion: '--admin http://127.0.0.1:9070' },
    )
  const most = name === undefined && state === undefined ? limit : MOST_LISTED
  const found = await query(
    admin,
    `select target_service_key as id, status, created_at, completed_at, completion_failure from sys_invocation where target_service_name = '${WORKFLOWS}' and target_handler_name = 'run' order by created_at desc limit ${Math.max(1, Math.min(most, MOST_LISTED))}`,
    signal,
  )
  const notes = await query(
    admin,
    `select service_key as id, key, value_utf8 from state where service_name = '${QUESTIONS}' or (service_name = '${WORKFLOWS}' and key in ('${STATE.info}', '${STATE.end}', '${STATE.error}', '${STATE.questions}'))`,
    signal,
  )
  const byId = new Map<unknown, (typeof notes)[number][]>()
  for (const note of notes) byId.set(note['id'], [...(byId.get(note['id']) ?? []), note])
  return found
    .map((row) =>
      execution(row, readStanding(byId.get(row['id']) ?? [], 0) ?? { questions: [], tasks: [] }),
    )
    .filter(
      (one) =>
        (name === undefined || one.name === name) && (state === undefined || one.state === state),
    )
    .slice(0, limit)
}

function execution(row: { readonly [column: string]: unknown }, standing: Standing): Execution {
  const { info, end, error } = standing
  const over = row['status'] === 'completed'
  const base = {
    id: String(row['id']),
    name: info?.name ?? '',
    hash: info?.hash ?? '',
    created: info?.created ?? String(row['created_at']),
  }
  if (!over)
    return {
      ...base,
      ...standingOf(standing),
      ...(row['status'] === 'pending' || row['status'] === 'ready' || row['status'] === 'scheduled'
        ? { state: 'queued' as const }
        : {}),
    }
  const ended = typeof row['completed_at'] === 'string' ? { ended: row['completed_at'] } : {}
  if (end) return { ...base, ...ended, state: end, ...(error && { error }) }
  return {
    ...base,
    ...ended,
    state: 'failed',
    error: {
      code: 'INTERNAL',
      message: String(row['completion_failure'] ?? 'the server ended it'),
      retryable: false,
    },
  }
}

function standingOf({ info, questions }: Standing): Pick<Execution, 'state' | 'questions'> {
  if (questions.length > 0) return { state: 'waiting_ai', questions }
  return { state: info ? 'running' : 'queued' }
}

function readStanding(
  rows: readonly { readonly [column: string]: unknown }[],
  since: number,
): Standing | undefined {
  if (rows.length === 0) return undefined
  const notes = new Map(rows.map((row) => [String(row['key']), parse(row['value_utf8'])]))
  const tasks = [...notes]
    .filter(([key, value]) => key.startsWith(STATE.task) && isObject(value))
    .map(([, value]) => value as TaskRecord)
  const asked = [...notes]
    .filter(([key]) => key.startsWith(ASKED))
    .map(([, value]) => value as AskedQuestion)
  const [info, end, error] = [notes.get(STATE.info), notes.get(STATE.end), notes.get(STATE.error)]
  return {
    ...(info !== undefined && { info: info as NonNullable<Standing['info']> }),
    ...(end !== undefined && { end: end as NonNullable<Standing['end']> }),
    ...(error !== undefined && { error: error as NonNullable<Standing['error']> }),
    questions: [
      ...((notes.get(STATE.questions) ?? []) as Standing['questions']),
      ...asked.filter(({ isAnswered }) => !isAnswered).map(({ question }) => question),
    ],
    tasks: tasks
      .filter(({ change }) => change > since)
      .sort((left, right) => left.change - right.change),
  }
}

function parse(text: unknown): unknown {
  return typeof text === 'string' ? (JSON.parse(text) as unknown) : undefined
}

function describe({ code, message, retryable }: ToolError): NonNullable<Execution['error']> {
  return { code, message, retryable }
}
