import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const demo = fileURLToPath(new URL('../../scripts/demo.mjs', import.meta.url))

test('npm start shows every step, plain in a pipe, and cleans up', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [demo], { encoding: 'utf8', timeout: 60_000, env: { PATH: process.env['PATH'], FORCE_COLOR: '', NODE_V8_COVERAGE: '' } })
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
  const folder = /file:\/\/(\/.*weather-[^/]+)\//.exec(stdout)?.[1] ?? ''
  expect(folder).not.toBe('')
  expect(existsSync(folder)).toBe(false)
})
