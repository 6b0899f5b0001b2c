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
import type { RunHandle, Runner, RunnerOptions } from './request.ts'
import { createRunRequest, toRunArguments } from './request.ts'
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
  const runWhenFree = createWorkPool(concurrency)
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
      // Throws, and suggests a similar name.
      if (!entry)
        throw (
          await registry.describe(tool),
          new ToolError('NOT_FOUND', `there is no tool '${tool}'`)
        )
      await registry.prepare?.()
      const program = await entry.found.program?.()
      // A run starts the program directly and would bypass the guards.
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
      // Closed in the meantime; nothing has been created yet.
      if (closed) throw new ToolError('CANCELLED', 'the runner is closed')
      const paths = createRun(root, request)
      const stop = new AbortController()
      let over = false
      const channels = [
        ...(answer ? [createHostChannel(answer)] : []),
        createFolderChannel(paths.answers),
      ]
      const done = runWhenFree(() =>
        performRun(paths, request, { env, registry, channels, signal: stop.signal }),
      )
        .then(() => readRunSummary(paths, request))
        .finally(() => {
          over = true
          live.delete(paths.id)
        })
      // A caller that ignores the promise must not crash.
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

/** Limits how much work is done at the same time; the rest waits in order. */
function createWorkPool(size: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const queue: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running < size) running += 1
    else await new Promise<void>((resolve) => queue.push(resolve))
    try {
      return await work()
    } finally {
      // The next one takes over the place, so that no other can come between.
      const next = queue.shift()
      if (next) next()
      else running -= 1
    }
  }
}
