/**
 * Questions and completions answered by the caller: as JSON lines on stdin, or by an HTTP endpoint.
 */

import type { Answerer, Interaction, Sampler, SampleRequest } from '../protocol/events.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact, isObject } from '../util/values.ts'
import { createAbortableQueue } from './input.ts'
import type { StdinLineReader } from './input.ts'

type DialogueLine = { readonly [field: string]: unknown }

/** A caller that answers by JSON lines: requests go out on stdout, answers come in on stdin. */
export type LineDialogue = { readonly answer: Answerer; readonly sample: Sampler }

export type LineChannel = {
  readonly lines: StdinLineReader
  /** Prints one line. */
  send(line: object): Promise<void>
  /** The line that asks a question in the dialect of this call. */
  question(question: Interaction): object | undefined
  /** Told before each question. */
  asking(question: Interaction): void
}

/**
 * Talks to the caller one question at a time. Lines that answer something else are kept for whoever
 * wants them.
 */
export function createLineDialogue(channel: LineChannel): LineDialogue {
  const inTurn = createAbortableQueue()
  return {
    answer: (question, signal) =>
      inTurn(signal, async () => {
        await sendQuestion(channel, question)
        const line = await waitForLine(
          channel,
          signal,
          question.dialogue ? isSessionAnswer : (candidate) => isAnswerTo(candidate, question),
        )
        return line === undefined || question.dialogue ? line : getAnswer(line)
      }),
    sample: (request, signal) =>
      inTurn(signal, async () => {
        await sendQuestion(channel, toSampleQuestion(request))
        const line = await waitForLine(
          channel,
          signal,
          (candidate) => candidate['type'] === 'sample_response' && candidate['id'] === request.id,
        )
        if (line === undefined)
          throw new ToolError('ANSWER_REQUIRED', 'stdin ended before the completion came', {
            details: { interaction: { kind: 'sample' } },
            suggestion: `Answer on stdin with {"type":"sample_response","id":"${request.id}","content":"…"}`,
          })
        return parseCompletion(line)
      }),
  }
}

/** The text of a completion, or the failure that the other side reports. */
export function parseCompletion(answer: DialogueLine): string {
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

async function sendQuestion(channel: LineChannel, question: Interaction): Promise<void> {
  channel.asking(question)
  // Of a session the event has asked already.
  const line = question.dialogue ? undefined : channel.question(question)
  if (line) await channel.send(line)
}

async function waitForLine(
  { lines, send }: LineChannel,
  signal: AbortSignal,
  wanted: (line: DialogueLine) => boolean,
): Promise<DialogueLine | undefined> {
  const kept: string[] = []
  try {
    for (;;) {
      const text = await lines.next(signal)
      if (text === undefined) return undefined
      if (text.trim() === '') continue
      const line = parseDialogueLine(text)
      if (line instanceof ToolError) await send({ type: 'error', error: line.toObject() })
      else if (wanted(line)) return line
      else kept.push(text)
    }
  } finally {
    lines.putBack(kept)
  }
}

function parseDialogueLine(text: string): DialogueLine | ToolError {
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

function isSessionAnswer(line: DialogueLine): boolean {
  return line['type'] !== 'sample_response'
}

function isAnswerTo(line: DialogueLine, { id }: Interaction): boolean {
  if (line['type'] === 'sample_response') return false
  return line['id'] === id || (line['id'] === undefined && ('value' in line || 'answer' in line))
}

function getAnswer(line: DialogueLine): unknown {
  return 'value' in line ? line['value'] : line['answer']
}

function toSampleQuestion({ id, prompt, key, ...sampling }: SampleRequest): Interaction {
  return compact({ id, kind: 'sample', prompt, sampling, key })
}

/** Completes prompts by POST to a URL; the answer is JSON with `content`. */
export function createHttpSampler(url: string): Sampler {
  return async (request, signal) => {
    const response = await postJson(url, { type: 'sample_request', ...request }, signal)
    if (response.status === 429)
      throw new ToolError('RATE_LIMIT', `the sample endpoint ${url} answered 429`)
    if (!response.ok)
      throw new ToolError(
        'DEPENDENCY',
        `the sample endpoint ${url} answered ${response.status} ${response.statusText}`.trim(),
      )
    const answer: unknown = await response.json().catch(() => undefined)
    if (!isObject(answer))
      throw new ToolError(
        'DEPENDENCY',
        `the sample endpoint ${url} did not answer with a JSON object`,
      )
    return parseCompletion(answer)
  }
}

async function postJson(url: string, body: object, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
      signal,
    })
  } catch (error) {
    if (signal.aborted) throw signal.reason
    const { message, cause } = error as Error & { cause?: { code?: string; message?: string } }
    throw new ToolError(
      'DEPENDENCY',
      `the sample endpoint ${url} cannot be reached: ${cause?.code ?? cause?.message ?? message}`,
      { cause: error },
    )
  }
}
