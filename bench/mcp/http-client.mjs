import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { freePort, untilListening } from '../../scripts/conformance/free-port.mjs'
import { callMessage, checkAnswer, handshake, headers } from './messages.mjs'

/**
 * Starts a server on the loopback and speaks with it over kept-alive sockets, one request at a time
 * on each.
 */
export async function openHttp({
  key,
  argv,
  era,
  node = process.execPath,
  environment = {},
  sockets = 32,
}) {
  const port = await freePort()
  const child = spawn(
    node,
    argv.map((word) => (word === 'PORT' ? String(port) : word)),
    {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr = (stderr + text).slice(-2000)))
  const closed = new Promise((settle) => child.on('close', settle))
  await untilListening(
    port,
    closed.then((status) => `${key}: exit ${status} ${stderr}`),
  )
  const free = await Promise.all(Array.from({ length: sockets }, () => openSocket(port)))
  let session = ''
  const post = async (body, method, tool) => {
    // Servers close connections that were idle while others were measured.
    const kept = free.pop()
    const socket = kept.isOpen() ? kept : await openSocket(port)
    const answer = await socket.send(
      `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${headers(era, method, tool)}${session}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
    free.push(socket)
    return answer
  }
  for (const [index, line] of handshake(era).entries()) {
    const { head } = await post(line, index === 0 ? 'initialize' : 'notifications/initialized')
    const id = /^mcp-session-id: *(\S+)/im.exec(head)?.[1]
    if (id !== undefined) session = `Mcp-Session-Id: ${id}\r\n`
  }
  return {
    key,
    pid: child.pid,
    call: async (id) =>
      checkAnswer((await post(callMessage(id, era), 'tools/call', 'add')).body, id),
    async close() {
      for (const socket of free) socket.destroy()
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), 2000)
      await closed
      clearTimeout(timer)
    },
  }
}

function openSocket(port) {
  const socket = connect(port, '127.0.0.1')
  socket.setNoDelay(true).setEncoding('latin1')
  let text = ''
  let waiting
  socket.on('data', (chunk) => {
    text += chunk
    const end = text.indexOf('\r\n\r\n')
    if (end < 0 || !isWhole(text, end)) return
    const answer = { head: text.slice(0, end), body: text.slice(end + 4) }
    text = ''
    waiting.settle(answer)
  })
  const fail = (error) => waiting?.refuse(error ?? new Error('the server closed the connection'))
  socket.on('error', fail).on('close', () => fail())
  const send = (request) =>
    new Promise((settle, refuse) => {
      waiting = { settle, refuse }
      socket.write(request)
    })
  return new Promise((settle, refuse) => {
    socket
      .once('connect', () =>
        settle({
          send,
          isOpen: () => !socket.destroyed && !socket.readableEnded,
          destroy: () => socket.destroy(),
        }),
      )
      .once('error', refuse)
  })
}

function isWhole(text, end) {
  const head = text.slice(0, end)
  const length = /^content-length: *(\d+)/im.exec(head)?.[1]
  if (length !== undefined) return text.length >= end + 4 + Number(length)
  if (/^transfer-encoding: *chunked/im.test(head)) return text.endsWith('0\r\n\r\n')
  return /^HTTP\/1\.1 (202|204)/.test(head)
}
