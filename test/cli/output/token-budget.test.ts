import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { Outcome } from '../../../src/protocol/outcome.ts'
import {
  applyTokenBudget,
  createSpillWriter,
  estimateTokens,
} from '../../../src/cli/token-budget.ts'
import { failure, meta, success } from './outcomes.ts'

function budget(result: unknown, maxTokens: number) {
  const spilled: [string, string][] = []
  const outcome = applyTokenBudget(success(result), maxTokens, (name, text) => {
    spilled.push([name, text])
    return `/tmp/a b#/${name}`
  })
  return { outcome, spilled, result: (outcome as Extract<Outcome, { ok: true }>).result }
}

describe('applyTokenBudget', () => {
  test('within the budget nothing changes', () => {
    const outcome = success(['a'])
    expect(applyTokenBudget(outcome, 2, () => expect.unreachable())).toBe(outcome)
    expect(applyTokenBudget(failure, 1, () => expect.unreachable())).toBe(failure)
  })

  test('a list keeps the leading items that fit, and the whole is in a file', () => {
    const items = Array.from({ length: 100 }, (_, index) => ({ index }))
    const { outcome, spilled, result } = budget(items, 20)
    expect(result).toEqual(items.slice(0, 6))
    expect(estimateTokens(result)).toBeLessThanOrEqual(20)
    expect(estimateTokens(items.slice(0, 7))).toBeGreaterThan(20)
    expect(spilled).toEqual([['full-result.json', JSON.stringify(items)]])
    expect(outcome.meta).toEqual({
      ...meta,
      truncated: true,
      warnings: [
        '94 of 100 items left out to stay within the token budget; the full result is in /tmp/a b#/full-result.json',
      ],
      artifacts: [{ name: 'full-result', uri: 'file:///tmp/a%20b%23/full-result.json' }],
    })
  })

  test('of an object the only list is cut', () => {
    const { result } = budget({ total: 50, items: Array.from({ length: 50 }, () => 'item') }, 12)
    expect(result).toEqual({ total: 50, items: ['item', 'item', 'item'] })
  })

  test('not even one item fits', () => {
    expect(budget(['x'.repeat(100)], 5).result).toEqual([])
  })

  test('a string keeps head and tail', () => {
    const { result, spilled } = budget(`HEAD${'"\n'.repeat(500)}TAIL`, 50)
    expect(result).toMatch(/^HEAD["\n]*\n… \d+ characters left out …\n["\n]*TAIL$/)
    expect(estimateTokens(result)).toBeLessThanOrEqual(50)
    expect(spilled).toEqual([['full-result.txt', `HEAD${'"\n'.repeat(500)}TAIL`]])
    const [, count] = /… (\d+) characters/.exec(result as string)!
    expect(
      (result as string).replace(/\n… \d+ characters left out …\n/, '').length + Number(count),
    ).toBe(1008)
  })

  test('no character is cut in two', () => {
    const { result } = budget('😀'.repeat(300), 40)
    expect(/\p{Surrogate}/u.test(result as string)).toBe(false)
  })

  test('anything else becomes a preview', () => {
    const { result } = budget({ a: 'x'.repeat(200), b: { c: 1 } }, 10)
    expect(result).toEqual({ preview: expect.stringMatching(/^{"a":"x+$/) as string })
    expect(estimateTokens(result)).toBeLessThanOrEqual(10)
  })

  test('a disk that is full costs the rest of the result, not the call', () => {
    const outcome = applyTokenBudget(success('x'.repeat(1000)), 30, () => {
      throw new Error('no space left')
    })
    expect(outcome).toMatchObject({
      ok: true,
      meta: {
        truncated: true,
        warnings: [expect.stringContaining('could not be saved: no space left')],
      },
    })
    expect(outcome.meta.artifacts).toBeUndefined()
  })

  test('large results take linear time', () => {
    budget('é'.repeat(3_000_000), 100_000)
    budget(
      Array.from({ length: 200_000 }, (_, index) => ({ index })),
      100_000,
    )
  })
})

test('the real spill is private', () => {
  const parent = mkdtempSync(join(tmpdir(), 'spill-test-'))
  try {
    const outcome = applyTokenBudget(success('x'.repeat(1000)), 1, createSpillWriter(parent))
    const path = fileURLToPath(outcome.meta.artifacts![0]!.uri)
    expect(readFileSync(path, 'utf8')).toBe('x'.repeat(1000))
    expect(path.startsWith(join(parent, 'toolable-'))).toBe(true)
    if (process.platform !== 'win32') {
      expect(statSync(path).mode & 0o777).toBe(0o600)
      expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
    }
    expect(dirname(createSpillWriter(parent)('../../evil', 'x'))).toContain(
      join(parent, 'toolable-'),
    )
  } finally {
    rmSync(parent, { recursive: true })
  }
})
