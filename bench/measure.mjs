// Starts programs and times them from spawn to the end of their output and their exit.
import { spawn, spawnSync } from 'node:child_process'

// Node 20 reads NODE_EXTRA_CA_CERTS at every start, which costs more than the start itself; nothing
// else is handed down either.
// V8 decides by its clock what to compile and when to collect garbage, so that counts differ by
// some per cent; the least is the work itself.
const COUNTS = 3
const environment = { PATH: process.env.PATH, HOME: process.env.HOME }

/**
 * Times each case `repetitions` times, interleaved in a new shuffled order in each round, after one
 * round that does not count.
 * A case is {key, argv, node?, environment?, expect}; it throws when a program does not exit with 0
 * or does not print what it should.
 */
export async function measureAll(cases, repetitions) {
  const times = new Map(cases.map(({ key }) => [key, []]))
  for (let round = -1; round < repetitions; round += 1) {
    for (const entry of shuffle(cases)) {
      const milliseconds = await timeOne(entry)
      if (round >= 0) times.get(entry.key).push(milliseconds)
    }
    if (process.stderr.isTTY) process.stderr.write(`\rround ${round + 1} of ${repetitions} `)
  }
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
  return new Map([...times].map(([key, list]) => [key, summarise(list)]))
}

/**
 * How many instructions each case takes at least, by callgrind: they hardly depend on what else the
 * machine does. Undefined where there is no valgrind.
 */
export function countInstructions(cases) {
  if (spawnSync('valgrind', ['--version']).status !== 0) return undefined
  return new Map(
    cases.map((one) => [
      one.key,
      Math.min(...Array.from({ length: COUNTS }, () => countOnce(one))),
    ]),
  )
}

function countOnce({ key, argv, node = process.execPath, environment: extra = {} }) {
  // Into a pipe, as programs ask: at a device a shell leaves help to node.
  const { stderr } = spawnSync(
    'valgrind',
    ['--tool=callgrind', '--callgrind-out-file=/dev/null', '--trace-children=yes', node, ...argv],
    { env: { ...environment, ...extra }, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const counted = [...stderr.matchAll(/Collected : (\d+)/g)].map(([, count]) => Number(count))
  if (counted.length === 0)
    throw new Error(`${key}: callgrind counted nothing:\n${stderr.slice(-500)}`)
  return counted.reduce((sum, count) => sum + count, 0)
}

/** A table of aligned columns; every column but the first is aligned to the right. */
export function formatTable(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]),
        )
        .join('  '),
    )
    .join('\n')
}

async function timeOne({
  key,
  argv,
  node = process.execPath,
  environment: extra = {},
  expect = '',
}) {
  const begin = process.hrtime.bigint()
  const child = spawn(node, argv, {
    env: { ...environment, ...extra },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
  const status = await new Promise((settle, refuse) =>
    child.on('error', refuse).on('close', settle),
  )
  const milliseconds = Number(process.hrtime.bigint() - begin) / 1e6
  if (status !== 0 || !stdout.includes(expect))
    throw new Error(
      `${key}: exit ${status}, wanted ${JSON.stringify(expect)} in the output:\n${stdout}${stderr}`,
    )
  return milliseconds
}

function summarise(list) {
  const sorted = [...list].sort((left, right) => left - right)
  const middle = Math.floor(sorted.length / 2)
  return {
    median: sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2,
    minimum: sorted[0],
  }
}

/** A copy in another order. */
export function shuffle(list) {
  const result = [...list]
  for (let index = result.length - 1; index > 0; index -= 1) {
    const other = Math.floor(Math.random() * (index + 1))
    ;[result[index], result[other]] = [result[other], result[index]]
  }
  return result
}
