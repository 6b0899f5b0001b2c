import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseAnsi, stripAnsi } from '../../../src/views/model/ansi.ts'

const ESC = '\u001b'
const BEL = '\u0007'

describe('what tools write for terminals, in a page [10.ansi-safe]', () => {
  test('colours and modes become looks, and end where they end', () => {
    expect(parseAnsi(`a ${ESC}[31;1mred${ESC}[22m thin${ESC}[0m b`)).toEqual([
      { text: 'a ', look: '' },
      { text: 'red', look: 'red bold' },
      { text: ' thin', look: 'red' },
      { text: ' b', look: '' },
    ])
    expect(parseAnsi(`${ESC}[94m${ESC}[32mx${ESC}[39my${ESC}[41mz${ESC}[49m.`)).toEqual([
      { text: 'x', look: 'green' },
      { text: 'y', look: '' },
      { text: 'z', look: 'on-red' },
      { text: '.', look: '' },
    ])
    expect(parseAnsi(`${ESC}[38;5;9mx${ESC}[38;2;1;31;4my${ESC}[38;5;200mz`)).toEqual([
      { text: 'xyz', look: 'red' },
    ])
  })

  test.each([
    ['a title', `${ESC}]0;<b>owned</b>${BEL}rest`, 'rest'],
    ['a link', `${ESC}]8;;javascript:alert(1)${ESC}\\click${ESC}]8;;${ESC}\\`, 'click'],
    ['the clipboard', `${ESC}]52;c;cm0gLXJm${BEL}x`, 'x'],
    ['a title without an end', `x${ESC}]0;<script>alert(1)</script>`, 'x'],
    ['one byte instead of two', '\u009d0;title\u009cx\u009b2Jy', 'xy'],
    ['moving and clearing', `${ESC}[2J${ESC}[10;10Hx${ESC}[Ky${ESC}(Bz`, 'xyz'],
    ['a device string', `${ESC}Pq#0;2;0${ESC}\\x`, 'x'],
    ['control characters', 'a\u0000b\bc\u007fd\te', 'abcd\te'],
    ['text that runs backwards', 'a\u202egpj.exe\u2066x', 'agpj.exex'],
    ['a line that is written over', '10 %\r20 %\r100 %\r', '100 %'],
  ])('takes out %s', (_name, line, shown) => {
    expect(stripAnsi(line)).toBe(shown)
  })

  test('whatever it is given, nothing is left that controls, and looks are words of our own', () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom(
        ESC,
        BEL,
        '\u009b',
        '\u009d',
        `${ESC}[`,
        `${ESC}]`,
        'm',
        ';',
        '31',
        '\r',
        '"><img onerror=x>',
      ),
      fc.string({ unit: 'binary' }),
    )
    fc.assert(
      fc.property(
        fc.array(piece).map((parts) => parts.join('')),
        (line) => {
          const bad = parseAnsi(line).filter(
            ({ text, look }) =>
              /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(text) ||
              !/^[a-z -]*$/.test(look),
          )
          expect(bad).toEqual([])
        },
      ),
    )
  })

  test('a long line of openings is read to its end', () => {
    expect(stripAnsi(`${`${ESC}[`.repeat(50_000)}x`)).toBe('')
    expect(stripAnsi(`${`${ESC}]`.repeat(50_000)}${BEL}x`)).toBe('x')
    expect(stripAnsi(`${ESC}[${'1;'.repeat(50_000)}mx`)).toBe('x')
  })
})
