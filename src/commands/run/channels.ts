import type { ByteSource, Io } from '../../contract/io.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { AnswerChannel } from '../../runner/interactions/broker.ts'
import { folderChannel } from '../../runner/interactions/channels/folder.ts'
import { lineChannel } from '../../runner/interactions/channels/lines.ts'
import type { Question } from '../../runner/interactions/read-question.ts'
import { findCaller } from '../../surfaces/cli/caller.ts'
import { readLines } from '../../surfaces/cli/lines.ts'
import type { LineReader } from '../../surfaces/cli/lines.ts'
import { cleanLine } from '../../surfaces/cli/output/text/clean.ts'
import { terminalAnswerer } from '../../surfaces/cli/terminal.ts'
import { PERSON } from './person.ts'

export type Waiting = { /** Wait for answers from elsewhere also where nobody here can answer. */ readonly wait: boolean; readonly session: boolean }

/** What is written and typed while somebody is asked. */
export type Dialogue = { wrote(text: string): void; typed(line: string): void }

/** Asks a person a question when and where it is right to; `work` does the asking, and tells the dialogue, where there is one, what happens. */
export type AskPerson = (question: Question, signal: AbortSignal, work: (dialogue?: Dialogue) => Promise<unknown>) => Promise<unknown>

/** Whether a person sits at this terminal. */
export function isPerson({ stdin, stderr, env }: Io): boolean {
  return stdin.isTTY && stderr.isTTY && !findCaller(env)
}

/** Who asks for a run from this command line, for the record; undefined where nobody can tell. */
export function callerOf(io: Io): string | undefined {
  return findCaller(io.env)?.name ?? (io.stdin.isTTY || io.stdout.isTTY || io.stderr.isTTY ? 'person' : undefined)
}

/** Who answers the questions of a run in the foreground: a person at the terminal, else the caller by JSON lines; and `toolable answer`. */
export function openChannels(paths: RunPaths, io: Io, { wait, session }: Waiting, ask: AskPerson = (_question, _signal, work) => work()): AnswerChannel[] {
  const person = isPerson(io)
  const channels: AnswerChannel[] = []
  if (person) channels.push(personChannel(io, ask))
  else if (!io.stdin.taken && !io.stdin.isTTY) channels.push(lineChannel(io.stdin, (problem) => io.stderr.write(`${cleanLine(problem)}\n`)))
  channels.push({ ...folderChannel(paths.answers), passive: !(person || wait || session) })
  return channels
}

// Stdin has one owner: whoever asks a person shares one reader.
const readers = new WeakMap<ByteSource, LineReader>()

/** The lines that a person types, for all who ask him something. */
export function linesOf(stdin: ByteSource): LineReader {
  const lines = readers.get(stdin) ?? readLines(stdin)
  readers.set(stdin, lines)
  return lines
}

function personChannel(io: Io, askPerson: AskPerson): AnswerChannel {
  const lines = linesOf(io.stdin)
  let turn: Promise<unknown> = Promise.resolve()
  const put = async (question: Question, signal: AbortSignal, dialogue?: Dialogue): Promise<unknown> => {
    const answer = terminalAnswerer({
      ...lines,
      async next(aborted) {
        const line = await lines.next(aborted)
        if (line !== undefined) dialogue?.typed(line)
        return line
      },
    }, {
      write(text) {
        dialogue?.wrote(text)
        io.stderr.write(text)
      },
    })
    return Promise.resolve(answer(question, signal)).catch(() => undefined)
  }
  return {
    name: PERSON,
    async answer(question, signal, problem) {
      // Whoever is asked two things at once cannot know which one he answers.
      const asked = turn.then(() => (signal.aborted ? undefined : askPerson(question, signal, (dialogue) => put(problem === undefined ? question : { ...question, problem }, signal, dialogue))))
      turn = asked.catch(() => undefined)
      const value = await asked
      return value === undefined ? undefined : { value }
    },
  }
}
