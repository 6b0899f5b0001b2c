import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readOutcome } from '../../../src/protocol/dialects/read-outcome.ts'
import { rounds } from '../../support/rounds.ts'

const read = (json: string, exitCode?: number) =>
  readOutcome(JSON.parse(json), { tool: 'x', ...(exitCode !== undefined && { exitCode }) })

describe('results that only look like envelopes', () => {
  test.each([
    '{"status":"active"}',
    '{"status":"success"}',
    '{"status":"error"}',
    '{"status":"error","service":"db"}',
    '{"status":"success","result":"win","points":3}',
    '{"status":"partial","result":1}',
    '{"ok":true}',
    '{"ok":true,"items":[],"meta":{"page":1}}',
    '{"ok":true,"result":[],"meta":{"page":1}}',
    '{"ok":true,"result":1,"extra":2}',
    '{"success":true,"data":1}',
    '{"success":true,"_simple":true}',
    '{"error":null,"data":1}',
    '{"error":""}',
    '{"error":false}',
    '{"error":[]}',
    '{"error":{}}',
    '{"error":0.05,"slope":2}',
    '{"errors":[{"message":"x"}]}',
    '{"type":"result","value":3}',
    '{"result":{"error":"x"}}',
    '{"__proto__":{"error":"x"}}',
    '{}',
    '[]',
    '[{"error":"x"}]',
    '"error"',
    '1',
    'null',
    'true',
  ])('%s', (json) => {
    expect(read(json)).toBeUndefined()
  })
})

describe('[4.dialect-readers] failures in the words of others', () => {
  test.each([
    ['{"error":"message"}', 'INTERNAL', 'message'],
    ['{"error":"message","code":"NOT_FOUND"}', 'NOT_FOUND', 'message'],
    ['{"error":"message","code":"E_RATE_LIMIT"}', 'RATE_LIMIT', 'message'],
    ['{"error":"message","code":"E3101"}', 'E3101', 'message'],
    ['{"error":"message","data":null}', 'INTERNAL', 'message'],
    ['{"error":{"message":"m"}}', 'INTERNAL', 'm'],
    ['{"error":{"code":404,"message":"m"}}', 'INTERNAL', 'm'],
    ['{"error":{"why":"m"}}', 'INTERNAL', 'The tool failed without saying why'],
    ['{"error":{"message":{"a":1}}}', 'INTERNAL', '{"a":1}'],
    ['{"error":true,"message":"m"}', 'INTERNAL', 'm'],
    ['{"success":false}', 'INTERNAL', 'The tool failed without saying why'],
    ['{"success":false,"error":"e"}', 'INTERNAL', 'e'],
    ['{"success":false,"message":"m"}', 'INTERNAL', 'm'],
    ['{"ok":false}', 'INTERNAL', 'The tool failed without saying why'],
    ['{"ok":false,"error":"not_authed"}', 'INTERNAL', 'not_authed'],
    ['{"status":"error","message":"m"}', 'INTERNAL', 'm'],
    ['{"status":"error","error":"e"}', 'INTERNAL', 'e'],
    ['{"status":"error","errors":[{"code":"CONFLICT","message":"a"}]}', 'CONFLICT', 'a'],
    [
      '{"status":"error","result":{"done":[]},"summary":{"total":2,"succeeded":0,"failed":2,"recoverable_failures":1},"errors":[{"code":"CONFLICT","message":"a"},{"message":"b"}]}',
      'CONFLICT',
      '2 failures, the first: a',
    ],
    ['{"ok":true,"result":1,"error":"e"}', 'INTERNAL', 'e'],
  ])('%s', (json, code, message) => {
    for (const exitCode of [undefined, 0, 1])
      expect(read(json, exitCode)).toMatchObject({
        ok: false,
        status: 'error',
        error: { code, message },
        meta: { tool: 'x', duration_ms: 0 },
      })
  })

  test('what has no place of its own is kept', () => {
    expect(read('{"error":"e","message":"m","path":"/a","hint":"h"}')).toMatchObject({
      error: { message: 'e', suggestion: { fix: 'h' }, details: { message: 'm', path: '/a' } },
    })
    expect(read('{"error":{"code":404,"message":"m","errors":[1]}}')).toMatchObject({
      error: { details: { code: 404, errors: [1] } },
    })
    expect(read('{"error":{"message":"m","details":"text","context":[1]}}')).toMatchObject({
      error: { details: { details: 'text', context: [1] } },
    })
  })

  test.each([
    [2, 'INVALID_INPUT'],
    [65, 'INVALID_INPUT'],
    [66, 'NOT_FOUND'],
    [69, 'DEPENDENCY'],
    [75, 'DEPENDENCY'],
    [77, 'PERMISSION'],
    [78, 'CONFIG'],
    [124, 'TIMEOUT'],
    [130, 'CANCELLED'],
    [1, 'INTERNAL'],
    [20, 'INTERNAL'],
  ])('exit status %i without a code means %s', (exitCode, code) => {
    expect(read('{"error":"e"}', exitCode)).toMatchObject({ error: { code } })
    expect(read('{"error":"e","code":"CONFLICT"}', exitCode)).toMatchObject({
      error: { code: 'CONFLICT' },
    })
  })

  test('a code among the details is left alone unless a writer of ours put it there', () => {
    expect(
      read(
        '{"status":"error","error":{"code":"INTERNAL","message":"m","recoverable":false,"context":{"code":"ENOENT"}}}',
      ),
    ).toMatchObject({ error: { code: 'INTERNAL', details: { code: 'ENOENT' } } })
    expect(
      read(
        '{"status":"error","error":{"code":"NOT_FOUND","message":"m","recoverable":true,"context":{"code":"CANCELLED"}}}',
      ),
    ).toMatchObject({ error: { code: 'NOT_FOUND', details: { code: 'CANCELLED' } } })
  })
})

describe('envelopes with pieces missing', () => {
  test('a partial outcome is counted by the first list of its result', () => {
    expect(
      read(
        '{"status":"partial","result":{"n":1,"done":[1,2]},"errors":["bad",{"code":"E1001","message":"m"}]}',
      ),
    ).toMatchObject({
      status: 'partial',
      errors: [
        { code: 'INTERNAL', message: 'bad' },
        { code: 'MISSING_PARAM', message: 'm', recoverable: true },
      ],
      summary: { total: 4, succeeded: 2, failed: 2, recoverable_failures: 1 },
    })
  })

  test('a malformed meta, suggestion or category is put right', () => {
    expect(
      read(
        '{"ok":true,"status":"success","result":1,"meta":{"tool":"t","duration_ms":"3","warnings":[1],"artifacts":[1,{"uri":2}]}}',
      ),
    ).toEqual({ ok: true, status: 'success', result: 1, meta: { tool: 't', duration_ms: 0 } })
    expect(
      read(
        '{"ok":false,"error":{"code":"E3101","category":"odd","message":"m","suggestion":{"fix":"f","action":"run","applicability":1}}}',
      ),
    ).toMatchObject({
      error: {
        category: 'state',
        suggestion: {
          action: 'retry_with_modified_input',
          fix: 'f',
          applicability: 'maybe_incorrect',
        },
      },
    })
  })

  test('null beside a result is no error', () => {
    expect(read('{"ok":true,"result":1,"error":null}')).toMatchObject({ ok: true, result: 1 })
    expect(read('{"status":"success","result":{},"errors":[]}')).toMatchObject({
      ok: true,
      result: {},
    })
  })
})

// Words of the envelopes, so that arbitrary documents come near to being one.
const key = fc.constantFrom(
  'ok',
  'status',
  'result',
  'error',
  'errors',
  'message',
  'msg',
  'code',
  'meta',
  'summary',
  'success',
  'type',
  'v',
  'context',
  'details',
  'suggestion',
  'hint',
  'fix',
  'field',
  'category',
  'is_retryable',
  'artifacts',
  'metrics',
  '__proto__',
  'constructor',
  'other',
)
const leaf = fc.oneof(
  fc.constantFrom(
    'error',
    'success',
    'partial',
    'ok',
    'result',
    'cancelled',
    'E3001',
    'INTERNAL',
    '__proto__',
    1,
    true,
    false,
    null,
  ),
  fc.jsonValue({ maxDepth: 1 }),
)
const { document } = fc.letrec((tie) => ({
  document: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie('document'), { maxLength: 3 }),
    fc
      .array(fc.tuple(key, tie('document')), { maxLength: 6 })
      .map((entries) => Object.fromEntries(entries)),
  ),
}))

test('never throws, and gives a complete outcome or none', () => {
  fc.assert(
    fc.property(
      document,
      fc.option(fc.integer({ min: 0, max: 255 }), { nil: undefined }),
      (value, exitCode) => {
        const outcome = readOutcome(value, {
          tool: 'x',
          ...(exitCode !== undefined && { exitCode }),
        })
        if (outcome === undefined) return
        expect(typeof outcome.meta.tool).toBe('string')
        expect(outcome.meta.duration_ms).toBeGreaterThanOrEqual(0)
        if (outcome.ok) expect(outcome).toHaveProperty('result')
        else
          expect(outcome.error).toMatchObject({
            code: expect.any(String),
            category: expect.stringMatching(/^(input|auth|state|runtime|internal)$/),
            message: expect.any(String),
            recoverable: expect.any(Boolean),
            retryable: expect.any(Boolean),
          })
      },
    ),
    { numRuns: rounds(3000) },
  )
})
