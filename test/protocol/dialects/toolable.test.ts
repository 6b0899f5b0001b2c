import { describe, expect, test } from 'vitest'
import { ERROR_TABLE } from '../../../src/protocol/errors.ts'
import { loadDialectWriter } from '../../../src/protocol/output.ts'
import { readOutcome } from '../../../src/protocol/dialects/read-outcome.ts'
import type { Outcome } from '../../../src/protocol/outcome.ts'
import {
  context,
  failure,
  noFiles,
  overTheWire,
  partial,
  readContext,
  success,
} from './outcomes.ts'

const writer = await loadDialectWriter('toolable')
const write = (outcome: Outcome) => JSON.stringify(writer.outcome(outcome, context)[0])
const SEED_CODES = [
  'INVALID_INPUT',
  'MISSING_PARAM',
  'INVALID_PATH',
  'NOT_FOUND',
  'CONFLICT',
  'PRECONDITION',
  'TIMEOUT',
  'PERMISSION',
  'INTERNAL',
  'DEPENDENCY',
]

describe('the specification’s own forms', () => {
  test('success', () => {
    expect(write(success({ sum: 3 }))).toBe('{"status":"success","result":{"sum":3}}')
  })

  test.each([
    [5, '5'],
    ['text', '"text"'],
    [null, 'null'],
    [[1, 2], '[1,2]'],
    [false, 'false'],
  ])('the value %j is wrapped', (value, json) => {
    expect(write(success(value))).toBe(`{"status":"success","result":{"result":${json}}}`)
  })

  test('an object with a status of its own is a result', () => {
    expect(write(success({ status: 'active' }))).toBe(
      '{"status":"success","result":{"status":"active"}}',
    )
  })

  test('a finished dialogue has no result', () => {
    expect(write(success(undefined))).toBe('{"status":"success"}')
  })

  test('error', () => {
    expect(write(failure('NOT_FOUND', 'Unknown command: x'))).toBe(
      '{"status":"error","error":{"code":"NOT_FOUND","message":"Unknown command: x","recoverable":true}}',
    )
    expect(write(failure('INTERNAL', 'boom'))).toBe(
      '{"status":"error","error":{"code":"INTERNAL","message":"boom","recoverable":false}}',
    )
  })

  test('suggestion is text, details are the context', () => {
    expect(JSON.parse(write(noFiles))).toEqual({
      status: 'error',
      error: {
        code: 'NOT_FOUND',
        message: "No files matched pattern '*.rs' in /project/src",
        recoverable: true,
        suggestion: "The directory contains .py files. Try pattern '*.py' instead.",
        context: {
          pattern: '*.rs',
          root: '/project/src',
          available_extensions: ['.py', '.txt', '.md'],
        },
      },
    })
  })

  test('partial', () => {
    expect(write(partial)).toBe(
      '{"status":"partial","result":{"files":["a","b"]},"summary":{"total":3,"succeeded":2,"failed":1,"recoverable_failures":1},"errors":[{"code":"NOT_FOUND","message":"No file c","recoverable":true}]}',
    )
  })

  test('a failure of every part keeps its list', () => {
    const outcome = {
      ...failure('NOT_FOUND', 'Nothing worked'),
      errors: partial.errors,
      summary: partial.summary,
    }
    expect(Object.keys(JSON.parse(write(outcome)))).toEqual([
      'status',
      'error',
      'summary',
      'errors',
    ])
  })

  test('a stream ends in a result event', () => {
    expect(writer.streamEnd(success({ a: 1 }), context)).toEqual([
      { type: 'result', status: 'success', result: { a: 1 } },
    ])
    expect(writer.event({ type: 'progress', message: 'half', percent: 50 }, context)).toEqual({
      type: 'progress',
      message: 'half',
      percent: 50,
    })
    expect(writer.alwaysStreams).toBe(false)
    expect(writer.start(context)).toBeUndefined()
  })

  test('a request for a completion', () => {
    const line = writer.question(
      {
        id: 'ab12cd34',
        kind: 'sample',
        prompt: 'Summarise',
        sampling: { max_tokens: 1000, system: 'Be short' },
      },
      context,
    )
    expect(JSON.stringify(line)).toBe(
      '{"type":"sample_request","id":"ab12cd34","prompt":"Summarise","max_tokens":1000,"system":"Be short"}',
    )
  })

  test('a question waits for input', () => {
    expect(writer.question({ id: 'q1', kind: 'input', prompt: 'Name?' }, context)).toEqual({
      type: 'awaiting_input',
      id: 'q1',
      kind: 'input',
      prompt: 'Name?',
    })
  })
})

test.each(Object.keys(ERROR_TABLE))(
  '%s is one of the ten codes, and reads back as itself',
  (code) => {
    const document = writer.outcome(failure(code, 'why'), context)[0] as { error: { code: string } }
    expect(SEED_CODES).toContain(document.error.code)
    if (SEED_CODES.includes(code)) expect(document.error.code).toBe(code)
    expect(readOutcome(overTheWire(document), readContext)).toMatchObject({
      ok: false,
      error: { code, message: 'why' },
    })
  },
)

test.each([
  ['E1101', 'INVALID_INPUT'],
  ['E2101', 'PERMISSION'],
  ['E3101', 'PRECONDITION'],
  ['E4101', 'INTERNAL'],
  ['E5101', 'INTERNAL'],
  ['E_MY_THING', 'INTERNAL'],
])('the tool’s own %s is written as %s and reads back', (code, written) => {
  const document = writer.outcome(failure(code, 'why'), context)[0]
  expect(document).toMatchObject({ error: { code: written, context: { code } } })
  expect(readOutcome(overTheWire(document), readContext)).toMatchObject({ error: { code } })
})

test('a retryable code of its own is a dependency', () => {
  expect(writer.outcome(failure('E4101', 'later', { retryable: true }), context)[0]).toMatchObject({
    error: { code: 'DEPENDENCY', context: { code: 'E4101' } },
  })
})

describe('there and back', () => {
  test('lost: meta; a wrapped value stays wrapped', () => {
    expect(
      readOutcome(overTheWire(writer.outcome(success({ a: 1 }), context)[0]), readContext),
    ).toEqual({
      ok: true,
      status: 'success',
      result: { a: 1 },
      meta: { tool: 'find_files', duration_ms: 0 },
    })
    expect(
      readOutcome(overTheWire(writer.outcome(success(5), context)[0]), readContext),
    ).toMatchObject({ result: { result: 5 } })
  })

  test('lost: all of a suggestion but its text', () => {
    expect(readOutcome(overTheWire(writer.outcome(noFiles, context)[0]), readContext)).toEqual({
      ...noFiles,
      error: {
        ...noFiles.error,
        suggestion: {
          action: 'retry_with_modified_input',
          fix: noFiles.error.suggestion?.fix,
          applicability: 'maybe_incorrect',
        },
      },
      meta: { tool: 'find_files', duration_ms: 0 },
    })
  })

  test('lost: an overruled retryable; kept: field, details and recoverable', () => {
    const outcome = failure('RATE_LIMIT', 'slow', {
      recoverable: true,
      retryable: false,
      field: 'rate',
      details: { per: 'minute' },
    })
    expect(
      readOutcome(overTheWire(writer.outcome(outcome, context)[0]), readContext),
    ).toMatchObject({ error: { ...outcome.error, retryable: true } })
  })

  test('partial', () => {
    expect(readOutcome(overTheWire(writer.outcome(partial, context)[0]), readContext)).toEqual({
      ...partial,
      meta: { tool: 'find_files', duration_ms: 0 },
    })
  })

  test('stream end', () => {
    expect(
      readOutcome(overTheWire(writer.streamEnd(partial, context)[0]), readContext),
    ).toMatchObject({ status: 'partial', summary: partial.summary })
  })
})
