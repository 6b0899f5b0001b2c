import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createRedactor } from '../../../src/process/redaction.ts'
import type { OutputDiagnostic } from '../../../src/runner/output-lines.ts'
import { openStderrLog } from '../../../src/runner/start-target.ts'

const folder = mkdtempSync(join(tmpdir(), 'stderr-log-'))
const none = createRedactor([])

afterAll(() => rmSync(folder, { recursive: true }))

test('[7.stderr-log] stderr is kept in a file of mode 0600 without secrets, each line is a diagnostic, and notifications are events', async () => {
  const file = join(folder, 'kept.log')
  const diagnostics: OutputDiagnostic[] = []
  const events: unknown[] = []
  const log = await openStderrLog(file, 1e6, createRedactor(['hunter2hunter2']), {
    onDiagnostic: (diagnostic) => diagnostics.push(diagnostic),
    onEvent: (event) => events.push(event),
  })
  for (const chunk of [
    'warn',
    'ing: hunter2',
    'hunter2\n\n{"type":"notification","kind":"progress","message":"half","percent":50}\n',
    '{"type":"notification"}\n',
  ])
    await log.push(Buffer.from(chunk))
  await log.push(Buffer.from([0xff, 0x0a]))
  await log.finish()
  expect(readFileSync(file)).toEqual(
    Buffer.concat([
      Buffer.from(
        'warning: [REDACTED]\n\n{"type":"notification","kind":"progress","message":"half","percent":50}\n{"type":"notification"}\n',
      ),
      Buffer.from([0xff, 0x0a]),
    ]),
  )
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(diagnostics.map(({ stream, reason, line }) => [stream, reason, line])).toEqual([
    ['stderr', 'stderr', 'warning: [REDACTED]'],
    ['stderr', 'stderr', '{"type":"notification"}'],
    ['stderr', 'stderr', '\ufffd'],
  ])
  expect(events).toEqual([{ type: 'progress', message: 'half', percent: 50 }])
  expect([log.tail().split('\n')[0], log.dropped, log.problem]).toEqual([
    'warning: [REDACTED]',
    0,
    undefined,
  ])
})

test('[7.stderr-cap] the file takes no more than its cap, over all attempts, and the rest is counted', async () => {
  const file = join(folder, 'capped.log')
  const diagnostics: OutputDiagnostic[] = []
  for (const [index, dropped] of [0, 500].entries()) {
    const log = await openStderrLog(file, 1500, none, {
      onDiagnostic: (diagnostic) => diagnostics.push(diagnostic),
    })
    for (let line = 0; line < 100; line += 1) await log.push(Buffer.from(`${index}23456789\n`))
    await log.finish()
    expect([log.dropped, log.tail().endsWith(`${index}23456789\n`)]).toEqual([dropped, true])
  }
  expect([readFileSync(file).length, diagnostics.length]).toEqual([1500, 150])
})

test('[7.stderr-cap] a tool that complains without end is told a thousand times, and fills no memory', async () => {
  const diagnostics: OutputDiagnostic[] = []
  const log = await openStderrLog(join(folder, 'flood.log'), 1e6, none, {
    onDiagnostic: (diagnostic) => diagnostics.push(diagnostic),
  })
  const chunk = Buffer.from('complaint\n'.repeat(6000))
  let waits = 0
  for (let turn = 0; turn < 400; turn += 1) {
    const room = log.push(chunk)
    if (room) waits += 1
    await room
  }
  await log.finish()
  expect([
    diagnostics.length,
    diagnostics.at(-1)?.reason,
    log.dropped,
    statSync(join(folder, 'flood.log')).size,
  ]).toEqual([1001, 'more', 23_000_000, 1_000_000])
  expect(waits).toBeLessThan(400)
})

test('[7.stderr-log] a link in its place is not followed, and a full disk is told and stops nobody', async () => {
  const precious = join(folder, 'precious')
  writeFileSync(precious, 'mine')
  symlinkSync(precious, join(folder, 'link.log'))
  await expect(openStderrLog(join(folder, 'link.log'), 100, none)).rejects.toThrow('ELOOP')
  expect(readFileSync(precious, 'utf8')).toBe('mine')
  const log = await openStderrLog('/dev/full', 1e6, none)
  await log.push(Buffer.from('x'.repeat(1000)))
  await log.finish()
  expect([log.problem?.message.includes('ENOSPC'), log.dropped]).toEqual([true, 1000])
})
