import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../../contract/json.ts'
import { shorten } from '../../contract/shorten.ts'
import type { GivenAnswer } from './broker.ts'

const LONGEST_NAME = 100
const LONGEST_NOTE = 2000

/** Who answers, and what he says about it. */
export type AnswerWords = Pick<GivenAnswer, 'by' | 'note'>

/** Where the answer to a question lies. */
export function answerFile(folder: string, question: string): string {
  return join(folder, `${question}.json`)
}

/** The text of an answer file. */
export function writeAnswer(value: unknown, { by, note }: AnswerWords): string {
  return `${JSON.stringify({ value, ...(by !== undefined && { by }), ...(note !== undefined && note !== '' && { note }) })}\n`
}

/** Reads an answer file: an object with the answer, or the bare answer. Throws for what is no JSON. */
export function readAnswerText(text: string): GivenAnswer {
  const given: unknown = JSON.parse(text)
  if (!isObject(given) || !Object.hasOwn(given, 'value')) return { value: given }
  const { value, by, note } = given
  return {
    value,
    ...(typeof by === 'string' && by.trim() !== '' && { by: shorten(by, LONGEST_NAME) }),
    ...(typeof note === 'string' && note !== '' && { note: shorten(note, LONGEST_NOTE) }),
  }
}

/** Who gave the answer that lies there already; undefined where it does not say. */
export function whoseAnswer(file: string): string | undefined {
  try {
    return readAnswerText(readFileSync(file, 'utf8')).by
  } catch {
    return undefined
  }
}
