import { expect, test } from 'vitest'
import { DIALECT_NAMES } from '../../../src/protocol/dialects/dialects.ts'
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

const simple = await loadDialectWriter('simple')
const native = await loadDialectWriter('native')

test('simple: the bare result, or the message and the code', () => {
  expect(simple.outcome(success({ result: 'success', data: 'default' }), context)).toEqual([
    { result: 'success', data: 'default' },
  ])
  expect(simple.outcome(success(undefined), context)).toEqual([null])
  expect(
    JSON.stringify(simple.outcome(failure('INVALID_INPUT', 'Unknown action: x'), context)[0]),
  ).toBe('{"error":"Unknown action: x","code":"INVALID_INPUT"}')
})

test('simple: nothing but one document', () => {
  expect(simple.streamEnd(partial, context)).toEqual([partial.result])
  expect([
    simple.start(context),
    simple.heartbeat(context),
    simple.event({ type: 'item', value: 1 }, context),
    simple.question({ id: '1', kind: 'confirm', prompt: '?' }, context),
    simple.errorLine(noFiles.error),
  ]).toEqual([undefined, undefined, undefined, undefined, undefined])
})

test('simple, there and back: a result is no envelope; lost of a failure: all but message and code', () => {
  expect(
    readOutcome(overTheWire(simple.outcome(success({ a: 1 }), context)[0]), readContext),
  ).toBeUndefined()
  expect(readOutcome(overTheWire(simple.outcome(noFiles, context)[0]), readContext)).toEqual({
    ok: false,
    status: 'error',
    error: {
      code: 'NOT_FOUND',
      category: 'state',
      message: noFiles.error.message,
      recoverable: true,
      retryable: false,
    },
    meta: { tool: 'find_files', duration_ms: 0 },
  })
})

test('native: the envelope, there and back without loss', () => {
  const full = {
    ...meta,
    dry_run: true as const,
    warnings: ['w'],
    truncated: true as const,
    next_cursor: 'c',
    caller: 'ci',
    run_id: 'r',
    artifacts: [{ name: 'a', uri: 'file:///a', sha256: 'x' }],
  }
  const repaired = failure('E3101', 'x', {
    category: 'input',
    retryable: true,
    recoverable: false,
    field: 'a',
    details: { code: 'ENOENT' },
    suggestion: { fix: 'f', input: { a: 1 }, action: 'abort', applicability: 'machine_applicable' },
  })
  const outcomes = [
    success({ status: 'active' }),
    { ...success([1]), message: 'm', hidden: true as const, meta: full },
    partial,
    noFiles,
    repaired,
    { ...noFiles, errors: partial.errors, summary: partial.summary },
  ]
  for (const outcome of outcomes) {
    expect(native.outcome(outcome, context)).toEqual([outcome])
    expect(readOutcome(overTheWire(outcome), readContext)).toEqual(outcome)
    expect(native.streamEnd(outcome, context)).toEqual([{ type: 'result', ...outcome }])
    expect(readOutcome(overTheWire(native.streamEnd(outcome, context)[0]), readContext)).toEqual(
      outcome,
    )
  }
})

test('native: events as they are, errors on stderr too', () => {
  expect(native.event({ type: 'log', level: 'info', message: 'm' }, context)).toEqual({
    type: 'log',
    level: 'info',
    message: 'm',
  })
  expect(native.errorLine(noFiles.error)).toEqual({ error: noFiles.error })
  expect(native.question({ id: 'q', kind: 'confirm', prompt: 'Sure?' }, context)).toEqual({
    type: 'action_required',
    id: 'q',
    kind: 'confirm',
    prompt: 'Sure?',
  })
})

test('the names of the dialects', () => {
  expect(DIALECT_NAMES).toEqual(['native', 'toolable', 'tooli', 'acor', 'simple'])
})
