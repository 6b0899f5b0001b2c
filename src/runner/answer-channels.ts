/**
 * Answer channels: where answers to questions come from (files in the run folder, the host program,
 * JSON lines on stdin, presets), and how `toolable answer` submits one.
 */

import { mkdirSync, readFileSync } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { compileQuestionSchema, parseTypedAnswer, validateAnswer } from '../core/questions.ts'
import { splitLines } from '../process/output.ts'
import type { Answerer } from '../protocol/events.ts'
import type { ByteSource } from '../protocol/io.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { createFileExclusively } from '../util/lock-file.ts'
import { shorten } from '../util/text.ts'
import { MEBIBYTE } from '../util/units.ts'
import { compact, isObject, parseJsonObject } from '../util/values.ts'
import { openRegularFile, watchFolderUntil } from './files.ts'
import type { AnswerChannel, ChannelAnswer, RunQuestion } from './questions.ts'
import type { RunPaths } from './run-paths.ts'

const MAX_ANSWER_FILE_BYTES = MEBIBYTE

/**
 * Waits for the file `<id>.json` with `{"value": ..., "by": ..., "note": ...}` in the folder of a
 * run: `toolable answer` writes it whole, and only the first can.
 */
export function createFolderChannel(folder: string): AnswerChannel {
  return {
    name: 'answer file',
    async answer({ id }, signal, problem) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const file = getAnswerPath(folder, id)
      if (problem !== undefined) await setAside(file)
      return watchFolderUntil(folder, signal, () => readAnswerFile(file))
    },
  }
}

/**
 * Answers that were put there before anybody asked, or before a restart. One that does not fit is
 * taken away, so that the next has a place.
 */
export function createKeptAnswersChannel(folder: string): AnswerChannel {
  return {
    name: 'answer file',
    async answer({ id }, _signal, problem) {
      const file = getAnswerPath(folder, id)
      if (problem === undefined) return readAnswerFile(file)
      await setAside(file)
      return undefined
    },
  }
}

// It stays readable under its new name, and the next answer can be written.
async function setAside(file: string): Promise<void> {
  await rename(file, `${file}.refused`).catch(() => undefined)
}

async function readAnswerFile(file: string): Promise<ChannelAnswer | undefined> {
  try {
    const opened = await openRegularFile(file)
    if (!opened) return undefined
    const { size } = await opened.stat()
    const text = size > MAX_ANSWER_FILE_BYTES ? '' : await opened.readFile('utf8')
    await opened.close()
    return parseAnswer(text)
  } catch {
    // Not there, or half of it by somebody who writes slowly: it is read again when it changes.
    return undefined
  }
}

/** The program that runs the tools answers; undefined leaves the question to others. */
export function createHostChannel(answer: Answerer): AnswerChannel {
  return {
    name: 'the host',
    async answer(question, signal, problem) {
      const value: unknown = await answer(
        problem === undefined ? question : { ...question, problem },
        signal,
      )
      return value === undefined ? undefined : { value }
    },
  }
}

const MAX_ANSWER_LINE_BYTES = MEBIBYTE
const MAX_SHOWN_LENGTH = 100

/**
 * Takes answers from an agent that writes JSON lines: `{"id": "...", "value": ...}`, where the id
 * may also be the key or the action of the question, or only `{"value": ...}` for the oldest open
 * one. `onIgnored` hears of lines that are no answers, and of answers to what is not asked now,
 * which wait for their question.
 */
export function createLineChannel(
  source: Pick<ByteSource, 'bytes' | 'close'>,
  onIgnored: (problem: string) => void = () => undefined,
): AnswerChannel & { close(): void } {
  const open: {
    readonly names: readonly unknown[]
    readonly give: (answer: { readonly value: unknown } | undefined) => void
  }[] = []
  const early: { readonly id: unknown; readonly value: unknown }[] = []
  let over = false
  let reading: Promise<void> | undefined

  const take = (line: string): void => {
    const message = parseJsonObject(line)
    if (!message || !Object.hasOwn(message, 'value')) {
      if (line.trim() !== '')
        onIgnored(
          `this line on stdin is no answer: ${shorten(line, MAX_SHOWN_LENGTH)} (write {"id": "...", "value": ...})`,
        )
      return
    }
    const { id, value } = message
    const index = id === undefined ? 0 : open.findIndex(({ names }) => names.includes(id))
    const [asked] = index < 0 ? [] : open.splice(index, 1)
    if (asked) return asked.give({ value })
    if (id !== undefined && open.length > 0)
      onIgnored(
        `nobody asks '${shorten(String(id), MAX_SHOWN_LENGTH)}' now; open is ${open.map(({ names }) => `'${String(names[0])}'`).join(', ')}`,
      )
    early.push({ id, value })
  }
  const read = async (): Promise<void> => {
    const lines = splitLines(MAX_ANSWER_LINE_BYTES, take)
    try {
      for await (const chunk of source.bytes()) lines.push(Buffer.from(chunk))
      lines.finish()
    } catch {
      /* a source that breaks is one that is over */
    }
    over = true
    for (const { give } of open.splice(0)) give(undefined)
  }

  return {
    name: 'stdin',
    answer({ id, key, action }, signal) {
      reading ??= read()
      const names = [id, key, action].filter((name) => name !== undefined)
      const known = early.findIndex(
        (one) => one.id === undefined || names.includes(one.id as string),
      )
      if (known >= 0) return Promise.resolve({ value: early.splice(known, 1)[0]!.value })
      if (over) return Promise.resolve(undefined)
      return new Promise((resolve) => {
        const entry = { names, give: resolve }
        open.push(entry)
        signal.addEventListener(
          'abort',
          () => {
            const index = open.indexOf(entry)
            if (index >= 0) open.splice(index, 1)
            resolve(undefined)
          },
          { once: true },
        )
      })
    },
    close: () => source.close(),
  }
}

/**
 * Answers that were given before anybody asked: by `--answer`, or by a policy. A question is known
 * by its key, its id, or what the tool calls it. `typed` are the keys of those that are text as
 * somebody typed it.
 */
export function createPresetChannel(
  name: string,
  answers: { readonly [key: string]: unknown },
  typed: readonly string[] = [],
): AnswerChannel {
  return {
    name,
    answer: async (question, _signal, problem) => {
      const { id, key, action } = question
      // What was refused once would be refused again.
      const known =
        problem === undefined
          ? [key, id, action].find((one) => one !== undefined && Object.hasOwn(answers, one))
          : undefined
      if (known === undefined) return undefined
      const value = answers[known]
      return {
        value:
          typeof value === 'string' && typed.includes(known)
            ? await parseTypedAnswer(question, value)
            : value,
      }
    },
  }
}

/**
 * Writes the answer to a question where whoever performs the run looks for it; only the first can.
 * Gives it as it was understood. Throws INVALID_INPUT for one that does not fit, CONFLICT, and who
 * was first, where there is one already.
 */
export async function submitAnswer(
  paths: RunPaths,
  question: RunQuestion,
  given: unknown,
  words: AnswerAttribution = {},
): Promise<unknown> {
  const checked = await validateAnswer(question, await compileQuestionSchema(question), given)
  if (!checked.ok)
    throw new ToolError('INVALID_INPUT', `the answer to '${question.prompt}' ${checked.problem}`, {
      field: 'value',
    })
  mkdirSync(paths.answers, { recursive: true, mode: 0o700 })
  const file = getAnswerPath(paths.answers, question.id)
  if (createFileExclusively(file, serializeAnswer(checked.value, words))) return checked.value
  const first = readAnswerAuthor(file)
  throw new ToolError(
    'CONFLICT',
    `the question '${question.id}' has an answer already${first === undefined ? '' : `: ${first} was first`}`,
    { suggestion: `toolable runs show ${paths.id}` },
  )
}

const MAX_ANSWERER_LENGTH = 100
const MAX_NOTE_LENGTH = 2000

/** Who answers, and what he says about it. */
export type AnswerAttribution = Pick<ChannelAnswer, 'by' | 'note'>

/** Where the answer to a question lies. */
function getAnswerPath(folder: string, question: string): string {
  return join(folder, `${question}.json`)
}

/** The text of an answer file. */
function serializeAnswer(value: unknown, { by, note }: AnswerAttribution): string {
  return `${JSON.stringify({ value, by, note: note || undefined })}\n`
}

/**
 * Reads an answer file: an object with the answer, or the bare answer. Throws for what is no JSON.
 */
function parseAnswer(text: string): ChannelAnswer {
  const given: unknown = JSON.parse(text)
  if (!isObject(given) || !Object.hasOwn(given, 'value')) return { value: given }
  const { value, by, note } = given
  return {
    value,
    ...compact({
      by: typeof by === 'string' && by.trim() !== '' ? shorten(by, MAX_ANSWERER_LENGTH) : undefined,
      note: typeof note === 'string' && note !== '' ? shorten(note, MAX_NOTE_LENGTH) : undefined,
    }),
  }
}

/** Who gave the answer that lies there already; undefined where it does not say. */
function readAnswerAuthor(file: string): string | undefined {
  try {
    return parseAnswer(readFileSync(file, 'utf8')).by
  } catch {
    return undefined
  }
}
