// `node scripts/test-node-versions.mjs [major …]`: smoke tests with every supported version of
// Node, against the same dist/.
// Part of `npm run test:slow`. test/node-versions has the versions; they exist for Linux on x64,
// elsewhere only the running one is tested.
import { existsSync } from 'node:fs'
import { delimiter, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runTests } from './run-tests.mjs'

const MAJORS = ['20', '22', '24', '26']
const SMOKE_TESTS = [
  'test/cli/calls.test.ts',
  'test/cli/streams.test.ts',
  'test/mcp/results.test.ts',
  'test/mcp/http.test.ts',
  'test/runner/supervision.test.ts',
  'test/workflow/commands/run.test.ts',
  'test/functions/module.test.ts',
]

/**
 * Runs the smoke tests with each of these major versions; returns how many tests passed and failed.
 */
export async function testNodeVersions(majors = MAJORS) {
  const total = { passed: 0, failed: 0 }
  for (const major of majors) {
    const node = fileURLToPath(
      new URL(`../test/node-versions/node_modules/node${major}/bin/node`, import.meta.url),
    )
    if (!existsSync(node)) {
      const isRunning = process.versions.node.startsWith(`${major}.`)
      console.log(
        `Node ${major}: not installed on ${process.platform}-${process.arch}${isRunning ? '; it runs this suite' : ''}`,
      )
      continue
    }
    // Programs that tests start by `#!/usr/bin/env node` get the same version.
    const environment = {
      TYPES_ARE_CHECKED: 'yes',
      PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
    }
    const { passed, failed } = await runTests(`Node ${major}`, SMOKE_TESTS, { node, environment })
    total.passed += passed
    total.failed += failed
  }
  return total
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.chdir(fileURLToPath(new URL('..', import.meta.url)))
  const { failed } = await testNodeVersions(
    process.argv.length > 2 ? process.argv.slice(2) : MAJORS,
  )
  process.exitCode = failed === 0 ? 0 : 1
}
