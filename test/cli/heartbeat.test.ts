import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { CliCall } from '../../src/cli/types.ts'
import { loadDialectWriter } from '../../src/protocol/output.ts'
import type { Io } from '../../src/protocol/io.ts'
import { createEventPrinter } from '../../src/cli/interaction.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

async function listen(
  dialect: 'native' | 'acor',
): Promise<{
  readonly lines: string[]
  readonly listener: Awaited<ReturnType<typeof createEventPrinter>>
}> {
  const lines: string[] = []
  const sink = {
    write: (text: string) => void lines.push(text),
    send: async (text: string) => void lines.push(text),
    flush: async () => undefined,
    isTTY: false,
    columns: 80,
    closed: false,
  }
  const stdin = {
    isTTY: false,
    taken: false,
    bytes: () => (async function* () {})(),
    close: () => undefined,
  }
  const io: Io = {
    stdin,
    stdout: sink,
    stderr: { ...sink, write: () => undefined },
    env: {},
    cwd: '/',
    now: () => 0,
  }
  const presentation = {
    mode: 'json' as const,
    dialect,
    pretty: false,
    color: false,
    stderrColor: false,
    columns: undefined,
  }
  const context = { tool: 'slow', runId: 'r-1', now: () => '2026-01-01T00:00:00.000Z' }
  const call = { io, presentation, globals: {}, entry: { path: ['slow'] } } as unknown as CliCall
  const writer = await loadDialectWriter(dialect)
  const listener = await createEventPrinter({ call, writer, context, streamed: true })
  return { lines, listener }
}

test('[3.heartbeats] a supervised tool that says nothing shows every 30 seconds that it is alive, and stops with the call', async () => {
  const { lines, listener } = await listen('acor')
  await listener.start()
  await vi.advanceTimersByTimeAsync(61_000)
  expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual([
    'start',
    'heartbeat',
    'heartbeat',
  ])
  expect(JSON.parse(lines[1]!)).toEqual({
    v: 1,
    type: 'heartbeat',
    ts: '2026-01-01T00:00:00.000Z',
    run_id: 'r-1',
    step: 'slow',
  })
  await listener.stop()
  await vi.advanceTimersByTimeAsync(61_000)
  expect(lines).toHaveLength(3)
})

test('a stream of our own has no heartbeats', async () => {
  const { lines, listener } = await listen('native')
  await listener.start()
  await vi.advanceTimersByTimeAsync(61_000)
  expect(lines).toEqual([])
  await listener.stop()
})
