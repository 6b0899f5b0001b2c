// `npm test`: types and lint beside all tests, then the tests of built programs. The first failure decides the exit code.
// `npm run coverage`: the tests alone, and which lines of src/ they ran. Apart, because counting adds half to every start of a program.
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rawFolder, reportCoverage } from './coverage.mjs'
import { runStep } from './run-step.mjs'
import { runTests } from './run-tests.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
// Vitest colours what it writes into a pipe too, and whoever reads a pipe wants words.
if (!process.stdout.isTTY) process.env.NO_COLOR = '1'

process.exit(await (process.argv[2] === 'coverage' ? cover() : check()))

async function check() {
  // Side by side; where the first of them fails, nobody waits for the tests.
  const givenUp = new AbortController()
  const vitest = runTests('vitest', [], {
    environment: { TYPES_ARE_CHECKED: 'yes' },
    signal: givenUp.signal,
  })
  const lint = await runStep('types and lint', [
    '--max-semi-space-size=64',
    'scripts/lint-and-types.mjs',
  ])
  if (lint !== 0) givenUp.abort()
  if ((await vitest) !== 0 || lint !== 0) return 1
  // A built program behaves like its sources: the same tests.
  return runStep('built programs', ['scripts/test-built.mjs'])
}

async function cover() {
  rmSync('coverage', { recursive: true, force: true })
  const vitest = await runTests('vitest', [], {
    environment: { NODE_V8_COVERAGE: rawFolder, TYPES_ARE_CHECKED: 'yes' },
  })
  const covered = await reportCoverage((name, argv) =>
    runStep(name, ['node_modules/c8/bin/c8.js', ...argv]),
  )
  return vitest === 0 && covered === 0 ? 0 : 1
}
