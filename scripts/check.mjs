// `npm test`: types and lint beside the fast tests.
// `npm run test:slow`: slow tests, built programs, recorded requests, the recipes of CONTRIBUTING.md,
// and every supported version of Node.
// `npm run test:soak`: random and long series with many more rounds than CI has time for.
// `npm run coverage`: fast and slow tests, and which lines of src/ they ran. Separate, because
// counting makes every program start half as slow again.
import { appendFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rawFolder, reportCoverage } from './coverage.mjs'
import { runStep } from './run-step.mjs'
import { runTests } from './run-tests.mjs'
import { testBuiltPrograms } from './test-built.mjs'
import { testNodeVersions } from './test-node-versions.mjs'
import { testRecipes } from './test-recipes.mjs'

const SUITES = { fast: testFast, slow: testSlow, soak: testSoak, coverage: testCoverage }
// Types of the tests are checked by scripts/lint-and-types.mjs.
const CHECKED = { TYPES_ARE_CHECKED: 'yes' }

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
// Vitest writes colours into a pipe too.
if (!process.stdout.isTTY) process.env.NO_COLOR = '1'

const counts = await SUITES[process.argv[2] ?? 'fast']()
const passed = counts.reduce((sum, count) => sum + count.passed, 0)
const failed = counts.reduce((sum, count) => sum + count.failed, 0)
// .ci/run adds up what the suites counted.
if (process.env.TEST_COUNTS) appendFileSync(process.env.TEST_COUNTS, `${passed} ${failed}\n`)
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)

async function testFast() {
  const abort = new AbortController()
  const tests = runTests('fast tests', ['--project', 'fast'], {
    environment: CHECKED,
    signal: abort.signal,
  })
  const lint = await check('types and lint', [
    '--max-semi-space-size=64',
    'scripts/lint-and-types.mjs',
  ])
  if (lint.failed > 0) abort.abort()
  return [lint, await tests]
}

async function testSlow() {
  const slow = await runTests('slow tests', ['--project', 'slow'], { environment: CHECKED })
  const built = await testBuiltPrograms()
  const recorded = await check('recorded requests', ['scripts/replay.mjs'])
  return [slow, built, recorded, await testRecipes(), await testNodeVersions()]
}

// Every series with a number of rounds, with many more of them, and with other numbers each time.
async function testSoak() {
  const { TEST_SOAK = '25', TEST_SEED = 'random' } = process.env
  return [await runTests('soak tests', [], { environment: { ...CHECKED, TEST_SOAK, TEST_SEED } })]
}

async function testCoverage() {
  rmSync('coverage', { recursive: true, force: true })
  const tests = await runTests('tests', ['--project', 'fast', '--project', 'slow'], {
    environment: { ...CHECKED, NODE_V8_COVERAGE: rawFolder },
  })
  const status = await reportCoverage((name, argv) =>
    runStep(name, ['node_modules/c8/bin/c8.js', ...argv]),
  )
  return [tests, { passed: status === 0 ? 1 : 0, failed: status === 0 ? 0 : 1 }]
}

/** A step that is not made of tests counts as one. */
async function check(name, argv) {
  const status = await runStep(name, argv)
  return { passed: status === 0 ? 1 : 0, failed: status === 0 ? 0 : 1 }
}
