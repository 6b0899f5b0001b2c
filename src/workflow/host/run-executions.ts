import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import type { Answerer } from '../../contract/interaction.ts'
import type { JsonObject } from '../../contract/json.ts'
import { isOver } from '../../contract/run-state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { Registry } from '../../registry/registry-type.ts'
import { createRun } from '../../runner/folder/create-run.ts'
import { listRuns } from '../../runner/folder/list-runs.ts'
import { isLive } from '../../runner/folder/lock.ts'
import { readRequest } from '../../runner/folder/open-run.ts'
import { recover } from '../../runner/folder/recover.ts'
import { runPaths } from '../../runner/folder/run-paths.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import { hostChannel } from '../../runner/interactions/channels/host.ts'
import { folderChannel } from '../../runner/interactions/channels/folder.ts'
import { giveAnswer } from '../../runner/interactions/give-answer.ts'
import { readBatches } from '../../runner/log/read-log.ts'
import { performRun } from '../../runner/perform-run.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import { glance } from '../../runner/summary/read-summary.ts'
import type { Workflow } from '../definition/workflow-type.ts'
import type { Execution, ExecutionHandle } from '../engines/engine-type.ts'
import { makeWorkflowRequest } from '../run/make-workflow-request.ts'
import { workflowSubject } from '../run/workflow-subject.ts'
import { readExecution } from './read-execution.ts'

export type RunExecutionsOptions = {
  readonly root: string
  readonly registry: Registry
  readonly answer?: Answerer | undefined
  readonly cwd: string
  readonly env: { readonly [name: string]: string | undefined }
}

type Live = { readonly stop: AbortController; readonly done: Promise<Execution> }

/** Executions that are runs on record: those that ask, wait or start programs. */
export class RunExecutions {
  readonly #options: RunExecutionsOptions
  readonly #live = new Map<string, Live>()

  constructor(options: RunExecutionsOptions) {
    this.#options = options
  }

  has(id: string): boolean {
    return existsSync(this.#paths(id).request)
  }

  start(workflow: Workflow, input: JsonObject, id: string): ExecutionHandle {
    const { root, cwd, env } = this.#options
    const request = makeWorkflowRequest(id, workflow, input, { cwd, env })
    return this.#perform(createRun(root, request), request)
  }

  /** Waits for one that was started already, whoever performs it; where nobody does, it goes on here. */
  join(id: string): ExecutionHandle {
    const mine = this.#live.get(id)
    if (mine) return { id, done: mine.done }
    const paths = this.#paths(id)
    return isLive(paths) ? { id, done: follow(paths) } : this.#goOn(paths)
  }

  async answer(id: string, question: string, value: unknown): Promise<void> {
    const paths = this.#paths(id)
    const { questions = [], state } = await readExecution(paths)
    const meant = questions.find((one) => [one.id, one.key, one.action].includes(question))
    if (!meant)
      throw new ToolError(
        isOver(state) ? 'PRECONDITION' : 'NOT_FOUND',
        isOver(state) ? `${id} is over: it is ${state}` : `${id} does not ask '${question}'`,
        { field: 'question' },
      )
    await giveAnswer(paths, meant, value)
  }

  async cancel(id: string, reason: string): Promise<void> {
    const mine = this.#live.get(id)
    const paths = this.#paths(id)
    if (mine) mine.stop.abort(reason)
    else if (isLive(paths)) await writeFile(paths.cancel, '', { mode: 0o600 })
    else {
      const { state, error } = await readExecution(paths)
      const isLeft = !isOver(state) || error?.code === 'INTERRUPTED'
      throw new ToolError(
        'PRECONDITION',
        isLeft ? `nobody performs ${id}: its process died` : `${id} is over: it is ${state}`,
        isLeft ? { suggestion: `toolable cancel ${id}, or resume it first` } : {},
      )
    }
  }

  read(id: string): Promise<Execution> {
    return readExecution(this.#paths(id))
  }

  /** Goes on with those that a host like this one started, and whose process died. */
  async resume(): Promise<readonly string[]> {
    const { root } = this.#options
    await recover(root)
    const ids: string[] = []
    for (const { id, paths } of listRuns(root).reverse()) {
      if (this.#live.has(id) || !(await isLeftByUs(paths))) continue
      this.#goOn(paths)
      ids.push(id)
    }
    return ids
  }

  async close(): Promise<void> {
    for (const { stop } of this.#live.values())
      stop.abort(new ToolError('INTERRUPTED', 'the host of workflows was closed'))
    await Promise.allSettled([...this.#live.values()].map(({ done }) => done))
  }

  #paths(id: string): RunPaths {
    return runPaths(this.#options.root, id)
  }

  #goOn(paths: RunPaths): ExecutionHandle {
    return this.#perform(paths, readRequest(paths), 'resume')
  }

  #perform(paths: RunPaths, request: RunRequest, resumedBy?: 'resume'): ExecutionHandle {
    const { registry, answer, env } = this.#options
    const stop = new AbortController()
    const done = performRun(paths, request, {
      env,
      start: workflowSubject({ paths, request, registry, env, now: Date.now }),
      channels: [...(answer ? [hostChannel(answer)] : []), folderChannel(paths.answers)],
      signal: stop.signal,
      ...(resumedBy && { resumedBy }),
    })
      .then(() => readExecution(paths))
      .finally(() => this.#live.delete(paths.id))
    // Whoever does not look at it is not ended by it.
    done.catch(() => undefined)
    this.#live.set(paths.id, { stop, done })
    return { id: paths.id, done }
  }
}

// Those of the command line have a way back of their own.
async function isLeftByUs(paths: RunPaths): Promise<boolean> {
  if (isLive(paths)) return false
  try {
    const request = readRequest(paths)
    if (request.command !== 'workflow' || request.surroundings || request.parent) return false
    const { state, error } = await glance(paths, request)
    return !isOver(state) || error?.code === 'E_INTERRUPTED'
  } catch {
    return false
  }
}

async function follow(paths: RunPaths): Promise<Execution> {
  for await (const _events of readBatches(paths.events, {
    follow: true,
    isComplete: () => !isLive(paths),
  }));
  return readExecution(paths)
}
