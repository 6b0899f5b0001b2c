import { expect, test } from 'vitest'
import { readHelp } from '../../src/registry/help/read-help.ts'
import type { Score, Truth } from './help/score.ts'
import { scoreOf, totalOf } from './help/score.ts'
import { argparseTruths, fishTruth, gitTruths, inTurn, opensslTruths } from './help/truths.ts'

// These read part of their command line by hand, and tell the completion scripts only about the
// rest.
const TELL_A_PART = new Set(
  [
    'annotate',
    'archive',
    'diff',
    'diff-files',
    'diff-index',
    'diff-tree',
    'rev-list',
    'rev-parse',
  ].map((name) => `git ${name}`),
)
const MODULES =
  'ast calendar compileall dis doctest ensurepip gzip http.server inspect json.tool pickle pickletools py_compile tarfile tokenize trace unittest venv zipapp zipfile'.split(
    ' ',
  )
const PIP = [
  'install',
  'download',
  'uninstall',
  'freeze',
  'list',
  'show',
  'wheel',
  'hash',
  'index',
  'config',
]
const OPENSSL = [
  'x509',
  'req',
  's_client',
  'enc',
  'genrsa',
  'dgst',
  'verify',
  'pkcs12',
  'ca',
  'rand',
]
const FISH =
  'tar curl grep find ls rsync ssh jq cp mv rm du df uniq cat head tail wc cut stat date mkdir gzip sed chown ln'.split(
    ' ',
  )

test('[6.help-exact] the flags of git, argparse, pip and openssl, against what the programs know themselves', async () => {
  const git = (await gitTruths()).filter(({ program }) => !TELL_A_PART.has(program))
  const python = await argparseTruths([...MODULES, 'pip', ...PIP.map((name) => `pip ${name}`)])
  const openssl = await opensslTruths(OPENSSL)
  const scores = [
    // git tells its long flags only.
    ...git.map((truth) => score(truth, (name) => name.startsWith('--'))),
    ...python.map((truth) => score(truth, () => true)),
    ...openssl.map((truth) => score(truth, (name) => name.length > 2 && !name.startsWith('--'))),
  ]
  const { recall, precision, values, printed } = show(scores)
  expect(printed).toBeGreaterThan(1800)
  expect(recall).toBeGreaterThanOrEqual(0.98)
  expect(precision).toBeGreaterThanOrEqual(0.99)
  expect(values).toBeGreaterThanOrEqual(0.97)
})

test('[6.help-fish] the flags of common programs, against the completion files of fish', async () => {
  const truths = await inTurn(FISH, (name) =>
    fishTruth(name, name === 'curl' ? ['--help', 'all'] : name === 'ssh' ? [] : ['--help']),
  )
  const { recall, values, printed } = show(truths.map((truth) => score(truth, () => false)))
  expect(printed).toBeGreaterThan(800)
  expect(recall).toBeGreaterThanOrEqual(0.95)
  expect(values).toBeGreaterThanOrEqual(0.92)
})

function score(truth: Truth, isCovered: (name: string) => boolean): Score {
  return scoreOf(truth, readHelp(truth.help), isCovered)
}

/** Prints one line for each program that was not read whole, and the sum. */
function show(scores: readonly Score[]): ReturnType<typeof totalOf> {
  const total = totalOf(scores)
  const lines = scores
    .filter(({ wrong }) => wrong.length > 0)
    .map(
      ({ program, found, printed, right, given, valuesRight, valued, wrong }) =>
        `${program.padEnd(24)} found ${found}/${printed}  right ${right}/${given}  values ${valuesRight}/${valued}  ${wrong.slice(0, 6).join(', ')}`,
    )
  const share = (part: number): string => (100 * part).toFixed(1)
  console.log(
    [
      ...lines,
      `${scores.length} help texts, ${total.printed} flags: recall ${share(total.recall)} %, precision ${share(total.precision)} %, values ${share(total.values)} %`,
    ].join('\n'),
  )
  return total
}
