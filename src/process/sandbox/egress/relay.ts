import type { LookupFunction, Socket } from 'node:net'
import type { ToolProfile } from '../profile.ts'
import type { FindAddresses } from './find-addresses.ts'

/** How long one address may be silent before the next is tried besides. */
const NEXT_ADDRESS = 1000

type Target = { readonly host: string; readonly port: number; readonly find: FindAddresses }
type Connect = typeof import('node:net').connect

/** A connection of a tool that is passed on. */
export type Relay = {
  /** Resolves when everything that the tool sent is passed on, or cannot be any more. */
  readonly sent: Promise<void>
  /** Resolves when both sides are closed. */
  readonly over: Promise<unknown>
  /** Ends both sides at once. */
  cut(): void
}

/** Passes a connection of a tool on to its server, byte for byte: the end of one direction leaves the other open, a slow reader slows the writer down, and a reset is passed on as one. */
export function relay(
  inner: Socket,
  { host, port, find }: Target,
  connect: Connect,
  tell: NonNullable<ToolProfile['onConnection']>,
): Relay {
  const lookup: LookupFunction = (_host, { all }, answer) => {
    find().then(
      (found) =>
        all ? answer(null, [...found]) : answer(null, found[0]!.address, found[0]!.family),
      (error: NodeJS.ErrnoException) => answer(error, []),
    )
  }
  const outer = connect({
    host,
    port,
    lookup,
    allowHalfOpen: true,
    noDelay: true,
    keepAlive: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS,
  })
  let isConnected = false
  inner.allowHalfOpen = true
  inner.setNoDelay(true)
  outer.once('connect', () => {
    isConnected = true
    tell({ host, port, ...(outer.remoteAddress !== undefined && { address: outer.remoteAddress }) })
    inner.pipe(outer)
    outer.pipe(inner)
  })
  outer.on('error', (error: NodeJS.ErrnoException) => {
    if (!isConnected) tell({ host, port, refused: error.message || error.code || 'no connection' })
    reset(inner)
  })
  inner.on('error', () => reset(outer))
  const closed = [inner, outer].map(
    (socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())),
  )
  const finished = new Promise<void>((resolve) => outer.once('finish', resolve))
  return {
    sent: Promise.race([finished, closed[1]!]),
    over: Promise.all(closed),
    cut: () => {
      inner.destroy()
      outer.destroy()
    },
  }
}

// A socket that still connects would be reset only after it had connected.
function reset(socket: Socket): void {
  if (socket.connecting) socket.destroy()
  else socket.resetAndDestroy()
}
