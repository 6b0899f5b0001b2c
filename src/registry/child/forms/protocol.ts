import { checkArguments } from '../argv/check-arguments.ts'
import { flagArguments } from '../argv/flag-arguments.ts'
import { failureOfEnd } from '../end-failure.ts'
import { childEnvironment } from '../environment.ts'
import { GRACE, tracked } from '../run-once.ts'
import { sideChannel } from '../side-channel.ts'
import type { ChildRequest, Form } from './form.ts'

const MOST_OUTPUT = 256 * 1024 * 1024
const LONGEST_LINE = 1024 * 1024

/** Flags in, the JSON lines of the run protocol out: events, questions, and one end. */
export const protocol: Form = (request) => tracked(request.services.running, runProtocol(request))

async function runProtocol({ call, input, ctx, held }: ChildRequest): Promise<unknown> {
  const args = flagArguments(input)
  checkArguments(args, 'Give the tool a file with the data instead')
  const [{ openChild }, { makeRunFolder }, { listenToRun }, { answerQuestion }] = await Promise.all(
    [
      import('../../../process/open-child.ts'),
      import('../protocol/run-folder.ts'),
      import('../protocol/listener.ts'),
      import('../protocol/answer-question.ts'),
    ],
  )
  const folder = held ? undefined : await makeRunFolder(ctx)
  try {
    const side = sideChannel(ctx)
    const listener = listenToRun(ctx, (question) => answerQuestion(question, ctx, child))
    const [program, ...fixed] = call.command
    const child = await openChild({
      command: [program, ...fixed, ...args],
      grace: GRACE,
      maxStdout: MOST_OUTPUT,
      maxLine: LONGEST_LINE,
      ...(held ?? {
        cwd: call.cwd ?? ctx.cwd,
        env: { ...childEnvironment(call, ctx), ...folder!.env },
      }),
      signal: ctx.signal,
      onLine: listener.hear,
      onErrorLine: side.hear,
    })
    const end = await child.end
    const problem = failureOfEnd(end, ctx, side.tail())
    if (problem) throw problem
    return await listener.conclude({
      ...end,
      stderr: side.tail(),
      ...(call.exitCodes && { exitCodes: call.exitCodes }),
    })
  } finally {
    await folder?.remove()
  }
}
