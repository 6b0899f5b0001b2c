import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../../src/protocol/run-state.ts'
import { exportTrace } from '../../../src/runner/trace-export.ts'
import type { OtlpSpan } from '../../../src/runner/trace-export.ts'
import { joinTrace, parseTraceparent } from '../../../src/runner/trace-context.ts'
import { toolable } from '../../commands/support.ts'
import { makeFolder } from '../../support/run-program.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const CALLER = 'b7ad6b7169203331'
const RUN = 'r-0123456789'
const request = {
  v: 1,
  run_id: RUN,
  tool: 'demo.import',
  version: '1.2.0',
  created: '2026-01-02T03:04:05.000Z',
  args: [],
  cwd: '/',
  timeout_s: 1,
  heartbeat_grace_s: 1,
  retries: 0,
  trace_id: TRACE,
  traceparent: `00-${TRACE}-00f067aa0ba902b7-01`,
  parent_span_id: CALLER,
  idempotency_key: RUN,
} as const

let seq = 0
const event = (second: number, type: string, fields: object = {}, attempt = 1): RunEvent => ({
  v: 1,
  type,
  ts: `2026-01-02T03:04:${String(second).padStart(2, '0')}.000Z`,
  run_id: RUN,
  trace_id: TRACE,
  ...fields,
  seq: (seq += 1),
  attempt,
})
const events = [
  event(6, 'runner_start', { level: 'L3' }),
  event(7, 'progress', { pct: 12.5, msg: 'x'.repeat(5000), own: { a: 1 } }),
  event(8, 'error', { code: 'E_TRANSIENT_NET', msg: 'no answer' }),
  event(9, 'runner_end', { state: 'failed', rc: 75 }),
  event(10, 'runner_start', { level: 'L3' }, 2),
  event(11, 'task_submitted', { task_id: 't-1' }, 2),
  event(12, 'task_done', { task_id: 't-1' }, 2),
  event(13, 'task_started', { task_id: 't-2' }, 2),
  event(13, 'action_required', { interaction: { id: 'q1', kind: 'confirm', prompt: 'Go on?' } }, 2),
  event(20, 'runner_log', { answer: { id: 'q1', by: 'terminal', value: true } }, 2),
  event(21, 'result', { status: 'ok' }, 2),
  event(22, 'runner_end', { state: 'completed', rc: 0 }, 2),
]
const spansOf = (traces: {
  readonly resourceSpans: readonly [
    { readonly scopeSpans: readonly [{ readonly spans: readonly OtlpSpan[] }] },
  ]
}): readonly OtlpSpan[] => traces.resourceSpans[0].scopeSpans[0].spans

describe('traceparent', () => {
  test.each([
    ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', true],
    ['cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-comes', true],
    ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00', true],
    ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more', false],
    ['ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', false],
    ['00-00000000000000000000000000000000-b7ad6b7169203331-01', false],
    ['00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01', false],
    ['00-0AF7651916CD43DD8448EB211C80319C-B7AD6B7169203331-01', false],
    ['00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01', false],
    ['', false],
    ['garbage', false],
  ])('[7.traceparent] %s', (text, isValid) => {
    expect(parseTraceparent(text) !== undefined).toBe(isValid)
  })

  test('[7.traceparent] a run goes on with the trace of its caller in a span of its own, and else begins one', () => {
    const joined = joinTrace({ TRACEPARENT: `00-${TRACE}-${CALLER}-00` })
    expect(joined).toEqual({
      trace_id: TRACE,
      traceparent: expect.stringMatching(
        new RegExp(`^00-${TRACE}-(?!${CALLER})[0-9a-f]{16}-00$`),
      ) as string,
      parent_span_id: CALLER,
    })
    expect(joinTrace({ TRACE_ID: 'my-trace' })).toEqual({
      trace_id: 'my-trace',
      traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/) as string,
    })
    const [one, two] = [joinTrace({ TRACEPARENT: 'garbage', TRACE_ID: 'a\nb' }), joinTrace({})]
    for (const { trace_id: id, traceparent } of [one, two])
      expect(parseTraceparent(traceparent)?.traceId).toBe(id)
    expect(one.trace_id).not.toBe(two.trace_id)
  })
})

describe('the trace of a run', () => {
  test('[7.trace-export] the run, its attempts, tasks and questions are spans with their ends, and everything else is an event of one', async () => {
    const traces = await exportTrace(request, events)
    const spans = spansOf(traces)
    const short = spans.map(
      ({ name, startTimeUnixNano, endTimeUnixNano, status, events: { length } }) => [
        name,
        (Number(endTimeUnixNano) - Number(startTimeUnixNano)) / 1e9,
        status.code,
        status.message,
        length,
      ],
    )
    expect(short).toEqual([
      ['run demo.import', 17, 1, undefined, 0],
      ['attempt 1', 3, 2, 'E_TRANSIENT_NET: no answer', 2],
      ['task t-1', 1, 1, undefined, 1],
      ['question', 7, 1, undefined, 0],
      ['task t-2', 9, 2, undefined, 0],
      ['attempt 2', 12, 1, undefined, 5],
    ])
    expect(spans[0]).toMatchObject({
      traceId: TRACE,
      spanId: '00f067aa0ba902b7',
      parentSpanId: CALLER,
      kind: 1,
      startTimeUnixNano: '1767323045000000000',
    })
    const [run, , , , , second] = spans
    expect(spans.slice(1).map(({ parentSpanId }) => parentSpanId)).toEqual(
      [run, second, second, second, run].map((span) => span!.spanId),
    )
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(6)
    expect(spans[1]!.events[0]!.attributes).toEqual([
      { key: 'pct', value: { doubleValue: 12.5 } },
      { key: 'msg', value: { stringValue: 'x'.repeat(1024) } },
      { key: 'own', value: { stringValue: '{"a":1}' } },
      { key: 'toolable.seq', value: { intValue: '2' } },
    ])
    expect(await exportTrace(request, events)).toEqual(traces)
  })

  test('[7.trace-export] a run that is not over, or whose times go back, has spans all the same, and of a flood so many events are told', async () => {
    const flood = [
      event(6, 'runner_start'),
      ...Array.from({ length: 1500 }, () => event(1, 'log', { msg: 'x' })),
    ]
    const [run, attempt] = spansOf(await exportTrace(request, flood))
    expect([
      run!.status,
      attempt!.status,
      attempt!.events.length,
      attempt!.droppedEventsCount,
      BigInt(attempt!.endTimeUnixNano) >= BigInt(attempt!.startTimeUnixNano),
    ]).toEqual([{}, {}, 1000, 500, true])
    expect(
      spansOf(await exportTrace({ ...request, traceparent: 'garbage', created: 'never' }, [])),
    ).toHaveLength(1)
  })

  test('[7.trace-command] it is printed, or sent to exactly the address that was given, and a collector that does not take it is told', async () => {
    const cwd = makeFolder()
    mkdirSync(join(cwd, '.runs', RUN, 'logs'), { recursive: true })
    writeFileSync(join(cwd, '.runs', RUN, 'run.json'), JSON.stringify(request))
    writeFileSync(
      join(cwd, '.runs', RUN, 'events.jsonl'),
      events.map((one, index) => `${JSON.stringify({ ...one, seq: index + 1 })}\n`).join(''),
    )
    const seen: {
      readonly url: string | undefined
      readonly type: string | undefined
      readonly body: string
    }[] = []
    const server = createServer((asked, answer) => {
      let body = ''
      asked.on('data', (chunk: Buffer) => {
        body += chunk.toString()
      })
      asked.on('end', () => {
        seen.push({ url: asked.url, type: asked.headers['content-type'], body })
        if (asked.url === '/moved') answer.writeHead(307, { location: '/v1/traces' })
        else if (asked.url === '/full') answer.writeHead(503)
        answer.end(
          asked.url === '/some'
            ? '{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}'
            : '{}',
        )
      })
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const at = (path: string): string =>
      `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
    const send = (endpoint: string) =>
      toolable(['runs', 'export', 'latest', '--endpoint', endpoint], { cwd })
    try {
      const [printed, sent, full, some, moved, gone, wrong] = await Promise.all([
        toolable(['runs', 'export', RUN, '--format', 'otlp'], { cwd }),
        send(at('/v1/traces')),
        send(at('/full')),
        send(at('/some')),
        send(at('/moved')),
        send('http://127.0.0.1:1/v1/traces'),
        send('file:///etc/passwd'),
      ])
      expect([printed.status, spansOf(printed.json as never).length]).toEqual([0, 6])
      expect([sent.status, sent.json]).toEqual([
        0,
        { run_id: RUN, spans: 6, endpoint: at('/v1/traces') },
      ])
      expect(
        seen
          .filter(({ url }) => url === '/v1/traces')
          .map(({ type, body }) => [type, JSON.parse(body) as unknown]),
      ).toEqual([['application/json', printed.json]])
      for (const [ended, why] of [
        [full, 'answered 503'],
        [some, 'refused 2 spans: too old'],
        [moved, 'cannot be reached'],
        [gone, 'cannot be reached'],
      ] as const)
        expect([ended.status, ended.stdout + ended.stderr]).toEqual([
          69,
          expect.stringContaining(why),
        ])
      expect([wrong.status, wrong.stdout + wrong.stderr]).toEqual([
        2,
        expect.stringContaining("'file:///etc/passwd' is not the address of a collector"),
      ])
    } finally {
      server.close()
      server.closeAllConnections()
    }
  })
})
