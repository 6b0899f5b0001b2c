import { connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

// Below what systems give to connections that go out (from 32768 on with Linux): a port up there
// may be taken before whoever asked for it listens, or while it is restarted.
const [FIRST, COUNT] = [15_000, 17_000]
// Programs that ask at the same time begin in different places.
let next = (process.pid * 61) % COUNT

/** A port of the loopback that nobody uses, and that this process has not given before. */
export async function freePort() {
  for (let tries = 0; tries < COUNT; tries += 1) {
    const port = FIRST + next
    next = (next + 1) % COUNT
    if (await isFree(port)) return port
  }
  throw new Error(`no port from ${FIRST} to ${FIRST + COUNT} is free`)
}

function isFree(port) {
  return new Promise((settle) => {
    const probe = createServer()
    probe
      .once('error', () => settle(false))
      .listen(port, '127.0.0.1', () => probe.close(() => settle(true)))
  })
}

/** Waits until somebody listens; rejects when `gone` resolves before. */
export async function untilListening(port, gone) {
  let over = false
  const end = gone.then((reason) => {
    over = true
    throw new Error(`the server ended before it listened: ${reason}`)
  })
  const look = async () => {
    while (!over && !(await answers(port))) await sleep(20)
  }
  await Promise.race([end, look()])
  end.catch(() => undefined)
}

function answers(port) {
  return new Promise((settle) => {
    const socket = connect(port, '127.0.0.1')
    socket
      .on('connect', () => settle(true))
      .on('error', () => settle(false))
      .on('connect', () => socket.destroy())
  })
}
