import { ToolError } from '../../../contract/tool-error.ts'
import { isRunId, newRunId } from '../../../runner/folder/run-id.ts'
import { hashWorkflow } from '../../definition/hash-workflow.ts'
import type { Execution, ExecutionHandle, WorkflowEngine } from '../engine-type.ts'
import { adminAt } from './admin.ts'
import { askServer, persistently } from './ask-server.ts'
import type { Asked, Server } from './ask-server.ts'
import { deliver } from './deliver.ts'
import { followToEnd } from './follow.ts'
import { listExecutions, lookUpExecution, lookUpStanding } from './look-up.ts'
import { readRefusal } from './refusal.ts'
import { WORKFLOWS } from './wire.ts'
import type { RunRequest, Standing } from './wire.ts'

export type RestateEngineOptions = {
  /** Where the server takes calls: `http://127.0.0.1:8080`. */
  readonly ingress: string
  /** Where it is administered: `http://127.0.0.1:9070`. Lists need it, and it tells how things stand while no worker is there. */
  readonly admin?: string
  readonly now: () => number
  /** Seconds that a server may be away before whoever waits for an execution gives up; default 600. */
  readonly patience?: number
}

/** The engine for many machines, and what those who look on besides want of it. */
export type RestateEngine = WorkflowEngine & {
  /** How an execution stands, with the tasks that changed after the `since`th change; undefined where there is none. */
  standing(id: string, since?: number): Promise<Standing | undefined>
  /** An execution that was started before; its end is waited for from now on. */
  attach(id: string): ExecutionHandle
}

/** Executes workflows by a Restate server and its workers. Every request has an end, and what may pass by itself is tried again. */
export function restateEngine({
  ingress: url,
  admin: adminUrl,
  now,
  patience = 600,
}: RestateEngineOptions): RestateEngine {
  const closing = new AbortController()
  const { signal } = closing
  const ingress: Server = {
    url: checkUrl(url, 'ingress'),
    who: 'the Restate server',
    flag: '--ingress',
  }
  const admin = adminUrl === undefined ? undefined : adminAt(checkUrl(adminUrl, 'admin'))
  const ask = (asked: Omit<Asked, 'signal'>) =>
    persistently(() => askServer(ingress, { ...asked, signal }), { signal })
  const place = { ingress, admin, ask, signal }

  const attach = (id: string): ExecutionHandle => {
    const done = followToEnd(checkId(id), { ...place, patience, now }).then((answer) =>
      lookUpExecution(id, place, answer),
    ) as Promise<Execution>
    // Whoever only starts need not look at the end.
    done.catch(() => undefined)
    return { id, done }
  }

  return {
    attach,
    async start(definition, input, { id = newRunId() } = {}) {
      const body: RunRequest = {
        definition,
        hash: hashWorkflow(definition),
        input,
        created: new Date(now()).toISOString(),
      }
      const answer = await ask({
        method: 'POST',
        path: `/${WORKFLOWS}/${checkId(id)}/run/send`,
        body,
        timeout: 30_000,
      })
      if (answer.status >= 300)
        throw readRefusal(answer, ingress, `the workflow '${definition.name}' was not started`)
      return attach(id)
    },
    async answer(id, question, value, by) {
      await deliver(place, checkId(id), 'answer', {
        question,
        value,
        ...(by !== undefined && { by }),
      })
    },
    async cancel(id, reason) {
      await deliver(place, checkId(id), 'cancel', reason === undefined ? {} : { reason })
    },
    get: async (id) => lookUpExecution(checkId(id), place),
    standing: async (id, since) => lookUpStanding(checkId(id), place, since),
    list: (filter) => listExecutions(filter, place),
    async close() {
      closing.abort(new ToolError('CANCELLED', 'the engine was closed'))
    },
  }
}

// It becomes part of an address and of a question in SQL.
function checkId(id: string): string {
  if (!isRunId(id))
    throw new ToolError(
      'INVALID_INPUT',
      `'${String(id).slice(0, 100)}' is not the id of a workflow: ids look like r-0123456789`,
      { field: 'id' },
    )
  return id
}

function checkUrl(text: string, field: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.href.replace(/\/+$/, '')
  throw new ToolError('CONFIG', `'${text.slice(0, 100)}' is not the address of a server`, {
    field,
    suggestion: `--${field} http://127.0.0.1:${field === 'admin' ? 9070 : 8080}`,
  })
}
