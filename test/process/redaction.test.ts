import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRedactor } from '../../src/process/redaction.ts'
import { runChild } from '../../src/process/run.ts'
import { rounds } from '../support/rounds.ts'

const PEM = [
  '-----BEGIN KEY-----',
  ...[
    'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC',
    'BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj',
    'MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3S',
  ],
  '-----END KEY-----',
  '',
].join('\n')
const AWKWARD = `p@ss "w\\örd" $it's/1&2 <3>+=%`

const escapeAll = (text: string): string =>
  text.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
const base64 =
  (before: string) =>
  (text: string): string =>
    Buffer.from(`${before}${text}~~~`).toString('base64')

/** Written apart from the code under test. */
const ENCODINGS: { readonly [name: string]: (secret: string) => string } = {
  raw: (text) => text,
  json: (text) => JSON.stringify({ token: text }),
  'json twice': (text) => JSON.stringify(JSON.stringify([text])),
  'json of Go': (text) =>
    JSON.stringify(text)
      .replaceAll('&', '\\u0026')
      .replaceAll('<', '\\u003c')
      .replaceAll('>', '\\u003e'),
  'json of .NET': (text) =>
    text
      .replaceAll('\\', '\\\\')
      .replace(
        /[<>&'"+`ö]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
      ),
  'unicode escapes': escapeAll,
  'base64, shift 0': base64(''),
  'base64, shift 1': base64('x'),
  'base64, shift 2': base64('xy'),
  base64url: (text) => Buffer.from(`??>${text}`).toString('base64url'),
  url: encodeURIComponent,
  form: (text) => new URLSearchParams({ q: text }).toString(),
  hex: (text) => Buffer.from(text).toString('hex'),
  html: (text) =>
    text.replace(/[&<>"']/g, (character) =>
      `&#${character.charCodeAt(0)};`
        .replace('&#38;', '&amp;')
        .replace('&#60;', '&lt;')
        .replace('&#62;', '&gt;')
        .replace('&#34;', '&quot;'),
    ),
  shell: (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`,
}

const inChunks = (bytes: Buffer, secrets: readonly string[], sizes: Iterable<number>): Buffer => {
  const stream = createRedactor(secrets).stream()
  const out: Buffer[] = []
  let at = 0
  for (const size of sizes) {
    if (at >= bytes.length) break
    out.push(stream.push(bytes.subarray(at, at + size)))
    at += size
  }
  return Buffer.concat([...out, stream.push(bytes.subarray(at)), stream.finish()])
}

describe('what is taken out', () => {
  test.each(Object.entries(ENCODINGS))(
    '[7.redact-chunks] a secret written as %s is found wherever a chunk ends',
    (_name, encode) => {
      const written = encode(AWKWARD)
      const whole = Buffer.from(`before ${written} after ${written}`)
      const expected = createRedactor([AWKWARD]).text(whole.toString())
      expect(expected.split('[REDACTED]')).toHaveLength(3)
      // Nothing in a row that is longer than what base64 mixes with its neighbours.
      for (let at = 0; at + 12 <= written.length; at += 1)
        expect(expected).not.toContain(written.slice(at, at + 12))
      const redactor = createRedactor([AWKWARD])
      for (let split = 0; split <= whole.length; split += 1) {
        const stream = redactor.stream()
        expect(
          Buffer.concat([
            stream.push(whole.subarray(0, split)),
            stream.push(whole.subarray(split)),
            stream.finish(),
          ]).toString(),
        ).toBe(expected)
      }
    },
  )

  test('[7.redact-encodings] 50 canaries are found in none of the forms that Python gives them, whatever the chunks', async () => {
    const random = (index: number): string =>
      Buffer.from(
        fc.sample(fc.uint8Array({ minLength: 12, maxLength: 30 }), { seed: index, numRuns: 1 })[0]!,
      ).toString('base64')
    const canaries = [
      PEM,
      AWKWARD,
      'grüße aus 東京 €',
      "it's ''quoted'' \"twice\"",
      'sixchr',
      ...Array.from({ length: 45 }, (_, index) => random(index)),
    ]
    const { stdout, status } = await runChild({
      command: [
        'python3',
        fileURLToPath(new URL('../fixtures/children/tells-its-secret.py', import.meta.url)),
      ],
      cwd: tmpdir(),
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', PYTHONDONTWRITEBYTECODE: '1' },
      input: JSON.stringify(canaries),
    })
    expect(status).toBe(0)
    const clean = inChunks(
      stdout,
      canaries,
      new Array<number>(Math.ceil(stdout.length / 97)).fill(97),
    )
    expect(clean.equals(inChunks(stdout, canaries, [stdout.length]))).toBe(true)
    const lines = clean.toString('latin1').split('\n')
    expect(lines.filter((line) => line.startsWith('<<') && !line.includes('[REDACTED]'))).toEqual(
      [],
    )
    expect(
      lines.filter((line) => line.startsWith('  | ') && !/^ {2}\| *\[REDACTED\]\r?$/.test(line)),
    ).toEqual([])
    // What base64 mixes with its neighbours may stay; nothing else does.
    expect(lines.filter((line) => line.replace(/\[REDACTED\]|&#10;/g, '').length > 24)).toEqual([])
  })

  test('[7.redact-chunks] chunks change nothing, and no secret comes through in any encoding', () => {
    const secret = fc
      .oneof(
        fc.string({ unit: 'grapheme', minLength: 6, maxLength: 30 }),
        fc.string({
          unit: fc.constantFrom('a', 'b', '"', '\n', '\\'),
          minLength: 6,
          maxLength: 12,
        }),
      )
      .filter((text) => text.trim().length >= 6)
    const encodings = fc.constantFrom(...Object.values(ENCODINGS))
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 4 }),
        fc.array(fc.tuple(fc.nat(3), encodings, fc.string()), { maxLength: 6 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 200 }),
        (secrets, parts, sizes) => {
          const text = parts
            .map(
              ([index, encode, after]) => encode(secrets[index % secrets.length]!.trim()) + after,
            )
            .join('')
          const whole = Buffer.from(text)
          const clean = inChunks(whole, secrets, sizes)
          expect(clean.toString()).toBe(createRedactor(secrets).text(text))
          for (const [index, encode] of parts) {
            const one = secrets[index % secrets.length]!.trim()
            if (encode !== ENCODINGS['raw'] || '[REDACTED]'.includes(one)) continue
            expect(clean.includes(one)).toBe(false)
          }
        },
      ),
      { numRuns: rounds(100) },
    )
  })

  test('[7.redact-chunks] secrets that overlap, contain each other or touch leave nothing of any of them', () => {
    const redactor = createRedactor(['abcdef', 'defghi', 'abcdefgh', 'xyzxyz'])
    expect(redactor.text('-abcdefghi-abcdefgh-defghi-xyzxyzxyz-abcdefxyzxyz-')).toBe(
      '-[REDACTED]-[REDACTED]-[REDACTED]-[REDACTED]-[REDACTED][REDACTED]-',
    )
    for (const size of [1, 2, 3, 5, 7])
      expect(
        inChunks(
          Buffer.from('-abcdefghi-xyzxyzxyz-abcdefg'),
          ['abcdef', 'defghi', 'abcdefgh', 'xyzxyz'],
          new Array<number>(40).fill(size),
        ).toString(),
      ).toBe('-[REDACTED]-[REDACTED]-[REDACTED]g')
  })

  test('[7.redact-bytes] bytes that are no text stay as they are around a secret', () => {
    const mixed = Buffer.concat([
      Buffer.from([0xff, 0xfe, 0, 0xc3]),
      Buffer.from('abcdef'),
      Buffer.from([0x80, 0]),
    ])
    expect(inChunks(mixed, ['abcdef'], [5, 1])).toEqual(
      Buffer.concat([
        Buffer.from([0xff, 0xfe, 0, 0xc3]),
        Buffer.from('[REDACTED]'),
        Buffer.from([0x80, 0]),
      ]),
    )
  })

  test('[7.redact-chunks] only what may be the beginning of a secret is kept back, so that a question is never stuck', () => {
    const stream = createRedactor(['abcdef', PEM]).stream()
    expect(stream.push(Buffer.from('{"type":"action_required"}\n')).toString()).toBe(
      '{"type":"action_required"}\n',
    )
    expect(stream.push(Buffer.from('now abc')).toString()).toBe('now ')
    expect(stream.push(Buffer.from('d?\n')).toString()).toBe('abcd?\n')
  })
})

describe('values', () => {
  test('[7.redact-values] keys, texts and numbers of JSON are cleaned, and JSON stays JSON', () => {
    const redactor = createRedactor(['12345678', '"type"'])
    expect(
      redactor.value({
        12345678: ['x12345678', 12345678, 1, true, null],
        deep: { __proto__: null, note: 'the "type"' },
      }),
    ).toEqual({
      '[REDACTED]': ['x[REDACTED]', '[REDACTED]', 1, true, null],
      deep: { note: 'the [REDACTED]' },
    })
    expect(
      JSON.parse(redactor.json('{"type":"log","pin":12345678,"__proto__":{"a":"12345678"}}')),
    ).toEqual(JSON.parse('{"type":"log","pin":"[REDACTED]","__proto__":{"a":"[REDACTED]"}}'))
  })

  test('[7.redact-nothing] without secrets everything comes back as it is, the very same', () => {
    const redactor = createRedactor([])
    const value = { a: 1 }
    const chunk = Buffer.from('x')
    expect([
      redactor.isEmpty,
      redactor.text('x'),
      redactor.value(value) === value,
      redactor.stream().push(chunk) === chunk,
    ]).toEqual([true, 'x', true, true])
  })

  test('[7.redact-short] a secret of less than six characters is refused, because it would be found everywhere', () => {
    for (const short of ['', 'abcde', '  abcde\n'])
      expect(() => createRedactor([short])).toThrow(
        'A secret has less than 6 characters and cannot be kept out of logs',
      )
  })
})
