import fc from 'fast-check'
import { expect, test } from 'vitest'
import { splitLines } from '../../src/process/output.ts'

const cut = (chunks: readonly Buffer[], maxLine = 1000): { lines: string[]; whole: boolean } => {
  const lines: string[] = []
  const splitter = splitLines(maxLine, (line) => lines.push(line))
  const whole = chunks.map((chunk) => splitter.push(chunk)).every(Boolean)
  splitter.finish()
  return { lines, whole }
}

test('[6.child-lines] lines end at \\n and \\r\\n only, and what is no UTF-8 is replaced', () => {
  expect(
    cut([
      Buffer.from('a\r\nb\rc\n\nd\u2028e\n'),
      Buffer.from([0x78, 0xff, 0x0a]),
      Buffer.from('end'),
    ]).lines,
  ).toEqual(['a', 'b\rc', '', 'd\u2028e', 'x\ufffd', 'end'])
})

test('[6.child-lines] however bytes come in chunks, the lines are the same', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[\r\n]/g, ''))),
      fc.constantFrom('\n', '\r\n'),
      fc.infiniteStream(fc.integer({ min: 1, max: 7 })),
      (lines, ending, sizes) => {
        let rest = Buffer.from(lines.map((line) => line + ending).join(''))
        const chunks: Buffer[] = []
        for (const size of sizes) {
          if (rest.length === 0) break
          chunks.push(rest.subarray(0, size))
          rest = rest.subarray(size)
        }
        expect(cut(chunks).lines).toEqual(lines.map((line) => Buffer.from(line).toString()))
      },
    ),
  )
})

test('[6.child-lines] a line that is too long is refused in whatever chunks it comes, and nothing after it is told', () => {
  expect(cut([Buffer.from('12345\n123456\nafter\n')], 5)).toEqual({
    lines: ['12345'],
    whole: false,
  })
  expect(cut([Buffer.from('123'), Buffer.from('456'), Buffer.from('\nafter\n')], 5)).toEqual({
    lines: [],
    whole: false,
  })
})
