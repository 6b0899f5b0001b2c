import { describe, expect, test } from 'vitest'
import { ERROR_TABLE } from '../../../src/protocol/errors.ts'
import { loadDialectWriter } from '../../../src/protocol/output.ts'
import { readOutcome } from '../../../src/protocol/dialects/read-outcome.ts'
import {
  context,
  failure,
  meta,
  noFiles,
  overTheWire,
  partial,
  readContext,
  success,
} from './outcomes.ts'

const writer = await loadDialectWriter('tooli')

const SEED_EXAMPLE = `{
  "error": {
    "code": "E3001",
    "category": "state",
    "message": "No files matched pattern '*.rs' in /project/src",
    "suggestion": {
      "action": "retry_with_modified_input",
      "fix": "The directory contains .py files. Try pattern '*.py' instead.",
      "example": "find-files '*.py' --root /project/src",
      "applicability": "maybe_incorrect"
    },
    "is_retryable": true,
    "details": {
      "pattern": "*.rs",
      "root": "/project/src",
      "available_extensions": [".py", ".txt", ".md"]
    }
  }
}`

describe('the specification’s own example', () => {
  test('is what stderr carries, key by key', () => {
    expect(JSON.stringify(writer.errorLine(noFiles.error), null, 1)).toBe(
      JSON.stringify(JSON.parse(SEED_EXAMPLE), null, 1),
    )
  })

  test('is read', () => {
    expect(readOutcome(JSON.parse(SEED_EXAMPLE), readContext)).toEqual({
      ...noFiles,
      meta: { tool: 'find_files', duration_ms: 0 },
    })
  })
})

test('success and failure have a meta', () => {
  expect(JSON.stringify(writer.outcome(success([1]), context)[0])).toBe(
    `{"ok":true,"result":[1],"meta":${JSON.stringify(meta)}}`,
  )
  expect(writer.outcome(noFiles, context)[0]).toEqual({
    ok: false,
    error: JSON.parse(SEED_EXAMPLE).error,
    meta,
  })
})

test('is_retryable means either of the two facts', () => {
  const written = (code: string) =>
    (writer.errorLine(failure(code, 'x').error) as { error: { is_retryable: boolean } }).error
      .is_retryable
  expect([written('NOT_FOUND'), written('RATE_LIMIT'), written('INTERNAL')]).toEqual([
    true,
    true,
    false,
  ])
})

test('a repaired input is the example where there is no better one', () => {
  const { error } = failure('INVALID_INPUT', 'x', {
    suggestion: { input: { root: '.' } },
    field: 'root',
  })
  expect(writer.errorLine(error)).toMatchObject({
    error: { code: 'E1000', field: 'root', suggestion: { example: '{"root":"."}' } },
  })
})

test('what failed in part is a warning', () => {
  expect(writer.outcome(partial, context)[0]).toEqual({
    ok: true,
    result: partial.result,
    meta: { ...meta, warnings: ['E3001: No file c'] },
  })
})

test.each(Object.keys(ERROR_TABLE))('%s has a number, and reads back as itself', (code) => {
  const outcome = failure(code, 'why', { field: 'f', details: { a: 1 } })
  const document = writer.outcome(outcome, context)[0] as { error: { code: string } }
  expect(document.error.code).toMatch(/^E[1-5]00\d$/)
  expect(readOutcome(overTheWire(document), readContext)).toEqual(outcome)
})

test.each(['E3101', 'E_MY_THING'])('the tool’s own %s stays', (code) => {
  const outcome = failure(code, 'why', { category: 'state', recoverable: true })
  const document = writer.outcome(outcome, context)[0]
  expect(document).toMatchObject({ error: { code } })
  expect(readOutcome(overTheWire(document), readContext)).toEqual(outcome)
})

describe('there and back', () => {
  test('success keeps everything but the message', () => {
    expect(
      readOutcome(
        overTheWire(writer.outcome({ ...success({ a: 1 }), message: 'Found one' }, context)[0]),
        readContext,
      ),
    ).toEqual(success({ a: 1 }))
  })

  test('lost: that a success was partial', () => {
    expect(readOutcome(overTheWire(writer.outcome(partial, context)[0]), readContext)).toEqual({
      ...success(partial.result),
      meta: { ...meta, warnings: ['E3001: No file c'] },
    })
  })

  test.each([
    [
      { recoverable: false, retryable: false },
      'NOT_FOUND',
      { recoverable: false, retryable: false },
    ],
    [{ recoverable: true }, 'INTERNAL', { recoverable: false, retryable: true }],
    [
      { recoverable: true, suggestion: 'Try y' },
      'INTERNAL',
      { recoverable: true, retryable: false },
    ],
    [{ retryable: true }, 'INTERNAL', { recoverable: false, retryable: true }],
  ])('%j on %s is read as %j', (options, code, facts) => {
    expect(
      readOutcome(
        overTheWire(writer.outcome(failure(code, 'x', options), context)[0]),
        readContext,
      ),
    ).toMatchObject({ error: facts })
  })
})
