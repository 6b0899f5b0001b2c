import { describe, expect, test } from 'vitest'
import { ERROR_TABLE } from '../../../src/protocol/errors.ts'
import { PROTOCOL_EVENT_TYPES } from '../../../src/protocol/events.ts'
import { loadDialectWriter } from '../../../src/protocol/output.ts'
import { readOutcome } from '../../../src/protocol/dialects/read-outcome.ts'
import { context, failure, meta, overTheWire, partial, readContext, success } from './outcomes.ts'

const writer = await loadDialectWriter('acor')
const step = { ...context, tool: 'analyze' }
const head = '"ts":"2025-08-30T12:34:56Z","run_id":"r-123"'
const seedLine = (line: string) => line.replace('"ts":"...","run_id":"..."', head)

describe('the lines of the specification', () => {
  test.each([
    [
      '{"v":1,"type":"start","ts":"...","run_id":"...","step":"analyze","args":{"input":"data.json"}}',
      () => writer.start(step),
    ],
    [
      '{"v":1,"type":"progress","ts":"...","run_id":"...","step":"analyze","pct":37.5,"msg":"Reading shard 3/8"}',
      () => writer.event({ type: 'progress', message: 'Reading shard 3/8', percent: 37.5 }, step),
    ],
    [
      '{"v":1,"type":"heartbeat","ts":"...","run_id":"...","step":"analyze"}',
      () => writer.heartbeat(step),
    ],
    [
      '{"v":1,"type":"error","ts":"...","run_id":"...","code":"E_INPUT_NOT_FOUND","msg":"data.json not found","hint":"Check path or mount","retryable":false}',
      () =>
        writer.outcome(
          failure('NOT_FOUND', 'data.json not found', { suggestion: 'Check path or mount' }),
          step,
        )[0],
    ],
    [
      '{"v":1,"type":"cancelled","ts":"...","run_id":"...","reason":"cancel-file"}',
      () => writer.outcome(failure('CANCELLED', 'cancel-file'), step)[0],
    ],
    [
      '{"v":1,"type":"log","ts":"...","run_id":"...","level":"info","msg":"Validated schema v2.1"}',
      () => writer.event({ type: 'log', level: 'info', message: 'Validated schema v2.1' }, step),
    ],
  ])('%s', (line, written) => {
    expect(JSON.stringify(written())).toBe(seedLine(line))
  })

  test('result, with its artifacts and metrics', () => {
    const outcome = {
      ...success({ rows: 42017 }),
      meta: { ...meta, artifacts: [{ name: 'report', uri: './out/report.json', sha256: 'ab12' }] },
    }
    expect(JSON.stringify(writer.streamEnd(outcome, step)[0])).toBe(
      `{"v":1,"type":"result",${head},"status":"ok","result":{"rows":42017},"artifacts":[{"path":"./out/report.json","sha256":"ab12"}],"metrics":{"duration_s":12.4}}`,
    )
  })

  test('action_required', () => {
    const line = writer.question(
      {
        id: 'q1',
        kind: 'decision',
        prompt: 'Which strategy?',
        options: [{ value: 'all' }, { value: 'none' }],
      },
      step,
    )
    expect(JSON.stringify(line)).toBe(
      `{"v":1,"type":"action_required",${head},"action":"decision","context":{"id":"q1","prompt":"Which strategy?","options":[{"value":"all"},{"value":"none"}]}}`,
    )
    expect(
      writer.question(
        { id: 's1', kind: 'sample', prompt: 'Sum up', sampling: { max_tokens: 10 } },
        step,
      ),
    ).toMatchObject({ action: 'sample', context: { id: 's1', prompt: 'Sum up', max_tokens: 10 } })
  })
})

test('every call is a stream, and stderr is left to people', () => {
  expect(writer.alwaysStreams).toBe(true)
  expect(writer.errorLine(failure('INTERNAL', 'x').error)).toBeUndefined()
})

test('lines beyond the seed are of known types', () => {
  const lines = [
    writer.event({ type: 'artifact', name: 'a', uri: 'file:///a' }, step),
    writer.event({ type: 'item', value: 1 }, step),
    writer.event({ type: 'session_start', message: 'Hello', prompt: '> ' }, step),
    writer.event({ type: 'awaiting_input', prompt: '> ' }, step),
  ] as { type: string }[]
  expect(lines.map(({ type }) => type)).toEqual([
    'artifact',
    'item',
    'action_required',
    'action_required',
  ])
  for (const { type } of lines) expect(PROTOCOL_EVENT_TYPES).toContain(type)
  expect(writer.event({ type: 'session_end', status: 'success' }, step)).toBeUndefined()
})

test('progress without a known percentage claims none', () => {
  expect(writer.event({ type: 'progress', message: 'Working' }, step)).not.toHaveProperty('pct')
})

test('trace id, file addresses, odd inputs', () => {
  expect(writer.start({ ...step, traceId: 't-abc', input: 'text' })).toEqual({
    v: 1,
    type: 'start',
    ts: '2025-08-30T12:34:56Z',
    run_id: 'r-123',
    trace_id: 't-abc',
    step: 'analyze',
    args: {},
  })
  const artifacts = ['file:///tmp/a%20b.txt', 'https://example.com/a', 'file://other%host/x'].map(
    (uri) => ({ name: 'a', uri }),
  )
  const [end] = writer.outcome({ ...success(null), meta: { ...meta, artifacts } }, step) as [
    { artifacts: object[] },
  ]
  expect(end.artifacts.slice(1)).toEqual([
    { path: 'https://example.com/a' },
    { path: 'file://other%host/x' },
  ])
  expect(end.artifacts[0]).toEqual({
    path: process.platform === 'win32' ? 'file:///tmp/a%20b.txt' : '/tmp/a b.txt',
  })
})

test.each(Object.keys(ERROR_TABLE).filter((code) => code !== 'CANCELLED'))(
  '%s has a protocol name, and reads back as itself',
  (code) => {
    const outcome = failure(code, 'why', { field: 'f', details: { a: 1 } })
    const line = writer.outcome(outcome, context)[0] as { code: string; retryable: boolean }
    expect(line.code).toMatch(/^E_[A-Z_]+$/)
    expect(line.retryable).toBe(outcome.error.retryable)
    expect(readOutcome(overTheWire(line), readContext)).toEqual({
      ...outcome,
      meta: { tool: 'find_files', duration_ms: 0, run_id: 'r-123' },
    })
  },
)

describe('there and back', () => {
  const readMeta = { tool: 'find_files', duration_ms: 12_400, run_id: 'r-123' }
  const roundTrip = (outcome: Parameters<typeof writer.outcome>[0]) =>
    readOutcome(overTheWire(writer.outcome(outcome, context)[0]), readContext)

  test('lost: the version and the long tool name', () => {
    expect(roundTrip({ ...success([1]), message: 'One' })).toEqual({
      ...success([1]),
      message: 'One',
      meta: readMeta,
    })
  })

  test('partial', () => {
    expect(roundTrip(partial)).toEqual({ ...partial, meta: readMeta })
  })

  test('lost: the time and the artifacts’ names', () => {
    const outcome = {
      ...success(null),
      meta: { ...meta, artifacts: [{ name: 'report', uri: 'out/r.json', sha256: 'ab' }] },
    }
    expect(roundTrip(outcome)).toMatchObject({
      meta: { artifacts: [{ name: 'r.json', uri: 'out/r.json', sha256: 'ab' }] },
    })
  })

  test('cancelled', () => {
    expect(roundTrip(failure('CANCELLED', 'SIGTERM'))).toMatchObject({
      ok: false,
      error: { code: 'CANCELLED', message: 'SIGTERM' },
    })
  })

  test('a failure of every part', () => {
    const outcome = {
      ...failure('NOT_FOUND', 'Nothing'),
      errors: partial.errors,
      summary: partial.summary,
    }
    expect(roundTrip(outcome)).toMatchObject({
      error: { code: 'NOT_FOUND', message: 'Nothing' },
      errors: partial.errors,
      summary: partial.summary,
    })
  })
})

describe('lines that other tools write', () => {
  test('a result without a result field means its own fields', () => {
    const line = JSON.parse(
      '{"v":1,"type":"result","ts":"...","run_id":"r","status":"ok","artifacts":[{"path":"./out/report.json","sha256":"..."}],"metrics":{"rows":42017,"duration_s":12.4}}',
    )
    expect(readOutcome(line, readContext)).toEqual({
      ok: true,
      status: 'success',
      result: { artifacts: line.artifacts, metrics: line.metrics },
      meta: {
        tool: 'find_files',
        duration_ms: 12_400,
        run_id: 'r',
        artifacts: [{ name: 'report.json', uri: './out/report.json', sha256: '...' }],
      },
    })
  })

  test('the tool decides whether its error may be retried', () => {
    const line = {
      v: 1,
      type: 'error',
      ts: '',
      run_id: 'r',
      code: 'E_UNKNOWN',
      msg: 'Failed a.json',
      hint: 'HTTP 503',
      retryable: true,
    }
    expect(readOutcome(line, readContext)).toMatchObject({
      error: {
        code: 'INTERNAL',
        message: 'Failed a.json',
        retryable: true,
        suggestion: { fix: 'HTTP 503' },
      },
    })
  })

  test('a result that says that it failed', () => {
    expect(
      readOutcome({ v: 1, type: 'result', status: 'error', msg: 'no' }, readContext),
    ).toMatchObject({ ok: false, error: { message: 'no' } })
  })

  test('other lines are no outcome', () => {
    expect(readOutcome({ v: 1, type: 'progress', msg: 'x' }, readContext)).toBeUndefined()
  })
})
