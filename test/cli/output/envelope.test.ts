import { describe, expect, test } from 'vitest'
import { toEnvelope } from '../../../src/cli/formats/envelope.ts'
import { failure, meta, notFound, partly, renderInput, success } from './outcomes.ts'

describe('toEnvelope', () => {
  test('keys stand in the fixed order whatever order they were built in', () => {
    const built = {
      meta: {
        artifacts: [],
        run_id: 'r',
        caller: 'c',
        next_cursor: 'n',
        truncated: true,
        warnings: [],
        dry_run: true,
        duration_ms: 1,
        version: '1',
        tool: 't',
      } as const,
      hidden: true as const,
      message: 'm',
      result: 1,
      status: 'success' as const,
      ok: true as const,
    }
    const envelope = toEnvelope(built)
    expect(Object.keys(envelope)).toEqual(['ok', 'status', 'result', 'message', 'meta'])
    expect(Object.keys(envelope['meta'] as object)).toEqual([
      'tool',
      'version',
      'duration_ms',
      'dry_run',
      'warnings',
      'truncated',
      'next_cursor',
      'caller',
      'run_id',
      'artifacts',
    ])
  })

  test('the three envelopes of the contract', () => {
    expect(JSON.stringify(toEnvelope(success([1])))).toBe(
      '{"ok":true,"status":"success","result":[1],"meta":{"tool":"files.find","version":"1.2.0","duration_ms":3}}',
    )
    expect(Object.keys(toEnvelope(partly))).toEqual([
      'ok',
      'status',
      'result',
      'errors',
      'summary',
      'meta',
    ])
    expect(Object.keys(toEnvelope(failure))).toEqual(['ok', 'status', 'error', 'meta'])
    expect(Object.keys(toEnvelope(failure)['error'] as object)).toEqual([
      'code',
      'category',
      'message',
      'recoverable',
      'retryable',
      'suggestion',
      'field',
      'details',
    ])
  })

  test('a failed partial outcome keeps its errors and counts', () => {
    const all = {
      ...failure,
      errors: [notFound],
      summary: { total: 1, succeeded: 0, failed: 1, recoverable_failures: 1 },
    }
    expect(Object.keys(toEnvelope(all))).toEqual([
      'ok',
      'status',
      'errors',
      'summary',
      'error',
      'meta',
    ])
  })

  test('a repaired input becomes the example, and stays', () => {
    const { error } = toEnvelope(failure, renderInput) as { error: { suggestion: object } }
    expect(Object.entries(error.suggestion)).toEqual([
      ['action', 'retry_with_modified_input'],
      ['fix', 'Give a folder that exists'],
      ['example', 'prog find --root .'],
      ['input', { root: '.' }],
      ['applicability', 'maybe_incorrect'],
    ])
  })

  test('an example that the author gave wins', () => {
    const given = {
      ...failure,
      error: { ...notFound, suggestion: { ...notFound.suggestion!, example: 'mine' } },
    }
    expect(toEnvelope(given, renderInput)).toMatchObject({
      error: { suggestion: { example: 'mine' } },
    })
  })

  test('null is a result, absent values are none', () => {
    expect(toEnvelope(success(null))).toEqual({ ok: true, status: 'success', result: null, meta })
  })
})
