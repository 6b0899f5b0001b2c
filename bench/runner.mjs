// `npm run bench runner [rounds]`: what it costs to run a tool on record: a flood of events beside
// a bare reader, a start beside a bare spawn and a bare bubblewrap, and 500 runs at once.
import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { registry, runner } from 'toolable'
import { formatTable } from './measure.mjs'

const rounds = Number(process.argv[3] ?? 5)
if (!Number.isInteger(rounds) || rounds < 1)
  throw new Error(`rounds must be a whole number, not ${process.argv[3]}`)
const EVENTS = 300_000
const AT_ONCE = 500
const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const project = mkdtempSync(join(tmpdir(), 'toolable-bench-'))
const env = { PATH: process.env.PATH, HOME: project }

try {
  addTool('flood', here('runner/flood.py'), 'py', 'protocol_version: 1\n')
  writeFileSync(join(project, 'quick.sh'), '#!/bin/sh\necho "$1"\n')
  addTool('quick', join(project, 'quick.sh'), 'sh', '')
  console.log(`runs, node ${process.versions.node}, ${rounds} rounds, interleaved\n`)
  await flood()
  starts()
  await crowd()
} finally {
  rmSync(project, { recursive: true, force: true })
}

function addTool(name, file, extension, more) {
  mkdirSync(join(project, 'tools', 'registry', name), { recursive: true })
  mkdirSync(join(project, 'tools', name))
  copyFileSync(file, join(project, 'tools', name, `cli.${extension}`))
  chmodSync(join(project, 'tools', name, `cli.${extension}`), 0o755)
  writeFileSync(
    join(project, 'tools', 'registry', name, 'tool.yaml'),
    `name: ${name}\nversion: 1.0.0\nentry: cli.${extension}\n${more}`,
  )
}

async function flood() {
  const found = { bare: [], ours: [], memory: [] }
  for (let round = 0; round < rounds; round += 1) {
    const bare = JSON.parse(
      spawnSync(
        process.execPath,
        [here('runner/bare-reader.mjs'), here('runner/flood.py'), String(EVENTS)],
        { env, encoding: 'utf8' },
      ).stdout,
    )
    found.bare.push(bare.events / bare.seconds)
    const { seconds, peak } = await record()
    found.ours.push(EVENTS / seconds)
    found.memory.push(peak)
  }
  const [bare, ours] = [median(found.bare), median(found.ours)]
  console.log(
    `${formatTable([
      [`${EVENTS} events`, 'events/s'],
      ['a bare node that splits and parses them', bare.toFixed(0)],
      ['toolable run: validated, stamped, on disk, mirrored to a file', ours.toFixed(0)],
    ])}`,
  )
  judge('persisted events', ours / bare, 0.3, 'of the bare reader', false)
  judge('peak memory of the runner', Math.max(...found.memory), 200, 'MB', true)
  console.log()
}

// The time of the run itself, as its record tells it; the start of our own process is measured
// below.
async function record() {
  const child = spawn(process.execPath, [here('../dist/bin.js'), 'run', 'flood', String(EVENTS)], {
    cwd: project,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  let peak = 0
  const look = setInterval(() => {
    peak = Math.max(peak, residentMb(child.pid))
  }, 50)
  const status = await new Promise((resolve) => child.once('exit', resolve))
  clearInterval(look)
  const runs = join(project, '.runs')
  const [id] = readdirSync(runs).filter((name) => name.startsWith('r-'))
  const last = JSON.parse(
    readFileSync(join(runs, id, 'events.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .at(-1),
  )
  rmSync(runs, { recursive: true })
  if (status !== 0 || last.seq !== EVENTS + 3)
    throw new Error(`the run ended with ${status} after ${last.seq} events`)
  return { seconds: last.duration_s, peak }
}

function residentMb(pid) {
  try {
    return (
      Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) /
      1024
    )
  } catch {
    return 0
  }
}

function starts() {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [here('runner/start-cost.mjs'), String(rounds * 8)],
    { env, encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(stderr)
  const found = JSON.parse(stdout)
  const rows = Object.entries(found).map(([name, times]) => [
    name,
    median(times).toFixed(1),
    Math.min(...times).toFixed(1),
  ])
  console.log(formatTable([['starting true', 'median ms', 'least ms'], ...rows]))
  console.log(
    `added by level 1: ${(median(found['level 1']) - median(found['bare spawn'])).toFixed(1)} ms`,
  )
  judge(
    'level 3',
    median(found['level 3']) / median(found['bare bwrap']),
    2,
    '× a bare bwrap of the same namespaces',
    true,
  )
  console.log()
}

async function crowd() {
  const tools = await registry({ folders: [join(project, 'tools')], cache: false, env })
  const runs = runner({ registry: tools, cwd: project, env })
  const began = performance.now()
  const handles = await Promise.all(
    Array.from({ length: AT_ONCE }, (_, index) => runs.start('quick', { args: [String(index)] })),
  )
  const ends = await Promise.all(handles.map(({ done }) => done))
  const seconds = (performance.now() - began) / 1000
  const right = ends.filter(
    ({ state, result }, index) =>
      state === 'completed' && String(result?.result ?? result) === String(index),
  ).length
  await runs.close()
  await tools.close()
  console.log(
    `${AT_ONCE} runs at once, each in a sandbox of its own: ${right} of ${AT_ONCE} with their own answer, ${seconds.toFixed(1)} s, ${((seconds * 1000) / AT_ONCE).toFixed(1)} ms each, ${(process.memoryUsage.rss() / 2 ** 20).toFixed(0)} MB`,
  )
}

function median(list) {
  return [...list].sort((left, right) => left - right)[Math.floor(list.length / 2)]
}

function judge(what, found, wanted, unit, most) {
  console.log(
    `${(most ? found <= wanted : found >= wanted) ? 'reached' : 'MISSED '}  ${what}: ${found.toFixed(2)} ${unit}, wanted at ${most ? 'most' : 'least'} ${wanted}`,
  )
}
