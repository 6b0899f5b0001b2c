import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { HANG_MS } from '../support/limits.ts'

test('plain functions are a toolset [3.functions-toolset]', () => {
  const cache = mkdtempSync(join(tmpdir(), 'toolable-test-functions-'))
  onTestFinished(() => rmSync(cache, { recursive: true, force: true }))
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [fileURLToPath(new URL('../../examples/functions/functions.mjs', import.meta.url))],
    {
      encoding: 'utf8',
      timeout: HANG_MS,
      env: { PATH: process.env['PATH'], XDG_CACHE_HOME: cache },
    },
  )
  expect([status, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^find_files sum\nsince must be /)
})
