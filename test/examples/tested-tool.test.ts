import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { HANG_MS } from '../support/limits.ts'

test('the tests of the example pass under a test runner that is not ours [2.kit-run-cli]', () => {
  const file = fileURLToPath(new URL('../../examples/tested-tool/tidy.test.mjs', import.meta.url))
  const { status, stdout } = spawnSync(
    process.execPath,
    ['--test', '--test-reporter', 'tap', file],
    {
      encoding: 'utf8',
      timeout: HANG_MS,
      env: { PATH: process.env['PATH'], NODE_V8_COVERAGE: '' },
    },
  )
  expect(stdout).toContain('# pass 6\n')
  expect(stdout).toContain('# fail 0\n')
  expect(status).toBe(0)
})
