import { mkdir, rename } from 'node:fs/promises'
import { openOrdinary } from '../../log/open-ordinary.ts'
import { untilThere } from '../../until-there.ts'
import { answerFile, readAnswerText } from '../answer-file.ts'
import type { AnswerChannel, GivenAnswer } from '../broker.ts'

const LARGEST = 1024 * 1024

/** Waits for the file `<id>.json` with `{"value": ..., "by": ..., "note": ...}` in the folder of a run: `toolable answer` writes it whole, and only the first can. */
export function folderChannel(folder: string): AnswerChannel {
  return {
    name: 'answer file',
    async answer({ id }, signal, problem) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const file = answerFile(folder, id)
      // Taken away, so that the next answer has a place; it stays readable under its new name.
      if (problem !== undefined) await rename(file, `${file}.refused`).catch(() => undefined)
      return untilThere(folder, signal, () => readAnswer(file))
    },
  }
}

/** Answers that were put there before anybody asked, or before a restart. One that does not fit is taken away, so that the next has a place. */
export function keptAnswersChannel(folder: string): AnswerChannel {
  return {
    name: 'answer file',
    async answer({ id }, _signal, problem) {
      const file = answerFile(folder, id)
      if (problem === undefined) return readAnswer(file)
      await rename(file, `${file}.refused`).catch(() => undefined)
      return undefined
    },
  }
}

async function readAnswer(file: string): Promise<GivenAnswer | undefined> {
  try {
    const opened = await openOrdinary(file)
    if (!opened) return undefined
    const { size } = await opened.stat()
    const text = size > LARGEST ? '' : await opened.readFile('utf8')
    await opened.close()
    return readAnswerText(text)
  } catch {
    // Not there, or half of it by somebody who writes slowly: it is read again when it changes.
    return undefined
  }
}
