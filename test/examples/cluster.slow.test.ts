import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import '../support/without-coverage.ts'

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url))

test('the cluster loses a node and a worker, and its workflow ends as if nothing had happened [9.restate-workers]', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      path('examples/cluster/cluster.mjs'),
      path('test/workflow/restate/packages'),
      path('dist/bin.js'),
    ],
    { encoding: 'utf8', timeout: 240_000, env: { PATH: process.env['PATH'] } },
  )
  expect([status, stderr]).toEqual([0, ''])
  expect(stdout).toBe(`three nodes are up
two workers are registered
the first text is counted
node 1 was killed
worker 1 was killed
the workflow ended with status 0: [1,2,3,4,5,6]
`)
}, 300_000)
