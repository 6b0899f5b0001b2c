import { describe, expect, test } from 'vitest'
import { createTextPainter } from '../../../src/cli/formats/terminal-text.ts'
import { getDisplayWidth } from '../../../src/cli/formats/text-layout.ts'
import {
  createProgressDisplay,
  formatElapsed,
  renderProgressLine,
} from '../../../src/cli/progress.ts'
import {
  formatNotificationJson,
  formatNotificationText,
} from '../../../src/cli/formats/envelope.ts'

function watch({ label, columns = 80 }: { label?: string; columns?: number } = {}) {
  const writes: string[] = []
  let time = 0
  let tick: (() => void) | undefined
  const stderr = { write: (text: string) => void writes.push(text), columns }
  const progress = createProgressDisplay({
    stderr,
    color: false,
    now: () => time,
    label,
    repeat: (action, everyMs) => {
      expect(everyMs).toBeGreaterThanOrEqual(1000 / 12)
      tick = action
      return () => (tick = undefined)
    },
  })
  const pass = (milliseconds: number) => {
    for (let passed = 0; passed < milliseconds; passed += 100) {
      time += 100
      tick?.()
    }
  }
  return { progress, writes, pass, isTicking: () => tick !== undefined }
}

describe('createProgress', () => {
  test('draws one line, redraws it, and leaves nothing behind', () => {
    const { progress, writes, pass, isTicking } = watch()
    progress.update({ type: 'progress', message: 'reading' })
    expect(writes).toEqual([])
    pass(100)
    expect(writes).toEqual(['\u001b[?25l⠋ reading 0s'])
    progress.update({ type: 'progress', message: 'half', percent: 50 })
    pass(100)
    expect(writes[1]).toBe('\r\u001b[2K⠙ ██████████░░░░░░░░░░ half 50% 0s')
    progress.stop()
    expect(writes[2]).toBe('\r\u001b[2K\u001b[?25h')
    expect(isTicking()).toBe(false)
    progress.stop()
    progress.update({ type: 'log', level: 'info', message: 'late' })
    progress.log('late')
    expect(writes).toHaveLength(3)
  })

  test('a call that is over before the first tick shows nothing', () => {
    const { progress, writes } = watch({ label: 'find' })
    progress.update({ type: 'progress', message: 'x' })
    progress.stop()
    expect(writes).toEqual([])
  })

  test('log lines stand above the line, and survive a stop', () => {
    const { progress, writes, pass } = watch({ label: 'find' })
    pass(100)
    progress.log('one\n')
    progress.update({ type: 'log', level: 'warn', message: 'two' })
    progress.update({ type: 'artifact', name: 'report', uri: 'file:///r' })
    pass(100)
    expect(writes[1]).toBe('\r\u001b[2Kone\nwarning: two\nartifact: report file:///r\n⠙ find 0s')
    progress.log('last')
    progress.stop()
    expect(writes[2]).toBe('\r\u001b[2Klast\n\u001b[?25h')
  })

  test('a flood of events is drawn at most 12 times a second', () => {
    const { progress, writes, pass } = watch()
    for (let second = 0; second < 10; second++) {
      for (let event = 0; event < 1000; event++) {
        progress.update({ type: 'progress', message: `item ${event}` })
        progress.update({ type: 'log', level: 'info', message: 'x' })
      }
      pass(1000)
    }
    expect(writes.length).toBeLessThanOrEqual(120)
    expect(
      writes
        .join('')
        .split('\n')
        .filter((line) => line.endsWith('x')),
    ).toHaveLength(10_000)
  })

  test('without label and events the terminal is left alone', () => {
    const { progress, writes, pass } = watch()
    pass(1000)
    progress.update({ type: 'item', value: 1 })
    pass(1000)
    progress.stop()
    expect(writes).toEqual([])
  })

  test('a question gets a clean terminal', () => {
    const { progress, writes, pass } = watch({ label: 'find' })
    pass(100)
    progress.pause()
    pass(500)
    expect(writes.slice(1)).toEqual(['\r\u001b[2K\u001b[?25h'])
    progress.resume()
    pass(100)
    expect(writes[2]).toContain('\u001b[?25l')
  })

  test('what a tool says can neither steer nor wrap the line', () => {
    const { progress, writes, pass } = watch({ columns: 30 })
    progress.update({ type: 'progress', message: `\u001b[2Jevil\r\n${'漢'.repeat(100)}` })
    progress.log('\u001b]0;title\u0007log')
    pass(100)
    const [logged, line] = writes[0]!.replace('\u001b[?25l', '').split('\n')
    expect(logged).toBe('log')
    expect(line).not.toMatch(/[\u001b\r]/)
    expect(getDisplayWidth(line!)).toBeLessThan(30)
  })

  test('a terminal that is gone does not disturb the call', async () => {
    let tick = () => undefined as void
    const stderr = {
      write: () => {
        throw new Error('EPIPE')
      },
      columns: 80,
    }
    const progress = createProgressDisplay({
      stderr,
      color: false,
      now: () => 0,
      label: 'x',
      repeat: (action) => {
        tick = action
        return () => undefined
      },
    })
    expect(() => {
      tick()
      progress.stop()
    }).not.toThrow()
    await new Promise((resolve) => setImmediate(resolve))
  })

  test('its own timer keeps no process alive and ends with stop', () => {
    const stderr = { write: () => undefined, columns: 80 }
    const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const progress = createProgressDisplay({ stderr, color: false, now: () => 0, label: 'x' })
    expect(process.getActiveResourcesInfo().filter((name) => name === 'Timeout')).toHaveLength(
      before,
    )
    progress.stop()
  })
})

describe('renderProgressLine', () => {
  const paint = createTextPainter(false)
  test.each([1, 5, 10, 20, 40, 80])('fits %i columns', (columns) => {
    const line = renderProgressLine(
      { frame: 3, message: '漢字 message '.repeat(20), percent: 42, elapsedMs: 61_000 },
      columns,
      paint,
    )
    expect(getDisplayWidth(line)).toBeLessThanOrEqual(Math.max(1, columns - 1))
  })

  test('a bar only for a true percentage', () => {
    const at = (percent: number | undefined) =>
      renderProgressLine({ frame: 0, message: 'm', percent, elapsedMs: 0 }, 80, paint)
    expect(at(undefined)).toBe('⠋ m 0s')
    expect(at(NaN)).toBe('⠋ m 0s')
    expect(at(0)).toBe(`⠋ ${'░'.repeat(20)} m 0% 0s`)
    expect(at(250)).toBe(`⠋ ${'█'.repeat(20)} m 100% 0s`)
  })

  test.each([
    [0, '0s'],
    [59_999, '59s'],
    [65_000, '1m05s'],
    [7_620_000, '2h07m'],
  ])('%i ms is %s', (milliseconds, expected) => expect(formatElapsed(milliseconds)).toBe(expected))
})

describe('notifications', () => {
  test.each([
    [
      { type: 'progress', message: 'half', percent: 50 },
      '{"type":"notification","kind":"progress","message":"half","percent":50}',
      '50% half',
    ],
    [
      { type: 'progress', message: 'on' },
      '{"type":"notification","kind":"progress","message":"on"}',
      'on',
    ],
    [
      { type: 'log', level: 'info', message: 'a\nb' },
      '{"type":"notification","kind":"log","level":"info","message":"a\\nb"}',
      'a\nb',
    ],
    [
      { type: 'log', level: 'error', message: 'bad' },
      '{"type":"notification","kind":"log","level":"error","message":"bad"}',
      'error: bad',
    ],
    [
      { type: 'artifact', name: 'r', uri: 'file:///r' },
      '{"type":"notification","kind":"artifact","name":"r","uri":"file:///r"}',
      'artifact: r file:///r',
    ],
    [{ type: 'item', value: 1 }, undefined, undefined],
    [{ type: 'awaiting_input', prompt: '> ' }, undefined, undefined],
  ] as const)('%j', (event, line, text) => {
    expect(formatNotificationJson(event)).toBe(line)
    expect(formatNotificationText(event)).toBe(text)
  })
})
