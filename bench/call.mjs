// `npm run bench call [rounds]`: what a call in this process costs, beside its bare schema and
// function, and how that grows with the state.
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { BARE, BARE_APPENDING, BARE_LATER, CALLS, NAMES } from './call/names.mjs'
import { formatTable, shuffle } from './measure.mjs'

const rounds = Number(process.argv[3] ?? 40)
if (!Number.isInteger(rounds) || rounds < 1)
  throw new Error(`rounds must be a whole number, not ${process.argv[3]}`)
const WARM_UP = 10

console.log(
  `calls in one process, node ${process.versions.node}, ${rounds} rounds of ${CALLS} calls each, interleaved; CPU time, medians\n`,
)
const found = await measure()
const base = found.get(BARE)
console.log(
  `${formatTable([['', 'µs', '× bare'], ...[...found].map(([name, micro]) => [name, micro.toFixed(2), (micro / base).toFixed(2)])])}\n`,
)
judge('a call without state', found.get('call') / base, 3)
judge('a call that reads a state', found.get('call that reads a state') / base, 3)
judge(
  'a call that appends to a state, of the bare one that appends',
  found.get('call that appends to a state') / found.get(BARE_APPENDING),
  3,
)
judge(
  'a call of an async handler, of the bare one in the same form',
  found.get('call of an async handler') / found.get(BARE_LATER),
  3,
)
for (const what of ['append', 'append that fails', 'snapshot, append and restore'])
  judge(
    `${what} on 10,000 items, of that on 10`,
    found.get(`${what}, 10000 items`) / found.get(`${what}, 10 items`),
    2,
  )

async function measure() {
  const workers = NAMES.map((name) => ({
    name,
    times: [],
    process: fork(fileURLToPath(new URL('./call/worker.mjs', import.meta.url)), [name], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME },
    }),
  }))
  try {
    for (let round = -WARM_UP; round < rounds; round += 1) {
      for (const { times, process: worker } of shuffle(workers)) {
        const micro = await ask(worker)
        if (round >= 0) times.push(micro)
      }
    }
  } finally {
    for (const { process: worker } of workers) worker.disconnect()
  }
  return new Map(workers.map(({ name, times }) => [name, median(times)]))
}

function ask(worker) {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker
      .removeAllListeners('exit')
      .once('exit', (status) => reject(new Error(`a worker ended with ${status}`)))
    worker.send('go')
  })
}

function median(list) {
  return [...list].sort((left, right) => left - right)[Math.floor(list.length / 2)]
}

function judge(what, ratio, wanted) {
  console.log(
    `${ratio <= wanted ? 'reached' : 'MISSED '}  ${what}: ${ratio.toFixed(2)} ×, wanted at most ${wanted}`,
  )
}
