import fc from 'fast-check'

const WORDS = ['note', 'keep me', '}', '{', ',', '"', '[mcp_servers.ours]', 'été', "it's"]
const BLANKS = ['', ' ', '  ', '\t']
const KEYS = ['a', 'b', 'servers2', '__proto__', 'constructor', 'x y', 'hasOwnProperty']
const SCALARS = ['1', '-0', 'null', 'true', '"text"', '"a // b"', '[1, 2]', '{}', '"\\u00e9\\n"']

/**
 * JSON as people write it: any indentation, line breaks, comments, trailing commas, on one line or
 * many. `container` may be there, empty or missing.
 */
export function jsoncTexts(container: string): fc.Arbitrary<string> {
  const style = fc.record({
    lineBreak: fc.constantFrom('\n', '\r\n'),
    step: fc.constantFrom('  ', '    ', '\t', ''),
    lines: fc.boolean(),
    comments: fc.boolean(),
    trailingCommas: fc.boolean(),
    colon: fc.constantFrom(': ', ':', ' : '),
    start: fc.constantFrom('', '\n', '// the servers of us all\n', '/* a */ '),
    end: fc.constantFrom('', '\n', '\n\n', '  \n// end\n'),
    kind: fc.constantFrom('missing', 'empty', 'filled'),
  })
  return fc
    .tuple(style, fc.array(fc.nat({ max: 999 }), { minLength: 40, maxLength: 40 }))
    .map(([chosen, dice]) => {
      let rolled = 0
      const pick = <T>(list: readonly T[]): T => list[dice[rolled++ % dice.length]! % list.length]!
      const remark = (): string => {
        if (!chosen.comments || pick([true, false])) return ''
        return chosen.lines && pick([true, false])
          ? ` // ${pick(WORDS)}${pick(BLANKS)}\n`
          : ` /* ${pick(WORDS)} */`
      }
      const keys = (most: number): string[] => [
        ...new Set(Array.from({ length: pick([0, 1, most]) }, () => pick(KEYS))),
      ]
      const object = (
        properties: readonly (readonly [string, string])[],
        depth: number,
      ): string => {
        const indent = chosen.lines ? `\n${chosen.step.repeat(depth)}` : ''
        const outer = chosen.lines ? `\n${chosen.step.repeat(depth - 1)}` : ''
        if (properties.length === 0) return `{${remark()}${pick(['', ' ', '\n', '\n  '])}}`
        const body = properties.map(([key, value], index) => {
          const comma = index < properties.length - 1 || chosen.trailingCommas ? ',' : ''
          return `${indent}${JSON.stringify(key)}${chosen.colon}${value}${remark()}${comma}${pick(BLANKS)}${remark()}`
        })
        return `{${remark()}${body.join('')}${outer}${pick(BLANKS)}}`
      }
      const entries =
        chosen.kind === 'filled'
          ? ['other', ...keys(2)].map(
              (key) =>
                [
                  key,
                  object(
                    keys(2).map((inner) => [inner, pick(SCALARS)]),
                    3,
                  ),
                ] as const,
            )
          : []
      const others = keys(3).map((key) => [key, pick(SCALARS)] as const)
      const place = pick([0, 1, 2])
      const properties =
        chosen.kind === 'missing'
          ? others
          : [
              ...others.slice(0, place),
              [container, object(entries, 2)] as const,
              ...others.slice(place),
            ]
      return (chosen.start + object(properties, 1) + chosen.end).replaceAll('\n', chosen.lineBreak)
    })
}

/**
 * TOML with comments, strings over several lines that look like headers, and tables of every form.
 */
export function tomlTexts(container: string): fc.Arbitrary<string> {
  const lineBreak = fc.constantFrom('\n', '\r\n')
  const before = fc.subarray([
    '# a comment',
    '',
    'model = "o9"  # inline',
    'date = 2026-11-15T10:00:00Z',
    'big = 1_000',
    'nan = nan',
    'text = """\n[mcp_servers.ours]\n# no comment\n"""',
    "raw = '''\n[x]\n'''",
    'list = [\n  [1, 2],\n  [3],\n]',
  ])
  const tables = fc.subarray([
    '[profiles.fast]\nmodel = "x"',
    '[[rules]]\nname = "a"',
    '[[rules]]\nname = "b"',
    `[${container}.other]\ncommand = "npx"\nargs = [\n  "-y",\n  "pkg", # why\n]`,
    `[${container}."with space"]\nurl = "http://x"`,
    `# about the next\n[${container}.other2]\ncommand = 'c'`,
    `[ ${container} . third.env ]\nA = "1"`,
  ])
  return fc
    .tuple(
      before,
      tables,
      lineBreak,
      fc.constantFrom('', '\n', '\n\n', '\n# the end', '\n  '),
      fc.boolean(),
    )
    .map(([top, rest, eol, end, spaced]) =>
      (
        top.join('\n') +
        (rest.length > 0 ? '\n' : '') +
        rest.join(spaced ? '\n\n' : '\n') +
        end
      ).replaceAll('\n', eol),
    )
}
