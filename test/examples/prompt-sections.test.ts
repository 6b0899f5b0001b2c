import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { HANG_MS } from '../support/limits.ts'

test('the help desk opens its skill when it is wanted, and refunds only what was looked up', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [fileURLToPath(new URL('../../examples/prompt-sections/desk.mjs', import.meta.url))],
    { env: { PATH: process.env['PATH'] }, encoding: 'utf8', timeout: HANG_MS },
  )
  expect(stderr).toBe('')
  expect(status).toBe(0)
  expect(stdout.match(/^Tools: .*/gm)).toEqual([
    'Tools: find_order, read_section, open_sections',
    'Tools: find_order, refund, read_skill_file',
  ])
  expect(stdout.match(/^(open_sections|refund|refnd|refunds): .*/gm)).toEqual([
    "open_sections: opened [ 'refunds' ]",
    "refund: PRECONDITION Tool 'refund' requires: find_order",
    'refund: Paid back 40.',
    "refnd: NOT_FOUND there is no tool 'refnd'; did you mean 'refund'?",
    "refunds: [ { number: 'A-17', amount: 40 } ]",
  ])
})
