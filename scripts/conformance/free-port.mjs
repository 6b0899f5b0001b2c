import { connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A port of the loopback that was free a moment ago. */
export async function freePort() {
  const server = createServer()
  await new Promise((settle, refuse) => server.on('error', refuse).listen(0, '127.0.0.1', settle))
  const { port } = server.address()
  await new Promise((settle) => server.close(settle))
  return port
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
    socket.on('connect', () => settle(true)).on('error', () => settle(false)).on('connect', () => socket.destroy())
  })
}
