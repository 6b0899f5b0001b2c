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

export type Waiting = {
  /** Wait for answers from elsewhere also where nobody here can answer. */ readonly wait: boolean
  readonly session: boolean
}

/** What is written and typed while somebody is asked; `forget` where others wrote there too, or it has to stay. */
export type Dialogue = { wrote(text: string): void; typed(line: string): void; forget(): void }

/** Asks a person a question when and where it is right to; `work` does the asking, and tells the dialogue, where there is one, what happens. */
export type AskPerson = (
  question: Question,
  signal: AbortSignal,
  work: (dialogue?: Dialogue) => Promise<unknown>,
) => Promise<unknown>

/** Whether a person sits at this terminal. */
export function isPerson({ stdin, stderr, env }: Io): boolean {
  return stdin.isTTY && stderr.isTTY && !findCaller(env)
}

/** Who asks for a run from this command line, for the record; undefined where nobody can tell. */
export function callerOf(io: Io): string | undefined {
  return (
    findCaller(io.env)?.name ??
    (io.stdin.isTTY || io.stdout.isTTY || io.stderr.isTTY ? 'person' : undefined)
  )
}

/** Who answers the questions of a run in the foreground: a person at the terminal, else the caller by JSON lines; and `toolable answer`. */
export function openChannels(
  paths: RunPaths,
  io: Io,
  { wait, session }: Waiting,
  ask: AskPerson = (_question, _signal, work) => work(),
): AnswerChannel[] {
  const person = isPerson(io)
  const channels: AnswerChannel[] = []
  const waits = wait || session
  if (person)
    channels.push(
      personChannel({
        io,
        ask,
        elsewhere: waits
          ? `nobody answers here any more; the run waits for: toolable answer ${paths.id} <value>`
          : undefined,
      }),
    )
  else if (!io.stdin.taken && !io.stdin.isTTY)
    channels.push(lineChannel(io.stdin, (problem) => io.stderr.write(`${cleanLine(problem)}\n`)))
  channels.push({ ...folderChannel(paths.answers), passive: !waits })
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

type Person = {
  readonly io: Io
  readonly ask: AskPerson
  /** What the others who may answer type, where the run waits for them. */ readonly elsewhere:
    string | undefined
}

function personChannel({ io, ask: askPerson, elsewhere }: Person): AnswerChannel {
  const lines = linesOf(io.stdin)
  let turn: Promise<unknown> = Promise.resolve()
  let gone = false
  const put = async (
    question: Question,
    signal: AbortSignal,
    dialogue?: Dialogue,
  ): Promise<unknown> => {
    const write = (text: string): void => {
      dialogue?.wrote(text)
      io.stderr.write(text)
    }
    const next: LineReader['next'] = async (aborted) => {
      const line = await lines.next(aborted)
      if (line !== undefined) dialogue?.typed(line)
      else gone = true
      return line
    }
    const screen = await io.screen?.()
    const endStopping = screen?.onStop(
      () => dialogue?.forget(),
      () => undefined,
    )
    const value = await Promise.resolve(
      terminalAnswerer({ next }, { write }, screen)(question, signal),
    )
      .catch(() => undefined)
      .finally(endStopping)
    if (gone && elsewhere !== undefined) {
      dialogue?.forget()
      write(`${elsewhere}\n`)
    }
    return value
  }
  return {
    name: PERSON,
    async answer(question, signal, problem) {
      // Whoever is asked two things at once cannot know which one he answers, and whoever has ended the input answers nothing any more.
      const asked = turn.then(() =>
        signal.aborted || gone
          ? undefined
          : askPerson(question, signal, (dialogue) =>
              put(problem === undefined ? question : { ...question, problem }, signal, dialogue),
            ),
      )
      turn = asked.catch(() => undefined)
      const value = await asked
      return value === undefined ? undefined : { value }
    },
  }
}
