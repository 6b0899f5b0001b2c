import type { Entry } from '../../registry/entry.ts'
import type { PerformTool, Settled, StepError } from '../engines/engine-type.ts'
import { toolErrorOf } from '../engines/step-error.ts'
import { callInProcess } from './call-in-process.ts'
import { joinWork } from './join-work.ts'
import { findChildWork } from './find-child-work.ts'
import { performChild } from './perform-child.ts'
import { settleThrown } from './step-error.ts'
import type { StepCall, StepHost } from './step-host.ts'

/** Performs the tools of steps: programs and other workflows as runs on record, linked to their workflow; everything else by a call. What is at work under the same key, in this process or another, is joined. Rejects only with ANSWER_REQUIRED, and only where its host wants that. */
export function createPerformTool(host: StepHost): PerformTool {
  return (call, signal) =>
    joinWork(`${host.runsFolder}\0${call.idempotencyKey}`, signal, (together) =>
      perform(host, call, together),
    )
}

async function perform(host: StepHost, call: StepCall, signal: AbortSignal): Promise<Settled> {
  try {
    const entry = await findEntry(host, call.tool)
    const work = await findChildWork(host, call, entry)
    const settled = work
      ? await performChild({ host, call, work, signal })
      : await callInProcess(host, call, entry, signal)
    if (
      settled.ok ||
      settled.error.code !== 'ANSWER_REQUIRED' ||
      !host.leavesUnanswered ||
      signal.aborted
    )
      return settled
    throw new Unanswered(settled.error)
  } catch (error) {
    if (error instanceof Unanswered) throw toolErrorOf(error.error)
    return settleThrown(error)
  }
}

async function findEntry({ registry }: StepHost, tool: string): Promise<Entry> {
  await registry.prepare?.()
  const entry = registry.find(tool) as Entry | undefined
  if (entry) return entry
  // Fails, and says which was meant.
  await registry.describe(tool)
  throw new Error(`there is no tool '${tool}'`)
}

class Unanswered extends Error {
  readonly error: StepError
  constructor(error: StepError) {
    super(error.message)
    this.error = error
  }
}
