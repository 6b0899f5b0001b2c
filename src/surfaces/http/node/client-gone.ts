import type { Socket } from 'node:net'
import type { ToolError } from '../../../contract/tool-error.ts'
import { clientGone } from '../exchange.ts'

type React = (why: ToolError) => void

const waiting = new WeakMap<Socket, Set<React>>()

/** Calls `react` when the connection closes or is given up; gives the function that stops it. However many requests wait, a socket has one listener of ours: more than ten would be a warning. */
export function whenGone(socket: Socket, react: React): () => void {
  const reactions = waiting.get(socket) ?? listen(socket)
  reactions.add(react)
  return () => void reactions.delete(react)
}

/** Ends what runs for a connection, which itself stays open for the last words. */
export function giveUp(socket: Socket, why: ToolError): void {
  for (const react of [...(waiting.get(socket) ?? [])]) react(why)
}

function listen(socket: Socket): Set<React> {
  const reactions = new Set<React>()
  waiting.set(socket, reactions)
  socket.once('close', () => giveUp(socket, clientGone()))
  return reactions
}
