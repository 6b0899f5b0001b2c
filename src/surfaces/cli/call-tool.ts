import { loadWriter } from '../../contract/dialects/load.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { ServedCallOptions } from '../../call/options.ts'
import { invoke } from '../../call/pipeline.ts'
import { dialectContext } from './dialect-context.ts'
import { listenToEvents } from './events.ts'
import { finishCall } from './finish-call.ts'
import type { ShapeOptions } from './output/shape.ts'
import { failedOutcome } from './print-outcome.ts'
import { connectResponders } from './responders.ts'
import type { ToolCall } from './tool-call.ts'

/** Runs one tool from the command line and prints its outcome; gives the exit status. */
export async function callTool(call: ToolCall): Promise<number> {
  const { set, entry, globals, presentation, io, input, observer } = call
  const writer = await loadWriter(presentation.dialect)
  const context = dialectContext(io, entry.name, entry.definition.hooks.redact ? undefined : input)
  const streamed = globals.stream === true || writer.alwaysStreams
  const events = await listenToEvents({
    io,
    presentation,
    context,
    streamed,
    session: globals.session === true,
    quiet: globals.quiet === true,
    verbose: globals.verbose,
    label: entry.path.join(' '),
  })
  const responders = connectResponders({
    call,
    context,
    send: events.sendLine,
    whileAsking: events.whileAsking,
  })

  let outcome: Outcome
  try {
    const options: ServedCallOptions = {
      cancellation: call.ending,
      ...(call.timeout !== undefined && { timeout: call.timeout }),
      ...(globals.dryRun && { dryRun: true }),
      confirm: globals.yes === true ? true : responders.confirm,
      ...(responders.answer && { answer: responders.answer }),
      ...(responders.sample && { sample: responders.sample }),
      ...(call.caller && { caller: call.caller.name }),
      ...(globals.idempotencyKey !== undefined && { idempotencyKey: globals.idempotencyKey }),
      onEvent: !observer
        ? events.onEvent
        : (event) => {
            if (event.type !== 'tool_invoked') observer.onEvent(event)
            return events.onEvent(event)
          },
      cwd: io.cwd,
      env: io.env,
      secrets: call.secrets,
      verbose: globals.verbose,
    }
    const shape = {
      fields: globals.fields,
      filter: globals.filter.length > 0 ? globals.filter : undefined,
      limit: globals.limit,
      cursor: globals.cursor,
      callKey: `${entry.name} ${JSON.stringify(input)}`,
    }
    const shaping = hasShape(shape) ? await import('./output/shape.ts') : undefined
    shaping?.checkShapeOptions(shape)
    await events.start()
    const finished = await invoke(
      entry.definition,
      input,
      options,
      entry.identity ?? { toolset: set.name, version: set.version },
    )
    const origin = finished.error?.cause
    if (globals.verbose > 0 && origin instanceof Error && origin.stack !== undefined)
      await events.onEvent({ type: 'log', level: 'debug', message: origin.stack })
    outcome = await fitBudget(
      shaping?.shapeOutcome(finished.outcome, shape) ?? finished.outcome,
      globals.maxTokens,
    )
  } catch (error) {
    if (!ToolError.is(error)) throw error
    outcome = failedOutcome(error.toObject(), `${set.name}.${entry.name}`, set.version)
  }
  await events.stop()
  return finishCall(outcome, call, context, streamed)
}

async function fitBudget(outcome: Outcome, maxTokens: number | undefined): Promise<Outcome> {
  if (maxTokens === undefined) return outcome
  const [{ applyTokenBudget }, { createSpill }] = await Promise.all([
    import('./output/token-budget.ts'),
    import('./output/spill.ts'),
  ])
  return applyTokenBudget(outcome, maxTokens, createSpill())
}

function hasShape({ fields, filter, limit, cursor }: ShapeOptions): boolean {
  return [fields, filter, limit, cursor].some((option) => option !== undefined)
}
