/**
 * Asks a person at the terminal.
 */

import { parseTypedAnswer } from '../core/questions.ts'
import type { Answerer, Interaction } from '../protocol/events.ts'
import type { Screen, TextSink } from '../protocol/io.ts'
import { cleanText } from './formats/terminal-text.ts'
import { getDisplayWidth } from './formats/text-layout.ts'
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

// A person at a terminal sees the choices with their numbers, and is told at once what does not
// answer.
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
  const shown =
    byDefault === undefined
      ? ''
      : `(${cleanText(typeof byDefault === 'string' ? byDefault : (JSON.stringify(byDefault) ?? ''))}) `
  if (kind === 'confirm')
    return `${clean} ${byDefault === undefined ? '[y/n]' : byDefault === true ? '[Y/n]' : '[y/N]'} `
  if (kind === 'decision') return `${clean}\n${formatChoices(options)}${shown}> `
  return `${clean} ${shown}`
}

// What is said about each of them stands in a column.
function formatChoices(options: NonNullable<Interaction['options']>): string {
  const rows = options.map(
    ({ value, label, description }, index) =>
      [
        `  ${index + 1}) ${cleanText(label ?? value)}`,
        description ? cleanText(description) : '',
      ] as const,
  )
  const widest = Math.max(
    0,
    ...rows.map(([name, description]) => (description === '' ? 0 : getDisplayWidth(name))),
  )
  return rows
    .map(
      ([name, description]) =>
        `${name}${description === '' ? '' : `${' '.repeat(Math.max(0, widest - getDisplayWidth(name)))}  ${description}`}\n`,
    )
    .join('')
}
