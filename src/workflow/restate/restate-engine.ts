/**
 * The engine for many machines: a Restate server keeps the journal, workers execute workflows and
 * tools.
 *
 * client.ts talks to the server, wire.ts has the service names and messages, remote-run.ts follows
 * a remote execution as a run here.
 * The worker side is worker-services.ts (handlers), worker-context.ts (the durable context) and
 * worker.ts (endpoint and running tools).
 */

import { ToolError } from '../../protocol/tool-error.ts'
import type { HttpResult } from '../../registry/http.ts'
import { createRunId } from '../../runner/run-paths.ts'
import { compact, isObject } from '../../util/values.ts'
import type {
  Execution,
  ExecutionFilter,
  ExecutionHandle,
  WorkflowEngine,
  WorkflowQuestion,
} from '../engine.ts'
import { matchesFilter, requireRunId } from '../engine.ts'
import { hashWorkflow } from '../request.ts'
import type { RestateConnection, RestateRequest, RestateServer } from './client.ts'
import {
  askOutput,
  createAdminServer,
  queryAdmin,
  REQUEST_TIMEOUT_MS,
  sendRestateRequest,
  signalExecution,
  toRestateError,
  waitForRemoteEnd,
  withRetries,
} from './client.ts'
import type {
  RemoteExecutionStatus,
  RestateRunRequest,
  RestateRunResult,
  StoredQuestion,
  TaskRecord,
} from './wire.ts'
import { QUESTION_KEY_PREFIX, QUESTION_SERVICE, STATE_KEYS, WORKFLOW_SERVICE } from './wire.ts'

type RestateEngineOptions = {
  /** The ingress address: `http://127.0.0.1:8080`. */
  readonly ingress: string
  /**
   * The admin address: `http://127.0.0.1:9070`. Lists need it, and it knows the state while no
   * worker is connected.
   */
  readonly admin?: string
  readonly now: () => number
  /**
   * Seconds that a server may be unreachable before waiting for an execution fails; default 600.
   */
  readonly patience?: number
}

/** The engine for many machines. */
export type RestateEngine = WorkflowEngine & {
  /**
   * The state of an execution, with the tasks that changed after the `since`th change; undefined if
   * there is none.
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
    const done = waitForRemoteEnd(checkId(id), { ...place, patience, now }).then((answer) =>
      getRemoteExecution(id, place, answer),
    ) as Promise<Execution>
    // Not everyone who starts an execution waits for its end.
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
        path: `/${WORKFLOW_SERVICE}/${checkId(id)}/run/send`,
        body,
        timeout: REQUEST_TIMEOUT_MS,
      })
      if (answer.status >= 300)
        throw toRestateError(answer, ingress, `the workflow '${definition.name}' was not started`)
      return attach(id)
    },
    answer: async (id, question, value, by) =>
      signalExecution(place, checkId(id), 'answer', { question, value, ...compact({ by }) }),
    cancel: async (id, reason) =>
      signalExecution(place, checkId(id), 'cancel', compact({ reason })),
    get: async (id) => getRemoteExecution(checkId(id), place),
    standing: async (id, since) => getRemoteStatus(checkId(id), place, since),
    list: (filter = {}) => listRemoteExecutions(filter, place),
    async close() {
      closing.abort(new ToolError('CANCELLED', 'the engine was closed'))
    },
  }
}

// It becomes part of a URL and of an SQL query.
function checkId(id: string): string {
  return requireRunId(id, 'is not')
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
const UNKNOWN_STATUS: RemoteExecutionStatus = { questions: [], tasks: [] }

/** The state of an execution; `ended` is its result if that is known already. */
async function getRemoteExecution(
  id: string,
  place: RestateConnection,
  ended?: HttpResult,
): Promise<Execution | undefined> {
  const answer = ended ?? (await askOutput(place, id))
  if (answer.status === 404) return undefined
  if (answer.status === 200) return toFinishedExecution(id, answer.document as RestateRunResult)
  const standing = (await getRemoteStatus(id, place).catch(() => undefined)) ?? UNKNOWN_STATUS
  const { name = '', hash = '', created = '' } = standing.info ?? {}
  const head = { id, name, hash, created }
  if (answer.status === 470) return { ...head, ...toStateFields(standing) }
  const { code, message, retryable } = toRestateError(answer, place.ingress, `${id} failed`)
  return { ...head, state: 'failed', error: { code, message, retryable } }
}

function toFinishedExecution(id: string, { state, settled, info }: RestateRunResult): Execution {
  const head = { id, ...info, state }
  return settled.ok ? { ...head, result: settled.value } : { ...head, error: settled.error }
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
  filter: ExecutionFilter,
  { admin, signal }: RestateConnection,
): Promise<readonly Execution[]> {
  if (!admin)
    throw new ToolError(
      'CONFIG',
      'lists come from the admin interface of the Restate server, and its address is not known',
      { field: 'admin', suggestion: '--admin http://127.0.0.1:9070' },
    )
  const { name, state, limit = 100 } = filter
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
      toListedExecution(row, parseStatusRows(byId.get(row['id']) ?? [], 0) ?? UNKNOWN_STATUS),
    )
    .filter((one) => matchesFilter(one, filter))
    .slice(0, limit)
}

function toListedExecution(
  row: { readonly [column: string]: unknown },
  standing: RemoteExecutionStatus,
): Execution {
  const { info, end, error } = standing
  const { status, created_at, completed_at, completion_failure } = row
  const head = {
    id: String(row['id']),
    name: info?.name ?? '',
    hash: info?.hash ?? '',
    created: info?.created ?? String(created_at),
  }
  if (status !== 'completed') {
    const isQueued = status === 'pending' || status === 'ready' || status === 'scheduled'
    const open = { ...head, ...toStateFields(standing) }
    return isQueued ? { ...open, state: 'queued' } : open
  }
  const ended = typeof completed_at === 'string' ? completed_at : undefined
  if (end) return compact({ ...head, ended, state: end, error })
  const message = String(completion_failure ?? 'the server ended it')
  return compact({
    ...head,
    ended,
    state: 'failed',
    error: { code: 'INTERNAL', message, retryable: false },
  })
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
  const listWithPrefix = (prefix: string): readonly unknown[] =>
    [...notes].filter(([key]) => key.startsWith(prefix)).map(([, value]) => value)
  const tasks = listWithPrefix(STATE_KEYS.task).filter(isObject) as unknown as TaskRecord[]
  const asked = listWithPrefix(QUESTION_KEY_PREFIX) as readonly StoredQuestion[]
  const own = (notes.get(STATE_KEYS.questions) ?? []) as readonly WorkflowQuestion[]
  return compact({
    info: notes.get(STATE_KEYS.info) as RemoteExecutionStatus['info'],
    end: notes.get(STATE_KEYS.end) as RemoteExecutionStatus['end'],
    error: notes.get(STATE_KEYS.error) as RemoteExecutionStatus['error'],
    questions: [
      ...own,
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
