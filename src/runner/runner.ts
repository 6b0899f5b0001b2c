import { availableParallelism } from 'node:os'
import { ToolError } from '../contract/tool-error.ts'
import { host } from '../call/host.ts'
import type { Entry } from '../registry/entry.ts'
import { createRun } from './folder/create-run.ts'
import { findRunsFolder } from './folder/find-runs-folder.ts'
import { newRunId } from './folder/run-id.ts'
import { givenOf } from './given-of.ts'
import { folderChannel } from './interactions/channels/folder.ts'
import { hostChannel } from './interactions/channels/host.ts'
import { readLog } from './log/read-log.ts'
import { makeRequest } from './make-request.ts'
import { performRun } from './perform-run.ts'
import { createPool } from './pool.ts'
import type { RunHandle, Runner, RunnerOptions } from './runner-type.ts'
import { readSummary } from './summary/read-summary.ts'

const FOR_EACH_CORE = 4

/** Opens a runner over a registry. */
export function openRunner({
  registry,
  folder,
  concurrency = FOR_EACH_CORE * availableParallelism(),
  answer,
  cwd = host.cwd(),
  env = host.env(),
}: RunnerOptions): Runner {
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new ToolError(
      'CONFIG',
      `the concurrency of a runner is a whole number from 1 on; it is ${concurrency}`,
    )
  const pool = createPool(concurrency)
  const root = folder ?? findRunsFolder(cwd)
  const live = new Map<
    string,
    { readonly stop: AbortController; readonly done: Promise<unknown> }
  >()
  let closed = false

  return {
    async start(tool, given, options = {}) {
      if (closed) throw new ToolError('CANCELLED', 'the runner is closed')
      const entry = registry.find(tool) as Entry | undefined
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
      const request = await makeRequest(
        newRunId(),
        entry,
        program,
        givenOf(given, program?.call),
        options,
        { cwd, env },
      )
      // Closed while it was prepared: nothing of it exists yet.
      if (closed) throw new ToolError('CANCELLED', 'the runner is closed')
      const paths = createRun(root, request)
      const stop = new AbortController()
      let over = false
      const channels = [...(answer ? [hostChannel(answer)] : []), folderChannel(paths.answers)]
      const done = pool
        .run(() => performRun(paths, request, { env, registry, channels, signal: stop.signal }))
        .then(() => readSummary(paths, request))
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
        events: () => readLog(paths.events, { follow: true, isComplete: () => over }),
      } satisfies RunHandle
    },
    async close() {
      closed = true
      for (const { stop } of live.values()) stop.abort('the runner was closed')
      await Promise.allSettled([...live.values()].map(({ done }) => done))
    },
  }
}
