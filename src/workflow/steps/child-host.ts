import { isObject } from '../../contract/json.ts'
import type { RunEvent } from '../../contract/run-state.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { AnswerChannel } from '../../runner/interactions/broker.ts'
import { folderChannel } from '../../runner/interactions/channels/folder.ts'
import type { RunHost } from '../../runner/run-host.ts'
import type { StepCall, StepHost } from './step-host.ts'
import { forwardedId, keyOfTry } from './step-names.ts'
import type { Task } from './task.ts'

/** What stands around the run of a step: its workflow asks for it, and tells of it. */
export function childHost(
  host: StepHost,
  call: StepCall,
  { answers }: RunPaths,
  task: Task,
  signal: AbortSignal,
): RunHost {
  return {
    env: host.env,
    about: { workflow_attempt: call.attempt },
    signal,
    // Whoever answers the run itself is heard, but nobody waits for that alone.
    channels: [
      ...(host.ask ? [workflowChannel(host.ask, call)] : []),
      { ...folderChannel(answers), passive: host.ask !== undefined },
    ],
    onWritten: (lines) => hearAll(lines, task),
  }
}

function workflowChannel(ask: NonNullable<StepHost['ask']>, call: StepCall): AnswerChannel {
  return {
    name: 'the workflow',
    answer: (question, signal, problem) => {
      const task = keyOfTry(call)
      return ask(
        {
          question: {
            ...question,
            id: forwardedId(task, question.id),
            ...(problem !== undefined && { problem }),
          },
          task,
          original: question.id,
        },
        signal,
      )
    },
  }
}

async function hearAll(lines: string, task: Task): Promise<void> {
  for (const line of lines.trimEnd().split('\n')) {
    const event: unknown = JSON.parse(line)
    if (isObject(event)) await task.heard(event as unknown as RunEvent)
  }
}
