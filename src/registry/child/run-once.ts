import { isObject } from '../../contract/json.ts'
import { runChild } from '../../process/run-child.ts'
import type { AnswerRules } from './answer/answer.ts'
import { parseForeign } from './answer/parse-json.ts'
import { readEvent, tellEvent } from './answer/read-event.ts'
import { checkArguments } from './argv/check-arguments.ts'
import { failureOfEnd } from './end-failure.ts'
import { childEnvironment } from './environment.ts'
import type { ChildRequest, Feed } from './forms/form.ts'
import { giveOutcome } from './give-outcome.ts'
import { readAnswer } from './read-answer.ts'
import { sideChannel } from './side-channel.ts'

/** Milliseconds that a cancelled child has to end by itself. */
export const GRACE = 2000

const BY_STDIN =
  "Send less, or let the tool read its input from stdin: 'call: stdin' in its manifest"
const BY_FILE = 'Send less, or put the text into a file and give the tool its path'

/** Runs a child once, from its input to its answer. */
export async function runOnce(
  { call, ctx, services, held }: ChildRequest,
  feed: Feed,
  rules: AnswerRules,
): Promise<unknown> {
  const [program, ...fixed] = call.command
  checkArguments(feed.args, call.form === 'json' || call.form === 'flags' ? BY_STDIN : BY_FILE)
  const side = sideChannel(ctx)
  const stream = feed.streams && hearStream(ctx)
  const end = await tracked(
    services.running,
    runChild({
      command: [program, ...fixed, ...feed.args],
      grace: GRACE,
      ...(held ?? { cwd: call.cwd ?? ctx.cwd, env: childEnvironment(call, ctx) }),
      ...(feed.input !== undefined && { input: feed.input }),
      signal: ctx.signal,
      onErrorLine: side.hear,
      ...(stream && { onLine: stream.hear }),
    }),
  )
  const problem = failureOfEnd(end, ctx, side.tail())
  if (problem) throw problem
  const { outcome, events } = readAnswer(
    {
      stdout: stream ? stream.rest() : end.stdout,
      stderr: side.tail(),
      status: end.status,
      signal: end.signal,
      ...(call.exitCodes && { exitCodes: call.exitCodes }),
    },
    rules,
  )
  for (const event of events) tellEvent(event, ctx)
  return giveOutcome(outcome, ctx)
}

// Events are told as they come; what is left of the output is the answer.
function hearStream(ctx: ChildRequest['ctx']): { hear(line: string): void; rest(): Buffer } {
  const rest: string[] = []
  return {
    hear(line) {
      const document = line.startsWith('{') ? parseForeign(line)?.value : undefined
      const event = isObject(document) ? readEvent(document) : undefined
      if (event) tellEvent(event, ctx)
      else rest.push(line)
    },
    rest: () => Buffer.from(rest.join('\n')),
  }
}

/** Keeps a child in the list of those that are not over. */
export function tracked<End>(
  running: Set<Promise<unknown>> | undefined,
  child: Promise<End>,
): Promise<End> {
  if (!running) return child
  const forget = (): void => void running.delete(entry)
  const entry: Promise<unknown> = child.then(forget, forget)
  running.add(entry)
  return child
}
