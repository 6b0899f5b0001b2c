import { spawn } from 'node:child_process'
import { callMessage, checkAnswer, handshake } from './messages.mjs'

/** Starts a server and speaks with it over its pipes, line by line. */
export async function openStdio({ key, argv, era, node = process.execPath, environment = {} }) {
  const child = spawn(node, argv, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const waiting = new Map()
  let gone
  let rest = ''
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr = (stderr + text).slice(-2000)))
  child.stdin.on('error', () => undefined)
  child.stdout.setEncoding('utf8').on('data', (text) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()
    for (const line of lines) {
      const id = Number(/"id":(\d+)/.exec(line)?.[1])
      waiting.get(id)?.settle(line)
      waiting.delete(id)
    }
  })
  const closed = new Promise((settle) =>
    child.on('close', (status) => {
      gone = new Error(`${key} ended with ${status}: ${stderr}`)
      for (const { refuse } of waiting.values()) refuse(gone)
      settle()
    }),
  )
  const ask = (id, line) =>
    new Promise((settle, refuse) => {
      if (gone) return refuse(gone)
      waiting.set(id, { settle, refuse })
      child.stdin.write(`${line}\n`)
    })
  const [first, ...others] = handshake(era)
  if (first !== undefined) await ask(0, first)
  for (const line of others) child.stdin.write(`${line}\n`)
  return {
    key,
    pid: child.pid,
    call: async (id) => checkAnswer(await ask(id, callMessage(id, era)), id),
    async close() {
      child.stdin.end()
      const timer = setTimeout(() => child.kill('SIGKILL'), 2000)
      await closed
      clearTimeout(timer)
    },
  }
}
