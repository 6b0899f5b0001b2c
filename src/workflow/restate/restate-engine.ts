/**
 * The engine for many machines: a Restate server keeps the journal, workers execute workflows and
 * tools.
 *
 * client.ts talks to the server, wire.ts has the service names and messages, remote-run.ts follows
 * a remote execution as a run here.
 * The worker side is worker-services.ts (handlers), worker-context.ts (the durable context) and
 * worker.ts (endpoint and running tools).
 */

import type { RunState } from '../../protocol/run-state.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { HttpResult } from '../../registry/http.ts'
import { createRunId, isRunId } from '../../runner/run-paths.ts'
import { compact, isObject } from '../../util/values.ts'
import type { Execution, ExecutionHandle, WorkflowEngine } from '../engine.ts'
import { hashWorkflow } from '../request.ts'
import {
  createAdminServer,
  queryAdmin,
  sendRestateRequest,
  signalExecution,
  toRestateError,
  waitForRemoteEnd,
  withRetries,
} from './client.ts'
import type { RestateConnection, RestateRequest, RestateServer } from './client.ts'
import { QUESTION_KEY_PREFIX, QUESTION_SERVICE, STATE_KEYS, WORKFLOW_SERVICE } from './wire.ts'
import type {
  RemoteExecutionStatus,
  RestateRunRequest,
  RestateRunResult,
  StoredQuestion,
  TaskRecord,
} from './wire.ts'

type RestateEngineOptions = {
  /** Where the server takes calls: `http://127.0.0.1:8080`. */
  readonly ingress: string
  /**
   * Where it is administered: `http://127.0.0.1:9070`. Lists need it, and it tells how things stand
   * while no worker is there.
   */
  readonly admin?: string
  readonly now: () => number
  /**
   * Seconds that a server may be away before whoever waits for an execution gives up; default 600.
   */
  readonly patience?: number
}

/** The engine for many machines, and what those who look on besides want of it. */
export type RestateEngine = WorkflowEngine & {
  /**
   * How an execution stands, with the tasks that changed after the `since`th change; undefined
   * where there is none.
   */
  standing(id: string, since?: number): Promise<RemoteExecutionStatus | undefined>
  /** An execution that was started before; its end is waited for from now on. */
  attach(id: string): ExecutionHandle
}

/**
 * Executes workflows by a Restate server and its workers. Every request has an end, and what may
 * pass by itself is tried again.
 */
export function createRestateEngine({
  ingress: url,
  admin: adminUrl,
  now,
  patience = 600,
}: RestateEngineOptions): RestateEngine {
  const closing = new AbortController()
  const { signal } = closing
  const ingress: RestateServer = {
    url: parseServerUrl(url, 'ingress'),
    who: 'the Restate server',
    flag: '--ingress',
  }
  const admin =
    adminUrl === undefined ? undefined : createAdminServer(parseServerUrl(adminUrl, 'admin'))
  const ask = (asked: Omit<RestateRequest, 'signal'>) =>
    withRetries(() => sendRestateRequest(ingress, { ...asked, signal }), { signal })
  const place = { ingress, admin, ask, signal }

  const attach = (id: string): ExecutionHandle => {
    const done = waitForRemoteEnd(requireRunId(id), { ...place, patience, now }).then((answer) =>
      getRemoteExecution(id, place, answer),
    ) as Promise<Execution>
    // Whoever only starts need not look at the end.
    done.catch(() => undefined)
    return { id, done }
  }

  return {
    attach,
    async start(definition, input, { id = createRunId() } = {}) {
      const body: RestateRunRequest = {
        definition,
        hash: hashWorkflow(definition),
        input,
        created: new Date(now()).toISOString(),
      }
      const answer = await ask({
        method: 'POST',
        path: `/${WORKFLOW_SERVICE}/${requireRunId(id)}/run/send`,
        body,
        timeout: 30_000,
      })
      if (answer.status >= 300)
        throw toRestateError(answer, ingress, `the workflow '${definition.name}' was not started`)
      return attach(id)
    },
    async answer(id, question, value, by) {
      await signalExecution(place, requireRunId(id), 'answer', {
        question,
        value,
        ...compact({ by }),
      })
    },
    async cancel(id, reason) {
      await signalExecution(
        place,
        requireRunId(id),
        'cancel',
        reason === undefined ? {} : { reason },
      )
    },
    get: async (id) => getRemoteExecution(requireRunId(id), place),
    standing: async (id, since) => getRemoteStatus(requireRunId(id), place, since),
    list: (filter) => listRemoteExecutions(filter, place),
    async close() {
      closing.abort(new ToolError('CANCELLED', 'the engine was closed'))
    },
  }
}

// It becomes part of an address and of a question in SQL.
function requireRunId(id: string): string {
  if (!isRunId(id))
    throw new ToolError(
      'INVALID_INPUT',
      `'${String(id).slice(0, 100)}' is not the id of a workflow: ids look like r-0123456789`,
      { field: 'id' },
    )
  return id
}

function parseServerUrl(text: string, field: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.href.replace(/\/+$/, '')
  throw new ToolError('CONFIG', `'${text.slice(0, 100)}' is not the address of a server`, {
    field,
    suggestion: `--${field} http://127.0.0.1:${field === 'admin' ? 9070 : 8080}`,
  })
}

const MAX_LISTED = 1000

/** How an execution stands; `ended` is its answer where that is known already. */
async function getRemoteExecution(
  id: string,
  place: RestateConnection,
  ended?: HttpResult,
): Promise<Execution | undefined> {
  const answer =
    ended ??
    (await place.ask({
      method: 'GET',
      path: `/restate/workflow/${WORKFLOW_SERVICE}/${id}/output`,
      timeout: 30_000,
    }))
  if (answer.status === 404) return undefined
  if (answer.status === 200) return toFinishedExecution(id, answer.document as RestateRunResult)
  const standing = (await getRemoteStatus(id, place).catch(() => undefined)) ?? {
    questions: [],
    tasks: [],
  }
  const { name = '', hash = '', created = '' } = standing.info ?? {}
  const base = { id, name, hash, created }
  if (answer.status === 470) return { ...base, ...toStateFields(standing) }
  return {
    ...base,
    state: 'failed',
    error: toExecutionError(toRestateError(answer, place.ingress, `${id} failed`)),
  }
}

function toFinishedExecution(id: string, { state, settled, info }: RestateRunResult): Execution {
  return {
    id,
    ...info,
    state,
    ...(settled.ok ? { result: settled.value } : { error: settled.error }),
  }
}

/**
 * What an execution asks and does: from the admin interface where there is one, else from a worker.
 */
async function getRemoteStatus(
  id: string,
  { ingress, admin, ask, signal }: RestateConnection,
  since = 0,
): Promise<RemoteExecutionStatus | undefined> {
  if (admin) {
    const rows = await queryAdmin(
      admin,
      `select key, value_utf8 from state where service_name in ('${WORKFLOW_SERVICE}', '${QUESTION_SERVICE}') and service_key = '${id}'`,
      signal,
    )
    return parseStatusRows(rows, since)
  }
  const answer = await ask({
    method: 'POST',
    path: `/${WORKFLOW_SERVICE}/${id}/state`,
    body: { since },
    timeout: 15_000,
  })
  if (answer.status === 200) return answer.document as RemoteExecutionStatus
  throw toRestateError(answer, ingress, `nobody can tell how ${id} stands`)
}

/** Executions, the newest first. Throws CONFIG where there is no admin interface to ask. */
async function listRemoteExecutions(
  {
    name,
    state,
    limit = 100,
  }: { readonly name?: string; readonly state?: RunState; readonly limit?: number } = {},
  { admin, signal }: RestateConnection,
): Promise<readonly Execution[]> {
  if (!admin)
    throw new ToolError(
      'CONFIG',
      'lists come from the admin interface of the Restate server, and its address is not known',
      { field: 'admin', suggestion: '--admin http://127.0.0.1:9070' },
    )
  const most = name === undefined && state === undefined ? limit : MAX_LISTED
  const found = await queryAdmin(
    admin,
    `select target_service_key as id, status, created_at, completed_at, completion_failure from sys_invocation where target_service_name = '${WORKFLOW_SERVICE}' and target_handler_name = 'run' order by created_at desc limit ${Math.max(1, Math.min(most, MAX_LISTED))}`,
    signal,
  )
  const notes = await queryAdmin(
    admin,
    `select service_key as id, key, value_utf8 from state where service_name = '${QUESTION_SERVICE}' or (service_name = '${WORKFLOW_SERVICE}' and key in ('${STATE_KEYS.info}', '${STATE_KEYS.end}', '${STATE_KEYS.error}', '${STATE_KEYS.questions}'))`,
    signal,
  )
  const byId = new Map<unknown, (typeof notes)[number][]>()
  for (const note of notes) byId.set(note['id'], [...(byId.get(note['id']) ?? []), note])
  return found
    .map((row) =>
      toListedExecution(
        row,
        parseStatusRows(byId.get(row['id']) ?? [], 0) ?? { questions: [], tasks: [] },
      ),
    )
    .filter(
      (one) =>
        (name === undefined || one.name === name) && (state === undefined || one.state === state),
    )
    .slice(0, limit)
}

function toListedExecution(
  row: { readonly [column: string]: unknown },
  standing: RemoteExecutionStatus,
): Execution {
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
      ...toStateFields(standing),
      ...(row['status'] === 'pending' || row['status'] === 'ready' || row['status'] === 'scheduled'
        ? { state: 'queued' as const }
        : {}),
    }
  const ended = typeof row['completed_at'] === 'string' ? { ended: row['completed_at'] } : {}
  if (end) return { ...base, ...ended, state: end, ...compact({ error }) }
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

function toStateFields({
  info,
  questions,
}: RemoteExecutionStatus): Pick<Execution, 'state' | 'questions'> {
  if (questions.length > 0) return { state: 'waiting_ai', questions }
  return { state: info ? 'running' : 'queued' }
}

function parseStatusRows(
  rows: readonly { readonly [column: string]: unknown }[],
  since: number,
): RemoteExecutionStatus | undefined {
  if (rows.length === 0) return undefined
  const notes = new Map(
    rows.map((row) => [String(row['key']), parseOptionalJson(row['value_utf8'])]),
  )
  const tasks = [...notes]
    .filter(([key, value]) => key.startsWith(STATE_KEYS.task) && isObject(value))
    .map(([, value]) => value as TaskRecord)
  const asked = [...notes]
    .filter(([key]) => key.startsWith(QUESTION_KEY_PREFIX))
    .map(([, value]) => value as StoredQuestion)
  const [info, end, error] = [
    notes.get(STATE_KEYS.info),
    notes.get(STATE_KEYS.end),
    notes.get(STATE_KEYS.error),
  ]
  return compact({
    info: info !== undefined ? (info as NonNullable<RemoteExecutionStatus['info']>) : undefined,
    end: end !== undefined ? (end as NonNullable<RemoteExecutionStatus['end']>) : undefined,
    error: error !== undefined ? (error as NonNullable<RemoteExecutionStatus['error']>) : undefined,
    questions: [
      ...((notes.get(STATE_KEYS.questions) ?? []) as RemoteExecutionStatus['questions']),
      ...asked.filter(({ isAnswered }) => !isAnswered).map(({ question }) => question),
    ],
    tasks: tasks
      .filter(({ change }) => change > since)
      .sort((left, right) => left.change - right.change),
  })
}

function parseOptionalJson(text: unknown): unknown {
  return typeof text === 'string' ? (JSON.parse(text) as unknown) : undefined
}

function toExecutionError({
  code,
  message,
  retryable,
}: ToolError): NonNullable<Execution['error']> {
  return { code, message, retryable }
}
