import type { Answerer, Interaction, SampleRequest, Sampler } from '../../contract/interaction.ts'
import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { LineReader } from './lines.ts'
import { oneAtATime } from './one-at-a-time.ts'

type Line = { readonly [field: string]: unknown }

/** A caller that answers by JSON lines: requests go out on stdout, answers come in on stdin. */
export type LineDialogue = { readonly answer: Answerer; readonly sample: Sampler }

export type LineChannel = {
  readonly lines: LineReader
  /** Prints one line. */
  send(line: object): Promise<void>
  /** The line that asks a question in the dialect of this call. */
  question(question: Interaction): object | undefined
  /** Told before each question. */
  asking(question: Interaction): void
}

/** Talks to the caller one question at a time. Lines that answer something else are kept for whoever wants them. */
export function lineDialogue(channel: LineChannel): LineDialogue {
  const inTurn = oneAtATime()
  return {
    answer: (question, signal) =>
      inTurn(signal, async () => {
        await ask(channel, question)
        const line = await waitFor(
          channel,
          signal,
          question.dialogue ? isSessionAnswer : (candidate) => isAnswerTo(candidate, question),
        )
        return line === undefined || question.dialogue ? line : readAnswer(line)
      }),
    sample: (request, signal) =>
      inTurn(signal, async () => {
        await ask(channel, toInteraction(request))
        const line = await waitFor(
          channel,
          signal,
          (candidate) => candidate['type'] === 'sample_response' && candidate['id'] === request.id,
        )
        if (line === undefined)
          throw new ToolError('ANSWER_REQUIRED', 'stdin ended before the completion came', {
            details: { interaction: { kind: 'sample' } },
            suggestion: `Answer on stdin with {"type":"sample_response","id":"${request.id}","content":"…"}`,
          })
        return readCompletion(line)
      }),
  }
}

/** The text of a completion, or the failure that the other side reports. */
export function readCompletion(answer: Line): string {
  if (typeof answer['content'] === 'string') return answer['content']
  const error = answer['error']
  const words =
    typeof error === 'string'
      ? error
      : isObject(error) && typeof error['message'] === 'string'
        ? error['message']
        : 'the answer has no content'
  throw new ToolError('DEPENDENCY', `the completion failed: ${words}`)
}

async function ask(channel: LineChannel, question: Interaction): Promise<void> {
  channel.asking(question)
  // Of a session the event has asked already.
  const line = question.dialogue ? undefined : channel.question(question)
  if (line) await channel.send(line)
}

async function waitFor(
  { lines, send }: LineChannel,
  signal: AbortSignal,
  wanted: (line: Line) => boolean,
): Promise<Line | undefined> {
  const kept: string[] = []
  try {
    for (;;) {
      const text = await lines.next(signal)
      if (text === undefined) return undefined
      if (text.trim() === '') continue
      const line = parseLine(text)
      if (line instanceof ToolError) await send({ type: 'error', error: line.toObject() })
      else if (wanted(line)) return line
      else kept.push(text)
    }
  } finally {
    lines.putBack(kept)
  }
}

function parseLine(text: string): Line | ToolError {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch {
    /* told below, like JSON of another kind */
  }
  return new ToolError('INVALID_INPUT', 'each line on stdin must be one JSON object', {
    details: { line: text.slice(0, 200) },
    suggestion: 'Send the answer again as one JSON object on one line',
  })
}

function isSessionAnswer(line: Line): boolean {
  return line['type'] !== 'sample_response'
}

function isAnswerTo(line: Line, { id }: Interaction): boolean {
  if (line['type'] === 'sample_response') return false
  return line['id'] === id || (line['id'] === undefined && ('value' in line || 'answer' in line))
}

function readAnswer(line: Line): unknown {
  return 'value' in line ? line['value'] : line['answer']
}

function toInteraction({ id, prompt, key, ...sampling }: SampleRequest): Interaction {
  return { id, kind: 'sample', prompt, sampling, ...(key !== undefined && { key }) }
}
