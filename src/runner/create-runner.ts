/**
 * The implementation of `runner()`: starts runs of registry tools with limited concurrency.
 */

import { availableParallelism } from 'node:os'
import { host } from '../core/host.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { RegistryEntry } from '../registry/catalog.ts'
import { createFolderChannel, createHostChannel } from './answer-channels.ts'
import { readEvents } from './log-reader.ts'
import { performRun } from './perform-run.ts'
import { createRunRequest, toRunArguments } from './request.ts'
import type { RunHandle, Runner, RunnerOptions } from './request.ts'
import { createRun } from './run-folder.ts'
import { createRunId, findRunsFolder } from './run-paths.ts'
import { readRunSummary } from './summary.ts'

const RUNS_PER_CORE = 4

/** Opens a runner over a registry. */
export function createRunner({
  registry,
  folder,
  concurrency = RUNS_PER_CORE * availableParallelism(),
  answer,
  cwd = host.cwd(),
  env = host.env(),
}: RunnerOptions): Runner {
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new ToolError(
      'CONFIG',
      `the concurrency of a runner is a whole number from 1 on; it is ${concurrency}`,
    )
  const pool = createWorkPool(concurrency)
  const root = folder ?? findRunsFolder(cwd)
  const live = new Map<
    string,
    { readonly stop: AbortController; readonly done: Promise<unknown> }
  >()
  let closed = false

  return {
    async start(tool, given, options = {}) {
      if (closed) throw new ToolError('CANCELLED', 'the runner is closed')
      const entry = registry.find(tool) as RegistryEntry | undefined
      // Fails, and says which was meant.
      if (!entry)
        throw (
          await registry.describe(tool),
          new ToolError('NOT_FOUND', `there is no tool '${tool}'`)
        )
      await registry.prepare?.()
      const program = await entry.found.program?.()
      // A run starts a program itself, past the calls that guards look at.
      if (program && entry.definition.rules?.guards.length)
        throw new ToolError(
          'PRECONDITION',
          `'${entry.id}' has guards, and a run of a program does not ask them`,
          {
            suggestion: `Call it instead: registry.call('${entry.id}', …); or give the runner a registry without guards`,
          },
        )
      const request = await createRunRequest(
        createRunId(),
        entry,
        program,
        toRunArguments(given, program?.call),
        options,
        { cwd, env },
      )
      // Closed while it was prepared: nothing of it exists yet.
      if (closed) throw new ToolError('CANCELLED', 'the runner is closed')
      const paths = createRun(root, request)
      const stop = new AbortController()
      let over = false
      const channels = [
        ...(answer ? [createHostChannel(answer)] : []),
        createFolderChannel(paths.answers),
      ]
      const done = pool
        .run(() => performRun(paths, request, { env, registry, channels, signal: stop.signal }))
        .then(() => readRunSummary(paths, request))
        .finally(() => {
          over = true
          live.delete(paths.id)
        })
      // Whoever does not look at it is not ended by it.
      done.catch(() => undefined)
      live.set(paths.id, { stop, done })
      return {
        id: paths.id,
        folder: paths.folder,
        done,
        cancel: (reason = 'cancelled') => stop.abort(reason),
        events: () => readEvents(paths.events, { follow: true, isComplete: () => over }),
      } satisfies RunHandle
    },
    async close() {
      closed = true
      for (const { stop } of live.values()) stop.abort('the runner was closed')
      await Promise.allSettled([...live.values()].map(({ done }) => done))
    },
  }
}

/**
 * Does work with a bounded number of others at the same time, in the order in which it was asked
 * for.
 */
type WorkPool = {
  /** Resolves or rejects as the work does. What is aborted while it waits is never begun. */
  run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>
  readonly running: number
  readonly waiting: number
}

/** A pool of that many places. */
function createWorkPool(places: number): WorkPool {
  const queue: { begin: () => void }[] = []
  let running = 0

  const leave = (): void => {
    running -= 1
    queue.shift()?.begin()
  }
  const enter = (signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const begin = (): void => {
        signal?.removeEventListener('abort', giveUp)
        running += 1
        resolve()
      }
      const entry = { begin }
      const giveUp = (): void => {
        const index = queue.indexOf(entry)
        if (index < 0) return
        queue.splice(index, 1)
        reject(signal?.reason as Error)
      }
      if (running < places) return begin()
      if (signal?.aborted) return reject(signal.reason as Error)
      signal?.addEventListener('abort', giveUp, { once: true })
      queue.push(entry)
    })

  return {
    async run(work, signal) {
      await enter(signal)
      try {
        return await work()
      } finally {
        leave()
      }
    },
    get running() {
      return running
    },
    get waiting() {
      return queue.length
    },
  }
}
