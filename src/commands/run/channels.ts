import type { Io } from '../../contract/io.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { AnswerChannel } from '../../runner/interactions/broker.ts'
import { folderChannel } from '../../runner/interactions/channels/folder.ts'
import { lineChannel } from '../../runner/interactions/channels/lines.ts'
import { findCaller } from '../../surfaces/cli/caller.ts'
import { readLines } from '../../surfaces/cli/lines.ts'
import { cleanLine } from '../../surfaces/cli/output/text/clean.ts'
import { terminalAnswerer } from '../../surfaces/cli/terminal.ts'
import { PERSON } from './run-view.ts'

export type Waiting = { /** Wait for answers from elsewhere also where nobody here can answer. */ readonly wait: boolean; readonly session: boolean }

/** Called before a person is asked the question of an id. */
export type BeforeAsking = (id: string, signal: AbortSignal) => void | Promise<void>

/** Whether a person sits at this terminal. */
export function isPerson({ stdin, stderr, env }: Io): boolean {
  return stdin.isTTY && stderr.isTTY && !findCaller(env)
}

/** Who asks for a run from this command line, for the record; undefined where nobody can tell. */
export function callerOf(io: Io): string | undefined {
  return findCaller(io.env)?.name ?? (io.stdin.isTTY || io.stdout.isTTY || io.stderr.isTTY ? 'person' : undefined)
}

/** Who answers the questions of a run in the foreground: a person at the terminal, else the caller by JSON lines; and `toolable answer`. */
export function openChannels(paths: RunPaths, io: Io, { wait, session }: Waiting, beforeAsking: BeforeAsking = () => undefined): AnswerChannel[] {
  const person = isPerson(io)
  const channels: AnswerChannel[] = []
  if (person) channels.push(personChannel(io, beforeAsking))
  else if (!io.stdin.taken && !io.stdin.isTTY) channels.push(lineChannel(io.stdin, (problem) => io.stderr.write(`${cleanLine(problem)}\n`)))
  channels.push({ ...folderChannel(paths.answers), passive: !(person || wait || session) })
  return channels
}

function personChannel(io: Io, beforeAsking: BeforeAsking): AnswerChannel {
  const ask = terminalAnswerer(readLines(io.stdin), io.stderr)
  return {
    name: PERSON,
    async answer(question, signal, problem) {
      await beforeAsking(question.id, signal)
      const value: unknown = await Promise.resolve(ask(problem === undefined ? question : { ...question, problem }, signal)).catch(() => undefined)
      return value === undefined ? undefined : { value }
    },
  }
}
