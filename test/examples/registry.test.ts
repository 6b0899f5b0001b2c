import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { HANG_MS } from '../support/limits.ts'

test('the host of the registry example finds and calls tools in four languages', () => {
  const home = mkdtempSync(join(tmpdir(), 'toolable-example-'))
  try {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [fileURLToPath(new URL('../../examples/registry/host.mjs', import.meta.url))],
      { env: { PATH: process.env['PATH'], HOME: home }, encoding: 'utf8', timeout: HANG_MS },
    )
    expect(stderr).toBe('')
    expect(status).toBe(0)
    for (const line of [
      'local.shout: Say it loudly',
      'tools.slugify:',
      'tools.today:',
      'text.count_words:',
      'words: 6',
      "NOT_FOUND no line contains 'question' - Try a shorter word",
      '{"slug":"hello-world"}',
    ])
      expect(stdout).toContain(line)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
})
