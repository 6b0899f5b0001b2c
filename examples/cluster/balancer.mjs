import { connect, createServer } from 'node:net'

/**
 * One address for several workers: each connection goes to the next one that takes it. Any balancer
 * for TCP or HTTP/2 does the same.
 */
export function openBalancer(ports) {
  let turn = 0
  const server = createServer((client) => {
    client.on('error', () => undefined)
    const attempt = (left) => {
      const worker = connect(ports[(turn += 1) % ports.length], '127.0.0.1')
      let isTaken = false
      worker.once('connect', () => {
        isTaken = true
        client.pipe(worker).pipe(client)
        worker.once('close', () => client.destroy())
        client.once('close', () => worker.destroy())
      })
      // What a worker has taken is lost with it: another one would get the rest alone.
      worker.on('error', () => (!isTaken && left > 1 ? attempt(left - 1) : client.destroy()))
    }
    attempt(ports.length)
  })
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
      resolve({ url: `http://127.0.0.1:${port}`, close: () => server.close() })
    }),
  )
}
