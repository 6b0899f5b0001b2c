/**
 * How questions of a tool are answered: by a person at the terminal, by the caller as JSON lines on
 * stdin, or, for completions, by an HTTP endpoint. Loaded when a tool asks.
 */

import { parseTypedAnswer } from '../core/questions.ts'
import type { Answerer, Interaction, Sampler, SampleRequest } from '../protocol/events.ts'
import type { Screen, TextSink } from '../protocol/io.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { SerialQueue } from '../util/async.ts'
import { compact, isObject } from '../util/values.ts'
import { cleanText } from './formats/terminal-text.ts'
import { getDisplayWidth, padEnd } from './formats/text-layout.ts'
import type { StdinLineReader } from './input.ts'

/**
 * A person at a terminal who answers questions. Questions go to stderr, so that stdout stays clean;
 * on a `screen` they are put again when the process was stopped meanwhile.
 */
export function createTerminalAnswerer(
  lines: Pick<StdinLineReader, 'next'>,
  stderr: Pick<TextSink, 'write'>,
  screen?: Pick<Screen, 'onStop'>,
): Answerer {
  return async (question, signal) => {
    if (question.problem) stderr.write(`  ${cleanText(question.problem)}\n`)
    for (;;) {
      stderr.write(formatQuestion(question))
      const goneOn = screen?.onStop(
        () => undefined,
        () => stderr.write(formatQuestion(question)),
      )
      const line = await lines.next(signal).finally(goneOn)
      if (line === undefined) {
        stderr.write('\n')
        return undefined
      }
      if (line.trim() === '' && question.default !== undefined) return question.default
      const answer = await checkTypedLine(line.trim(), question)
      if (answer.ok) return answer.value
      stderr.write(`  ${answer.problem}\n`)
    }
  }
}

type TypedAnswer =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string }

// A person sees the choices with their numbers, and gets an immediate reply to a wrong answer.
async function checkTypedLine(text: string, question: Interaction): Promise<TypedAnswer> {
  const value = await parseTypedAnswer(question, text)
  if (question.kind === 'confirm' && typeof value !== 'boolean')
    return { ok: false, problem: 'Please answer y or n.' }
  if (question.kind !== 'decision') return { ok: true, value }
  const { options = [] } = question
  const byNumber = /^\d+$/.test(text) ? options[Number(text) - 1] : undefined
  const chosen = options.find((option) => option.value === value) ?? byNumber
  return chosen
    ? { ok: true, value: chosen.value }
    : { ok: false, problem: `Please choose a number from 1 to ${options.length}.` }
}

function formatQuestion({
  kind,
  prompt,
  options = [],
  dialogue,
  default: byDefault,
}: Interaction): string {
  const clean = cleanText(prompt)
  if (dialogue) return clean
  if (kind === 'confirm') return `${clean} ${formatConfirmChoices(byDefault)} `
  const text = typeof byDefault === 'string' ? byDefault : (JSON.stringify(byDefault) ?? '')
  const shown = byDefault === undefined ? '' : `(${cleanText(text)}) `
  if (kind === 'decision') return `${clean}\n${formatChoices(options)}${shown}> `
  return `${clean} ${shown}`
}

function formatConfirmChoices(byDefault: unknown): string {
  if (byDefault === undefined) return '[y/n]'
  return byDefault === true ? '[Y/n]' : '[y/N]'
}

// The descriptions are aligned in a column.
function formatChoices(options: NonNullable<Interaction['options']>): string {
  const rows = options.map(({ value, label, description }, index) => ({
    name: `  ${index + 1}) ${cleanText(label ?? value)}`,
    description: cleanText(description ?? ''),
  }))
  const widest = Math.max(
    0,
    ...rows.filter((row) => row.description !== '').map((row) => getDisplayWidth(row.name)),
  )
  return rows
    .map(({ name, description }) =>
      description === '' ? `${name}\n` : `${padEnd(name, widest)}  ${description}\n`,
    )
    .join('')
}

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
 * Asks the caller one question at a time. Lines that answer something else are kept for the next
 * reader.
 */
export function createLineDialogue(channel: LineChannel): LineDialogue {
  const queue = new SerialQueue()
  return {
    answer: (question, signal) =>
      queue.run(async () => {
        signal.throwIfAborted()
        await sendQuestion(channel, question)
        const line = await waitForLine(
          channel,
          signal,
          question.dialogue ? isSessionAnswer : (candidate) => isAnswerTo(candidate, question),
        )
        return line === undefined || question.dialogue ? line : getAnswer(line)
      }),
    sample: (request, signal) =>
      queue.run(async () => {
        signal.throwIfAborted()
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
  const words = isObject(error) ? error['message'] : error
  throw new ToolError(
    'DEPENDENCY',
    `the completion failed: ${typeof words === 'string' ? words : 'the answer has no content'}`,
  )
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
    /* reported below, like JSON of another kind */
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
