import type { Interaction } from '../../contract/interaction.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { inputFromWords } from '../../define/argv/input-from-words.ts'
import type { Entry } from '../../registry/entry.ts'
import type { Settled } from '../engines/engine-type.ts'
import { reasonOf, settleOutcome } from './step-error.ts'
import type { StepCall, StepHost } from './step-host.ts'
import { forwardedId, keyOfTry } from './step-names.ts'

/** Calls a tool that is no program: a function of this process, one of a server. It has no run of its own; what it tells is told as a task. */
export async function callInProcess(
  { registry, cwd, env, tell, ask, remembers = true }: StepHost,
  call: StepCall,
  entry: Entry,
  signal: AbortSignal,
): Promise<Settled> {
  if (call.permissions)
    throw new ToolError(
      'PERMISSION',
      `'${call.tool}' is no program, so that nobody can hold it to the permissions of a step`,
      { suggestion: 'Take the permissions out of the step' },
    )
  const input =
    'input' in call.given
      ? call.given.input
      : inputFromWords((await entry.definition.compiled()).manifest, call.given.args, env)
  const task = keyOfTry(call)
  let events = 0
  let asked = 0
  const answer = (question: Interaction): Promise<unknown> => {
    const original = question.key ?? `${(asked += 1)}`
    return ask!(
      {
        question: {
          ...question,
          id: forwardedId(task, original),
          action: question.key ?? question.kind,
        },
        task,
        original,
      },
      signal,
    ).then((given) => given?.value)
  }
  await tell?.({
    type: 'task_submitted',
    task_id: task,
    payload: call.command === undefined ? { tool: entry.id, input } : { command: call.command },
  })
  await tell?.({ type: 'task_started', task_id: task })
  const settled = settleOutcome(
    await registry.call(entry.id, input, {
      cwd,
      env,
      signal,
      ...(call.timeout !== undefined && { timeout: call.timeout }),
      ...(remembers && { idempotencyKey: call.idempotencyKey }),
      ...(ask && {
        answer,
        sample: async ({ id, prompt, key, ...sampling }) =>
          String(
            await answer({
              id,
              kind: 'sample',
              prompt,
              sampling,
              ...(key !== undefined && { key }),
            }),
          ),
      }),
      onEvent: (event) => {
        if (event.type === 'tool_invoked') return undefined
        events += 1
        return event.type === 'progress'
          ? tell?.({ type: 'task_progress', task_id: task, child_event: event })
          : undefined
      },
    }),
  )
  const ended =
    !settled.ok && signal.aborted ? { ok: false as const, error: reasonOf(signal) } : settled
  await tell?.({
    type: 'task_done',
    task_id: task,
    status: ended.ok ? 'ok' : 'failed',
    child_result: ended.ok ? ended.value : ended.error,
    events_count: events,
  })
  return ended
}
