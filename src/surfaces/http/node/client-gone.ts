import type { Socket } from 'node:net'

const waiting = new WeakMap<Socket, Set<() => void>>()

/** Calls `react` when the connection closes; gives the function that stops it. However many requests wait, a socket has one listener of ours: more than ten would be a warning. */
export function whenGone(socket: Socket, react: () => void): () => void {
  const reactions = waiting.get(socket) ?? listen(socket)
  reactions.add(react)
  return () => void reactions.delete(react)
}

function listen(socket: Socket): Set<() => void> {
  const reactions = new Set<() => void>()
  waiting.set(socket, reactions)
  socket.once('close', () => {
    for (const react of [...reactions]) react()
  })
  return reactions
}
