import { describe, expect, test } from 'vitest'
import type { Screen } from '../../../src/protocol/io.ts'
import {
  createFrameWriter,
  createPainter,
  createRowCounter,
} from '../../../src/views/terminal/painter.ts'
import { Emulator } from './emulator.ts'

const SIZE = { columns: 20, rows: 6 }

describe('a frame', () => {
  test('is written by what changed alone, and what scrolls in stands above it [10.tree-paints-little]', () => {
    const screen = new Emulator(20, 6)
    const writer = createFrameWriter()
    const draw = (lines: readonly string[], above: readonly string[] = []): string => {
      const text = writer.draw(lines, above, SIZE)
      screen.write(text)
      return text
    }
    draw(['one', 'two', 'three'])
    expect(draw(['one', 'two', 'three'])).toBe('')
    const changed = draw(['one', 'TWO', 'three'])
    expect(changed).toContain('TWO')
    expect(changed).not.toMatch(/one|three/)
    expect(screen.text()).toBe('one\nTWO\nthree')
    draw(['one', 'three'], ['a log line that is wider than the window'])
    expect(screen.text()).toBe('a log line that is w\nider than the window\none\nthree')
    draw(['1', '2', '3', '4'], ['again'])
    expect(screen.text()).toBe('a log line that is w\nider than the window\nagain\n1\n2\n3\n4')
    draw(['last'])
    expect(screen.text()).toBe('a log line that is w\nider than the window\nagain\nlast')
    expect(screen.history.length).toBeGreaterThan(0)
  })

  test('of any history of frames is the last one, below everything that scrolled in [10.tree-paints-little]', () => {
    let seed = 7
    const random = (below: number): number =>
      (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) % below
    for (let round = 0; round < 200; round++) {
      const screen = new Emulator(20, 6)
      const writer = createFrameWriter()
      const scrolled: string[] = []
      let lines: string[] = []
      for (let step = 0; step < 20; step++) {
        lines = Array.from({ length: random(6) }, (_, index) => `row ${index} ${random(3)}`)
        const above = Array.from(
          { length: random(4) === 0 ? random(9) : 0 },
          () => `log ${random(1000)}`,
        )
        scrolled.push(...above)
        screen.write(writer.draw(lines, above, SIZE))
      }
      expect(screen.text()).toBe([...scrolled, ...lines].join('\n'))
    }
  })

  test('that a narrower window has folded is taken away whole [10.tree-resize]', () => {
    const screen = new Emulator(10, 8)
    const writer = createFrameWriter()
    writer.draw(['x'.repeat(19), 'y'], [], { columns: 20, rows: 8 })
    // What the terminal makes of it: the first line in two rows.
    screen.write(`${'x'.repeat(10)}\n${'x'.repeat(9)}\ny\n`)
    screen.write(writer.draw(['new'], [], { columns: 10, rows: 8 }))
    expect(screen.text()).toBe('new')
  })
})

type Fake = {
  readonly screen: Screen
  leave(): void
  stop(): void
  goOn(): void
  size: { columns: number; rows: number }
}

function fakeScreen(): Fake {
  const size = { columns: 20, rows: 6 }
  const leaving = new Set<() => void>()
  const stops = new Set<readonly [() => void, () => void]>()
  const keep = <T>(set: Set<T>, item: T): (() => void) => (
    set.add(item),
    () => void set.delete(item)
  )
  return {
    size,
    leave: () => leaving.forEach((each) => each()),
    stop: () => stops.forEach(([before]) => before()),
    goOn: () => stops.forEach(([, after]) => after()),
    screen: {
      get columns() {
        return size.columns
      },
      get rows() {
        return size.rows
      },
      onLeave: (listener) => keep(leaving, listener),
      onStop: (before, after) => keep(stops, [before, after]),
    },
  }
}

function start(lines: () => readonly string[]) {
  const terminal = new Emulator(20, 6)
  const fake = fakeScreen()
  let tick = (): void => undefined
  let writes = 0
  const stderr = {
    write: (text: string) => void (writes++, terminal.write(text)),
    send: async (text: string) => void (writes++, terminal.write(text)),
    flush: async () => undefined,
  }
  const painter = createPainter({
    stderr,
    screen: fake.screen,
    frame: lines,
    repeat: (action) => (
      (tick = action),
      () => {
        tick = () => undefined
      }
    ),
  })
  return {
    terminal,
    fake,
    painter,
    writes: () => writes,
    tick: async () => {
      tick()
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

describe('a painter', () => {
  test('hides the cursor while it paints, and gives it back at the end and to whoever ends it [10.tree-cursor]', async () => {
    const { terminal, painter, tick, fake } = start(() => ['tree'])
    await tick()
    expect(terminal.cursor).toBe(false)
    fake.leave()
    expect(terminal.cursor).toBe(true)
    await tick()
    expect(terminal.cursor).toBe(true)
    await painter.finish(['the end'])
    await painter.finish(['not again'])
    expect([terminal.text(), terminal.cursor]).toEqual(['the end', true])
  })

  test('that was stopped begins anew below what the shell wrote [10.tree-stop]', async () => {
    const { terminal, tick, fake } = start(() => ['tree'])
    await tick()
    fake.stop()
    expect(terminal.cursor).toBe(true)
    await tick()
    terminal.write('stopped\n$ fg\n')
    fake.goOn()
    await tick()
    expect([terminal.text(), terminal.cursor]).toEqual(['tree\nstopped\n$ fg\ntree', false])
  })

  test('holds still while somebody is asked below it, and leaves only question and answer [10.tree-asks]', async () => {
    let name = 'tree'
    const { terminal, painter, tick, fake } = start(() => [name])
    await tick()
    const ask = (typed: string, more = ''): Promise<string> =>
      painter.ask(
        2,
        async (rows) => {
          expect(terminal.cursor).toBe(true)
          name = `${name}!`
          await tick()
          rows.wrote('Which?\n> ')
          terminal.write('Which?\n> ')
          await painter.above(['meanwhile'])
          rows.typed(typed)
          terminal.write(`${typed}\n${more}`)
          return typed
        },
        (answer) => [`asked, ${answer}`],
      )
    await ask('left')
    expect(terminal.text()).toBe('asked, left\nmeanwhile\ntree!')
    // Where nobody knows what the terminal made of it, it stays.
    await ask('a line that is wider than it')
    expect(terminal.text()).toContain('> a line that is wid\ner than it\nasked, a line')
    fake.size.rows = 5
    await ask('x')
    await painter.finish(['end'])
    expect([terminal.text().split('\n').at(-1), terminal.cursor]).toEqual(['end', true])
  })

  test('steps aside for somebody who writes by himself, and writes nothing where nothing changes [10.tree-paints-little]', async () => {
    const { terminal, painter, tick, writes } = start(() => ['tree'])
    await tick()
    const before = writes()
    await tick()
    expect(writes()).toBe(before)
    await painter.aside(async () => terminal.write('{"type":"log"}\n'))
    await tick()
    expect(terminal.text()).toBe('{"type":"log"}\ntree')
  })

  test('what is told while somebody waits to write by himself stands below what he writes [10.tree-paints-little]', async () => {
    const { terminal, painter, tick } = start(() => ['tree'])
    await tick()
    await painter.above(['before'])
    const first = painter.aside(async () => terminal.write('first\n'))
    await painter.above(['between'])
    const second = painter.aside(async () => terminal.write('second\n'))
    const asked = painter.ask(
      1,
      async (rows) => {
        rows.wrote('Which?\n')
        terminal.write('Which?\n')
        return 'x'
      },
      () => ['asked'],
    )
    await painter.above(['after'])
    await Promise.all([first, second, asked])
    await tick()
    expect(terminal.text()).toBe('before\nfirst\nbetween\nsecond\nafter\nasked\ntree')
  })

  test('rows of a dialogue are counted', () => {
    const rows = createRowCounter(20)
    rows.wrote('a question that takes two rows?\n1) x\n> ')
    rows.typed('1')
    expect([rows.count, rows.known]).toEqual([4, true])
    rows.wrote('> ')
    rows.typed('日本')
    expect(rows.known).toBe(false)
  })
})
