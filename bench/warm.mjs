// `npm run bench warm [rounds]`: a warm call through the public API, beside a raw pipe to a node
// process that echoes lines, and beside the cold call of the same program.
import { spawn } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { registry } from 'toolable'
import { combine, load, warmUp } from './mcp/load.mjs'
import { formatTable, shuffle } from './measure.mjs'

const rounds = Number(process.argv[3] ?? 10)
if (!Number.isInteger(rounds) || rounds < 1)
  throw new Error(`rounds must be a whole number, not ${process.argv[3]}`)
const ROUND_MS = 300
const FLIGHT = 32
const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const environment = {
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  HOME: process.env.HOME,
}

const raw = openEcho()
const warm = await openWarm()
try {
  console.log(
    `warm calls, node ${process.versions.node}, ${rounds} rounds of ${ROUND_MS} ms, interleaved\n`,
  )
  const cold = { name: 'cold: the program started for the call', call: callCold }
  const alone = await measure([raw, warm], 1, cold)
  const many = await measure([raw, warm], FLIGHT)
  const line = (name, { p50, p99, rate }) => [name, p50.toFixed(3), p99.toFixed(2), rate.toFixed(0)]
  console.log(
    `${formatTable([['1 in flight', 'p50 ms', 'p99 ms', 'calls/s'], ...[...alone].map(([name, found]) => line(name, found))])}\n`,
  )
  console.log(
    `${formatTable([[`${FLIGHT} in flight`, 'p50 ms', 'p99 ms', 'calls/s'], ...[...many].map(([name, found]) => line(name, found))])}\n`,
  )
  judge(
    'a warm call',
    alone.get(warm.name).p50 / alone.get(raw.name).p50,
    3,
    '× the raw echo',
    true,
  )
  judge(
    'a cold call',
    alone.get(cold.name).p50 / alone.get(warm.name).p50,
    50,
    '× a warm one',
    false,
  )
} finally {
  raw.close()
  await warm.close()
}

// Interleaved in a new order in each round; a cold call is so long that two of them are a round.
async function measure(cases, flight, cold) {
  const found = new Map([...cases, ...(cold ? [cold] : [])].map(({ name }) => [name, []]))
  for (const entry of cases) await warmUp(entry, flight)
  for (let round = 0; round < rounds; round += 1) {
    for (const entry of shuffle(cases))
      found.get(entry.name).push(await load(entry, flight, ROUND_MS))
    if (cold) found.get(cold.name).push(await load(cold, 1, 2))
  }
  return new Map([...found].map(([name, list]) => [name, combine(list)]))
}

function openEcho() {
  const child = spawn(process.execPath, [here('programs/echo-lines.mjs')], {
    env: environment,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const waiting = []
  child.stdout.on('data', (chunk) => {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) waiting.shift()()
  })
  return {
    name: 'raw: a pipe to a process that echoes',
    call: (id) =>
      new Promise((settle) => {
        waiting.push(settle)
        child.stdin.write(`{"id":${id},"call":"add","input":{"a":${id},"b":1}}\n`)
      }),
    close: () => child.stdin.end(),
  }
}

async function openWarm() {
  const kept = await registry({ folders: [here('programs/kept')], env: environment, cache: false })
  if (kept.find('kept.add') === undefined)
    throw new Error(`the program was not found: ${JSON.stringify(kept.problems())}`)
  return {
    name: 'warm: registry.call',
    async call(id) {
      const outcome = await kept.call('kept.add', { a: id, b: 1 }, { env: environment })
      if (outcome.result?.sum !== id + 1) throw new Error(JSON.stringify(outcome))
    },
    close: () => kept.close(),
  }
}

function callCold(id) {
  return new Promise((settle, refuse) => {
    const child = spawn(
      process.execPath,
      [here('programs/kept/warm.mjs'), 'add', `{"a":${id},"b":1}`],
      { env: environment, stdio: ['ignore', 'pipe', 'inherit'] },
    )
    let text = ''
    child.stdout.on('data', (chunk) => (text += chunk))
    child
      .on('error', refuse)
      .on('close', () =>
        JSON.parse(text).result.sum === id + 1 ? settle() : refuse(new Error(text)),
      )
  })
}

function judge(what, ratio, wanted, unit, atMost) {
  const reached = atMost ? ratio <= wanted : ratio >= wanted
  console.log(
    `${reached ? 'reached' : 'MISSED '}  ${what}: ${ratio.toFixed(2)} ${unit}, wanted at ${atMost ? 'most' : 'least'} ${wanted}`,
  )
}
