// Runs the official conformance suite against a server and reads what it found.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { clientsFolder, newerNode, plainEnvironment } from './newer-node.mjs'

const packageFolder = join(clientsFolder, 'node_modules/@modelcontextprotocol/conformance')

/** Scenarios of extensions that stand in no set of requirements. */
export const extras = [
  'sep-2640-skills-enumeration',
  'sep-2640-skills-manifest',
  'sep-2640-skills-directory',
]

/** Runs what a revision requires; gives each scenario with its checks and whether it counts. */
export async function runRequirements(url, revision) {
  const { server, not_scored: others = [] } = parse(
    readFileSync(join(packageFolder, 'requirements', `${revision}.yaml`), 'utf8'),
  )
  const unscored = others.filter(({ leg }) => leg === 'server').map(({ scenario }) => scenario)
  const found = await runSuite(['--url', url, '--requirements', revision])
  return [
    ...server.map((name) => ({ name, scored: true })),
    ...unscored.map((name) => ({ name, scored: false })),
  ].map((scenario) => judge(scenario, found))
}

/** Runs single scenarios by name. */
export async function runScenarios(url, names) {
  const results = []
  for (const name of names)
    results.push(judge({ name, scored: false }, await runSuite(['--url', url, '--scenario', name])))
  return results
}

/** One line of numbers. */
export function summarise(title, scenarios) {
  const count = (list) => `${list.filter(({ passed }) => passed).length}/${list.length}`
  const checks = scenarios.flatMap((scenario) => scenario.checks)
  const [good, bad, warnings, skipped] = ['SUCCESS', 'FAILURE', 'WARNING', 'SKIPPED'].map(
    (status) => checks.filter((check) => check.status === status).length,
  )
  return `${title}: ${count(scenarios.filter(({ scored }) => scored))} scored, ${count(scenarios.filter(({ scored }) => !scored))} unscored; checks: ${good} passed, ${bad} failed, ${warnings} warnings, ${skipped} skipped`
}

// A scenario that left no results, because it or the suite crashed, has not passed.
function judge(scenario, { checks, output }) {
  const own = checks.get(scenario.name)
  if (!own)
    return {
      ...scenario,
      passed: false,
      checks: [
        {
          id: 'no-results',
          status: 'FAILURE',
          errorMessage: `the suite left no results; it said: ${output.slice(-2000)}`,
        },
      ],
    }
  return { ...scenario, passed: own.every(({ status }) => status !== 'FAILURE'), checks: own }
}

async function runSuite(argv) {
  const folder = mkdtempSync(join(tmpdir(), 'toolable-conformance-'))
  try {
    const child = spawn(
      newerNode,
      [join(packageFolder, 'dist/index.js'), 'server', ...argv, '--output-dir', folder],
      { env: plainEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] },
    )
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text))
    await new Promise((settle, refuse) => child.on('error', refuse).on('close', settle))
    return { checks: readResults(folder), output }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

// The folders are called server-<scenario>-<time>; one without a file belongs to a scenario that
// crashed.
function readResults(folder) {
  const finished = readdirSync(folder).filter((name) =>
    existsSync(join(folder, name, 'checks.json')),
  )
  return new Map(
    finished.map((name) => [
      /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(name)?.[1],
      JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')),
    ]),
  )
}
