import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { HANG_MS } from '../support/limits.ts'

const demo = fileURLToPath(new URL('../../scripts/demo.mjs', import.meta.url))

test('npm start shows every step, plain in a pipe, ends in the dashboard, and cleans up', () => {
  const temporary = mkdtempSync(join(tmpdir(), 'toolable-test-demo-'))
  onTestFinished(() => rmSync(temporary, { recursive: true, force: true }))
  const { status, stdout, stderr } = spawnSync(process.execPath, [demo], {
    encoding: 'utf8',
    timeout: HANG_MS,
    env: { PATH: process.env['PATH'], TMPDIR: temporary, FORCE_COLOR: '', NODE_V8_COVERAGE: '' },
  })
  expect(stderr).toBe('')
  expect(status).toBe(0)
  expect(stdout.match(/^\$ file-tools .*/gm)).toEqual([
    '$ file-tools --discover',
    '$ file-tools find-files --manifest',
    "$ file-tools find-files '*.js' --root src -o text",
    `$ file-tools find-files '{"pattern":"*.js","root":"src"}'`,
    '$ file-tools index-files --stream',
    "$ file-tools find-files '*.ts' -o json",
    "$ file-tools find-files '*.js'",
    "$ file-tools delete-files '*.tmp' --dry-run -o text",
    "$ file-tools delete-files '*.tmp' -o text",
  ])
  expect(stdout).not.toContain('\u001b')
  // It ends in the dashboard, when the run that went on is over and the other one has waited long
  // enough.
  expect(stdout).toMatch(
    /The dashboard is at http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43}\n(r-[0-9a-f]{10}) is completed; r-[0-9a-f]{10} waits for an answer, and is cancelled now\.\n/,
  )
  expect(readdirSync(temporary)).toEqual([])
  const folder = /file:\/\/(\/.*weather-[^/]+)\//.exec(stdout)?.[1] ?? ''
  expect(folder).not.toBe('')
  expect(existsSync(folder)).toBe(false)
})
