// A tool of the run protocol that says the time, again and again: `tick.mjs <times> <milliseconds
// between>`.
import { writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

const [times = '100', between = '100'] = process.argv.slice(2)
const say = (line) =>
  writeSync(
    1,
    `${JSON.stringify({ v: 1, ts: new Date().toISOString(), run_id: process.env.RUN_ID, ...line })}\n`,
  )
say({ type: 'start' })
// Whoever looks has time to open his page.
await pause(6000)
for (let number = 1; number <= Number(times); number += 1) {
  await pause(Number(between))
  say({ type: 'progress', msg: `tick ${number} at ${Date.now()} ms` })
}
say({ type: 'result', status: 'ok', result: { times: Number(times) } })
