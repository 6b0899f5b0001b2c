import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createRedactor } from '../../../src/process/redaction.ts'
import { openEventLog } from '../../../src/runner/event-log.ts'
import { createToolOutputReader } from '../../../src/runner/tool-output.ts'
import { hostileJson } from '../../support/hostile-json.ts'

const folder = mkdtempSync(join(tmpdir(), 'recorded-output-'))
const RUN = 'r-0000000000'

afterAll(() => rmSync(folder, { recursive: true }))

/** What stands in the log when a tool has written that. */
const record = async (
  name: string,
  chunks: readonly (Buffer | string)[],
  secrets: readonly string[] = [],
): Promise<{ readonly text: string; readonly events: { readonly [field: string]: unknown }[] }> => {
  const file = join(folder, name)
  const redactor = createRedactor(secrets)
  const { log } = await openEventLog(file, {
    runId: RUN,
    traceId: 't-1',
    attempt: 1,
    ...(!redactor.isEmpty && { redact: redactor.text }),
  })
  log.append({ type: 'runner_start' })
  const output = createToolOutputReader({
    runId: RUN,
    mayOrchestrate: false,
    redactor,
    onEvent: (event, text) => void log.append(event, text),
    onDiagnostic: (diagnostic) => void log.append({ type: 'diagnostic', ...diagnostic }),
  })
  for (const chunk of chunks) output.push(Buffer.from(chunk as string))
  output.finish()
  await log.close()
  const text = readFileSync(file, 'utf8')
  return {
    text,
    events: text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly [field: string]: unknown }),
  }
}

test('[7.output-hostile] whatever a tool writes, its log is whole lines of JSON, each with its place in the run', async () => {
  const lines = hostileJson()
  const { text, events } = await record(
    'hostile.jsonl',
    lines.flatMap(({ bytes }) => [bytes, '\n']),
  )
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
  expect(
    events.filter(
      ({ v, ts, run_id: run, attempt }) =>
        v !== 1 || typeof ts !== 'string' || run !== RUN || attempt !== 1,
    ),
  ).toEqual([])
  expect(events.filter(({ type }) => type === 'log').length).toBeGreaterThanOrEqual(
    lines.filter(({ expect: wanted }) => wanted === 'y').length,
  )
  expect(events.filter(({ type }) => String(type).startsWith('runner_'))).toHaveLength(1)
  // Also for somebody who takes the first of two keys.
  expect(text.split('\n').filter((line) => /^\{[^{[]*"type":"runner_end"/.test(line))).toEqual([])
})

test('[7.output-lines] a line is kept as the tool wrote it, with what it left to us', async () => {
  const written = [
    '{"type":"log","n":12345678901234567890}',
    `{"v":1,"type":"log", "run_id":"${RUN}"}`,
    '{"type":"log","ts":"2026-01-01T00:00:00Z","trace_id":"mine"}',
    '{"type":"log","ts":"yesterday","data":{"type":"x"}}',
  ]
  const { text, events } = await record('kept.jsonl', [written.join('\n')])
  const lines = text.split('\n').slice(1)
  expect(lines[0]).toMatch(
    /^\{"v":1,"ts":"[^"]+","run_id":"r-0000000000","type":"log","n":12345678901234567890,"trace_id":"t-1","seq":2,"attempt":1\}$/,
  )
  expect(
    events
      .slice(1)
      .map(({ v, run_id: run, trace_id: trace, seq, ts }) => [
        v,
        run,
        trace,
        seq,
        typeof ts === 'string' && Number.isFinite(Date.parse(ts)),
      ]),
  ).toEqual([2, 3, 4, 5].map((seq) => [1, RUN, seq === 4 ? 'mine' : 't-1', seq, true]))
  expect(events[3]!['ts']).toBe('2026-01-01T00:00:00Z')
})

test('[7.redact-encodings] a secret that a tool writes in escapes is not in its log', async () => {
  const secret = 'hunter2"hunter2'
  const escaped = secret.replace(
    /[^]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  const half = secret.replace('h', '\\u0068').replace('"', '\\u0022')
  const { text, events } = await record(
    'secret.jsonl',
    [
      `{"type":"log","msg":"${escaped}"}\n{"type":"log","msg":"${half}"}\n{"type":"log","${escaped}":[${JSON.stringify(JSON.stringify(secret))}]}\nbad ${secret}\n{"type":"log","msg":"sla\\/shed/hunter"}\n`,
    ],
    [secret, 'sla/shed/hunter'],
  )
  expect(text).not.toMatch(/hunter|\\u0068/)
  expect(events.map(({ type }) => type)).toEqual([
    'runner_start',
    'log',
    'log',
    'log',
    'diagnostic',
    'log',
  ])
})
