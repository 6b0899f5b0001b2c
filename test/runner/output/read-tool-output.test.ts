import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRedactor } from '../../../src/process/redaction.ts'
import type { OutputDiagnostic } from '../../../src/runner/output-lines.ts'
import { createToolOutputReader } from '../../../src/runner/tool-output.ts'
import type { ToolOutputOptions } from '../../../src/runner/tool-output.ts'
import { hostileJson } from '../../support/hostile-json.ts'
import { rounds } from '../../support/rounds.ts'

type Heard = {
  readonly events: { readonly [field: string]: unknown }[]
  readonly texts: (string | undefined)[]
  readonly diagnostics: OutputDiagnostic[]
  readonly plain: string[]
  readonly limits: number[]
}

const RUN = 'r-0000000000'

const read = (
  chunks: Iterable<Buffer | string>,
  options: Partial<ToolOutputOptions> & { readonly isProtocol?: boolean } = {},
): Heard & { readonly speaksProtocol: boolean; readonly bytes: number } => {
  const { isProtocol = false, ...given } = options
  const heard: Heard = { events: [], texts: [], diagnostics: [], plain: [], limits: [] }
  const output = createToolOutputReader({
    runId: RUN,
    mayOrchestrate: false,
    onLimit: (limit) => heard.limits.push(limit),
    onDiagnostic: (diagnostic) => heard.diagnostics.push(diagnostic),
    onEvent: (event, text) => {
      heard.events.push(event)
      heard.texts.push(text)
    },
    ...(!isProtocol && { onPlain: (line: string) => heard.plain.push(line) }),
    ...given,
  })
  for (const chunk of chunks) output.push(Buffer.from(chunk as string))
  output.finish()
  return { ...heard, speaksProtocol: output.speaksProtocol, bytes: output.bytes }
}
const reasons = ({ diagnostics }: Heard): string[] => diagnostics.map(({ reason }) => reason)

describe('lines that are events', () => {
  test('[7.output-lines] events come in order with the text that they were read from, whatever the chunks and the ends of lines', () => {
    const lines = [
      '{"type":"start"}',
      '{"v":1,"type":"progress","pct":1.5,"msg":"ä\u2028€"}',
      `{"type":"log","run_id":"${RUN}"}`,
      '{"type":"result","status":"ok"}',
    ]
    for (const ending of ['\n', '\r\n']) {
      const bytes = Buffer.from(lines.join(ending))
      for (let size = 1; size <= bytes.length; size += 1) {
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
          bytes.subarray(index * size, (index + 1) * size),
        )
        expect(read(chunks)).toMatchObject({
          texts: lines,
          events: lines.map((line) => JSON.parse(line) as unknown),
          diagnostics: [],
          plain: [],
        })
      }
    }
  })

  test('[7.output-forged] what only the runner or an orchestrator says, and the name of another run, is refused', () => {
    const lines = [
      '{"type":"runner_end","state":"completed"}',
      '{"type":"log","run_id":"r-1111111111"}',
      '{"type":"task_done","task_id":"t"}',
      '{"type":"log","v":2}',
      '{"type":"nosuch"}',
    ]
    expect(reasons(read([lines.join('\n')], { isProtocol: true }))).toEqual([
      'forged',
      'forged',
      'not_an_orchestrator',
      'wrong_version',
      'unknown_type',
    ])
    expect(read([lines[2]!], { mayOrchestrate: true })).toMatchObject({
      events: [{ type: 'task_done' }],
      diagnostics: [],
    })
    expect(reasons(read([lines.slice(0, 2).join('\n')]))).toEqual(['forged', 'forged'])
  })

  test('[7.output-late] a second start and whatever follows the end are refused', () => {
    for (const end of ['result', 'error', 'cancelled']) {
      const heard = read([
        ['start', 'start', end, 'log', 'result', 'heartbeat']
          .map((type) => `{"type":"${type}"}\n`)
          .join(''),
      ])
      expect([heard.events.map(({ type }) => type), reasons(heard)]).toEqual([
        ['start', end],
        ['second_start', 'late', 'late', 'late'],
      ])
    }
  })

  test('[7.output-fields] a field of the wrong type is left out, and the line stays', () => {
    const heard = read([
      '{"type":"progress","pct":"half","percent":1e999,"msg":"m","step":3,"retryable":"no","artifacts":{},"metrics":[],"__proto__":{"x":1},"own":"o"}\n',
    ])
    expect(heard.events).toEqual([{ type: 'progress', msg: 'm', own: 'o' }])
    expect([Object.getPrototypeOf(heard.events[0]), heard.texts]).toEqual([
      Object.prototype,
      [undefined],
    ])
    expect(heard.diagnostics).toMatchObject([
      {
        reason: 'wrong_field',
        msg: 'Left out: pct is not a finite number, percent is not a finite number, step is not a text, retryable is not true or false, artifacts is not a list, metrics is not an object, __proto__ is not a field',
      },
    ])
  })
})

describe('hostile output', () => {
  const lines = hostileJson()

  test('[7.output-hostile] every bad line of the families is a diagnostic and every good one is kept', () => {
    expect(lines.length).toBeGreaterThanOrEqual(318)
    expect(new Set(lines.map(({ name }) => name)).size).toBe(lines.length)
    const wrong = lines.filter(({ expect: wanted, bytes }) => {
      const { events, diagnostics } = read([bytes, '\n'], { isProtocol: true })
      // A field of the wrong type is told besides the event.
      const told = diagnostics.filter(({ reason }) => reason !== 'wrong_field').length
      return (
        events.length + told !== 1 || (wanted !== 'i' && events.length !== (wanted === 'y' ? 1 : 0))
      )
    })
    expect(
      wrong.map(({ name, bytes }) => `${name}: ${bytes.toString('latin1').slice(0, 80)}`),
    ).toEqual([])
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  test('[7.output-hostile] all of them in one stream, in chunks of any size, give the same, and can be written down', () => {
    const stream = Buffer.concat(
      lines
        .filter(({ bytes }) => bytes.length < 10_000)
        .flatMap(({ bytes }) => [bytes, Buffer.from('\n')]),
    )
    const whole = read([stream], { isProtocol: true })
    expect(whole.diagnostics.length + whole.events.length).toBeGreaterThan(318)
    for (const event of whole.events) expect(JSON.parse(JSON.stringify(event))).toBeTypeOf('object')
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1 }), (sizes) => {
        const chunks: Buffer[] = []
        for (let at = 0, turn = 0; at < stream.length; turn += 1) {
          const size = sizes[turn % sizes.length]!
          chunks.push(stream.subarray(at, at + size))
          at += size
        }
        expect(read(chunks, { isProtocol: true })).toEqual(whole)
      }),
      { numRuns: rounds(20) },
    )
  })

  test('[7.output-line-cap] of a line that is too long the rest is skipped, its length is told, and the next line counts', () => {
    const long = Buffer.from(`{"type":"log","msg":"${'x'.repeat(5_000_000)}"}\n{"type":"result"}\n`)
    for (const size of [1000, 65_536, long.length]) {
      const chunks = Array.from({ length: Math.ceil(long.length / size) }, (_, index) =>
        long.subarray(index * size, (index + 1) * size),
      )
      const { events, diagnostics } = read(chunks, { isProtocol: true })
      expect(events).toEqual([{ type: 'result' }])
      expect(diagnostics).toMatchObject([
        {
          reason: 'too_long',
          bytes: 5_000_023,
          msg: 'The line has 5000023 bytes, more than 1048576; the rest is left out',
        },
      ])
      expect(diagnostics[0]!.line!.length).toBeLessThan(500)
    }
    for (const chunks of [
      ['12345\r\n', 'x\n'],
      ['123', '45', '\r', '\nx\n'],
    ])
      expect(read(chunks, { maxLine: 5 })).toMatchObject({ plain: ['12345', 'x'], diagnostics: [] })
    expect(read(['123456\nx\n'], { maxLine: 5 })).toMatchObject({
      plain: ['12345', 'x'],
      diagnostics: [{ reason: 'too_long', bytes: 6 }],
    })
  })

  test('[7.output-line-cap] a line without an end takes no memory, however small its pieces are', () => {
    const chunk = Buffer.alloc(65_536, 'x')
    const output = createToolOutputReader({
      runId: RUN,
      mayOrchestrate: false,
      maxBytes: 1e10,
      onEvent: () => undefined,
      onDiagnostic: () => undefined,
    })
    const before = process.memoryUsage()
    for (let turn = 0; turn < 5000; turn += 1) output.push(chunk)
    output.push(Buffer.from('\n'))
    for (let turn = 0; turn < 1_000_000; turn += 1) output.push(chunk.subarray(0, 1))
    const after = process.memoryUsage()
    expect([output.bytes, after.arrayBuffers - before.arrayBuffers < 8e6]).toEqual([
      328_680_001,
      true,
    ])
    expect(after.rss - before.rss).toBeLessThan(64e6)
  })

  test('[7.output-run-cap] what is more than a run may write is left out, counted, and told once', () => {
    const { events, diagnostics, limits, bytes } = read(
      ['{"type":"log"}\n'.repeat(10), '{"type":"log"}\n'.repeat(10)],
      { maxBytes: 155 },
    )
    expect([events.length, diagnostics, limits, bytes]).toEqual([10, [], [155], 300])
  })

  test('[7.output-bounded] of a flood of bad lines a thousand are told, and then how many more there were', () => {
    const { diagnostics, events } = read(
      [`${'x'.repeat(2000)}\n`.repeat(3500), '{"type":"result"}\n'],
      { isProtocol: true },
    )
    expect([diagnostics.length, diagnostics.at(-1), events.length]).toEqual([
      1001,
      {
        stream: 'stdout',
        reason: 'more',
        msg: '2500 more lines like these are not recorded',
        count: 2500,
      },
      1,
    ])
    expect(
      Math.max(...diagnostics.map((diagnostic) => JSON.stringify(diagnostic).length)),
    ).toBeLessThan(600)
  })
})

describe('plain programs', () => {
  test('[7.output-plain] each line of a program that says no event is its text, and the first event makes it a tool of the protocol', () => {
    expect(read(['hello\n\n{"a":1}\n', Buffer.from([0x78, 0xff, 0x0a]), 'last'])).toMatchObject({
      plain: ['hello', '', '{"a":1}', 'x\ufffd', 'last'],
      speaksProtocol: false,
      events: [],
    })
    const mixed = read(['first\n{"type":"start"}\nsecond\n'])
    expect([mixed.plain, mixed.speaksProtocol, reasons(mixed)]).toEqual([
      ['first'],
      true,
      ['not_json'],
    ])
    expect(reasons(read(['first\n'], { isProtocol: true }))).toEqual(['not_json'])
  })

  test('[7.redact-lines] secrets are taken out of plain lines, over several of them, and of diagnostics before they are shortened', () => {
    const redactor = createRedactor(['hunter2hunter2', 'one-a\ntwo-b\nthree'])
    expect(
      read(['my hunter2', 'hunter2\nat one-a\ntwo-b\nthree\none-a\nend\n'], { redactor }).plain,
    ).toEqual(['my [REDACTED]', 'at [REDACTED]', 'one-a', 'end'])
    expect(read(['wait one-a\n{"type":"log"}\nx\n'], { redactor }).plain).toEqual(['wait one-a'])
    const cut = read([`${'x'.repeat(95)}hunter2hunter2hunter2\nnext\n`], { redactor, maxLine: 100 })
    expect([cut.plain, cut.diagnostics[0]!.line]).toEqual([
      ['x'.repeat(95), 'next'],
      'x'.repeat(95),
    ])
    for (let before = 380; before < 402; before += 1)
      expect(
        read([`${'x'.repeat(before)}hunter2hunter2`], { redactor, isProtocol: true })
          .diagnostics[0]!.line,
      ).not.toContain('hunter')
  })
})
