import type { Io } from '../../contract/io.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { AnswerChannel } from '../../runner/interactions/broker.ts'
import { folderChannel } from '../../runner/interactions/channels/folder.ts'
import { lineChannel } from '../../runner/interactions/channels/lines.ts'
import { findCaller } from '../../surfaces/cli/caller.ts'
import { readLines } from '../../surfaces/cli/lines.ts'
import { terminalAnswerer } from '../../surfaces/cli/terminal.ts'

export type Waiting = { /** Wait for answers from elsewhere also where nobody here can answer. */ readonly wait: boolean; readonly session: boolean }

/** Who answers the questions of a run in the foreground: a person at the terminal, else the caller by JSON lines; and `toolable answer`. `beforeAsking` is called before a person is asked. */
export function openChannels(paths: RunPaths, io: Io, { wait, session }: Waiting, beforeAsking: () => void = () => undefined): AnswerChannel[] {
  const person = io.stdin.isTTY && io.stderr.isTTY && !findCaller(io.env)
  const channels: AnswerChannel[] = []
  if (person) channels.push(personChannel(io, beforeAsking))
  else if (!io.stdin.taken && !io.stdin.isTTY) channels.push(lineChannel(io.stdin))
  if (person || wait || session) channels.push(folderChannel(paths.answers))
  return channels
}

function personChannel(io: Io, beforeAsking: () => void): AnswerChannel {
  const ask = terminalAnswerer(readLines(io.stdin), io.stderr)
  return {
    name: 'a person',
    async answer(question, signal, problem) {
      beforeAsking()
      const value: unknown = await Promise.resolve(ask(problem === undefined ? question : { ...question, problem }, signal)).catch(() => undefined)
      return value === undefined ? undefined : { value }
    },
  }
}
