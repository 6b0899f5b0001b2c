// `npm run bench workflow [rounds]`: workflows of three trivial steps, one and fifty in flight,
// beside a bare loop that brings the same lines to the disk; and lists of finished ones beside
// reading their index.
import { fork, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formatTable, shuffle } from './measure.mjs'

const rounds = Number(process.argv[3] ?? 15)
if (!Number.isInteger(rounds) || rounds < 1)
  throw new Error(`rounds must be a whole number, not ${process.argv[3]}`)
const WARM_UP = 3
const here = (path) => fileURLToPath(new URL(path, import.meta.url))
// On the disk of the project: a folder for temporary files may be in memory, where a sync costs
// nothing.
const place = mkdtempSync(join(here('..'), '.bench-workflow-'))
// The server and the SDK that the tests have. The worker's half of Restate is no public name: it is
// read from src/ as the tests read it.
const hook = new URL('../test/setup/typescript-hook.mjs', import.meta.url).href
const packages = here('../test/workflow/restate/packages')
const env = { PATH: process.env.PATH, HOME: place, RESTATE_PACKAGES: packages }

/** What is compared, and how many workflows a round has: one after the other they take longer. */
const WAYS = [
  { way: 'embedded', inFlight: 50, count: 1000 },
  { way: 'bare', inFlight: 50, count: 1000 },
  { way: 'restate', inFlight: 50, count: 200 },
  { way: 'embedded', inFlight: 1, count: 100 },
  { way: 'bare', inFlight: 1, count: 100 },
  { way: 'restate', inFlight: 1, count: 20 },
]

try {
  installRestate()
  console.log(
    `workflows of three steps, node ${process.versions.node}, ${rounds} rounds, interleaved, medians; each line is on the disk before what follows from it\n`,
  )
  await throughput()
  lists()
} finally {
  rmSync(place, { recursive: true, force: true })
}

async function throughput() {
  const found = await measure()
  const rows = found.map(({ way, inFlight, rate, cpu, memory }) => [
    `${way}, ${inFlight} in flight`,
    rate.toFixed(0),
    (3 * rate).toFixed(0),
    cpu.toFixed(0),
    memory.toFixed(0),
  ])
  console.log(`${formatTable([['', 'workflows/s', 'steps/s', 'CPU µs each', 'MB'], ...rows])}\n`)
  const one = (way, inFlight) => found.find((row) => row.way === way && row.inFlight === inFlight)
  judge(
    'workflows/s of the embedded engine, fifty in flight',
    one('embedded', 50).rate / one('bare', 50).rate,
    0.3,
    'of the bare loop',
    false,
  )
  judge(
    'workflows/s of the embedded engine, fifty in flight',
    one('embedded', 50).rate / one('restate', 50).rate,
    3,
    '× Restate',
    false,
  )
  console.log()
}

async function measure() {
  const workers = WAYS.map((row, index) => ({ ...row, index, told: [], process: undefined }))
  try {
    for (const worker of workers) {
      const folder = join(place, String(worker.index))
      mkdirSync(folder)
      worker.process = fork(
        here('workflow/worker.mjs'),
        [worker.way, worker.inFlight, worker.count, folder].map(String),
        { env, cwd: folder, execArgv: worker.way === 'restate' ? ['--import', hook] : [] },
      )
      await answer(worker.process)
    }
    for (let round = -WARM_UP; round < rounds; round += 1) {
      for (const { told, process: worker } of shuffle(workers)) {
        worker.send('go')
        const one = await answer(worker)
        if (round >= 0) told.push(one)
      }
    }
  } finally {
    for (const { process: worker } of workers) worker?.disconnect()
    await Promise.all(
      workers.map(
        ({ process: worker }) =>
          worker &&
          worker.exitCode === null &&
          new Promise((resolve) => {
            worker.once('exit', resolve)
          }),
      ),
    )
  }
  return workers.map(({ way, inFlight, count, told }) => ({
    way,
    inFlight,
    rate: median(told.map(({ seconds }) => count / seconds)),
    cpu: median(told.map(({ cpu }) => cpu)),
    memory: Math.max(...told.map(({ memory }) => memory)),
  }))
}

function answer(worker) {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker
      .removeAllListeners('exit')
      .once('exit', (status) => reject(new Error(`a worker ended with ${status}`)))
  })
}

function installRestate() {
  if (existsSync(join(packages, 'node_modules'))) return
  if (
    spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: packages,
      stdio: ['ignore', 2, 2],
    }).status !== 0
  )
    throw new Error('Restate could not be installed; is the npm registry reachable?')
}

// Each in a process of its own, as somebody who lists has.
function lists() {
  const found = [1000, 10_000].map((count) => {
    const folder = join(place, `list-${count}`)
    mkdirSync(folder)
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [here('workflow/list.mjs'), folder, String(count), String(rounds)],
      { env, encoding: 'utf8' },
    )
    if (status !== 0) throw new Error(stderr)
    return { count, ...JSON.parse(stdout) }
  })
  console.log(
    `${formatTable([['', 'ms', 'reading the index, ms', '×'], ...found.map(({ count, list, read }) => [`a list of ${count} finished workflows`, list.toFixed(1), read.toFixed(1), (list / read).toFixed(2)])])}\n`,
  )
  const [small, large] = found
  judge(
    'a list of 10,000',
    large.list / large.read,
    2,
    'of reading and parsing the index file',
    true,
  )
  judge('a list of 10,000, of ten lists of 1,000', large.list / (10 * small.list), 1.5, '×', true)
}

function median(list) {
  return [...list].sort((left, right) => left - right)[Math.floor(list.length / 2)]
}

function judge(what, found, wanted, of, atMost) {
  console.log(
    `${(atMost ? found <= wanted : found >= wanted) ? 'reached' : 'MISSED '}  ${what}: ${found.toFixed(2)} ${of}, wanted at ${atMost ? 'most' : 'least'} ${wanted}`,
  )
}
