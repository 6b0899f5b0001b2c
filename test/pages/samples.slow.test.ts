import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { listFences } from '../../scripts/docs/fences.mjs'
import { refreshPage } from '../../scripts/docs/refresh.mjs'
import '../support/without-coverage.ts'
import { pages, root } from './pages.ts'
import { HANG_MS } from '../support/limits.ts'

describe.each(pages)('%s', (file) => {
  const page = readFileSync(join(root, file), 'utf8')
  const fences = listFences(page)

  test('shows the samples and the output of today; `node scripts/generate-docs.mjs` writes them', () => {
    expect(refreshPage(page)).toBe(page)
  })

  test('samples that say so run, and print what stands below them', () => {
    const results = fences.flatMap((fence, index) =>
      fence.words.includes('run') ? [{ fence, expected: fences[index + 1] }] : [],
    )
    for (const { fence, expected } of results) {
      const { status, stdout, stderr } = runModule(fence.body)
      expect(stderr).toBe('')
      expect(status).toBe(0)
      if (expected?.words.includes('printed')) expect(stdout).toBe(expected.body)
    }
  })
})

function runModule(code: string): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: root,
    encoding: 'utf8',
    timeout: HANG_MS,
    env: {
      PATH: process.env['PATH'],
      HOME: '/nonexistent',
      NODE_V8_COVERAGE: process.env['NODE_V8_COVERAGE'] ?? '',
    },
  })
}
