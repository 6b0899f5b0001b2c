import fc from 'fast-check'
import { expect, test } from 'vitest'
import { section, sections, tool } from 'toolable'
import type { Section } from 'toolable'
import { rounds } from '../support/rounds.ts'

type Plan = {
  readonly enabled: boolean
  readonly summary: boolean
  readonly tools: number
  readonly body: readonly (string | number)[]
  readonly children: readonly Plan[]
}

const PARAMS = ['one', 'two', 'three'] as const
// Texts that try to be more than texts.
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '{{one}}',
    '{{two',
    '}}',
    '\\{{one}}',
    '$&',
    '$1',
    '{{',
    '\\',
    '{{ three }}',
    '# Title',
    '{{{{one}}}}',
    '__proto__',
  ),
)
const plan: fc.Memo<Plan> = fc.memo((depth) =>
  fc.record({
    enabled: fc.boolean(),
    summary: fc.boolean(),
    tools: fc.nat({ max: 2 }),
    body: fc.array(
      fc.oneof(
        fc.nat({ max: 2 }),
        fc.string({ unit: 'grapheme-ascii' }).map((each) => each.replaceAll(/[{}\\\s]/g, '.')),
      ),
      { maxLength: 5 },
    ),
    children: depth > 1 ? fc.array(plan(depth - 1), { maxLength: 2 }) : fc.constant([]),
  }),
)

test('any tree of sections renders to the same bytes each time, values stand in it as they are, and its tools are those of the enabled and open sections, depth-first [8.section-text] [8.section-tools]', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(plan(3), { minLength: 1, maxLength: 3 }),
      fc.tuple(text, text, text),
      async (plans, values) => {
        let count = 0
        const expected = { tools: [] as string[], text: [] as string[], canOpen: false }
        const build = (
          { enabled, summary, tools, body, children }: Plan,
          depth: number,
          above: 'shown' | 'hidden',
        ): Section => {
          const key = `s${(count += 1)}`
          const names = Array.from({ length: tools }, (_, index) => `${key}_${index}`)
          const isThere = above === 'shown' && enabled
          const isOpen = isThere && !summary
          const template = body
            .map((part) => (typeof part === 'number' ? `{{${PARAMS[part]}}}` : part))
            .join('')
          if (isThere) expected.text.push(`${'#'.repeat(depth)} T ${key}`)
          if (isOpen) {
            expected.tools.push(...names)
            if (template !== '')
              expected.text.push(
                body.map((part) => (typeof part === 'number' ? values[part] : part)).join(''),
              )
          } else if (isThere) {
            expected.canOpen = true
            expected.text.push(`About ${values[0]}`, howTo(key))
          }
          return section({
            key,
            title: `T ${key}`,
            enabled,
            ...(summary && { visibility: 'summary' as const, summary: 'About {{one}}' }),
            body: template,
            tools: names.map((name) => tool({ name, summary: name, run: () => name })),
            children: children.map((child) => build(child, depth + 1, isOpen ? 'shown' : 'hidden')),
          })
        }
        const parts = plans.map((each) => build(each, 1, 'shown'))
        const prompt = sections({
          name: 'p',
          params: {
            type: 'object',
            properties: Object.fromEntries(PARAMS.map((name) => [name, { type: 'string' }])),
            additionalProperties: false,
          },
          sections: parts,
        })
        const params = { one: values[0], two: values[1], three: values[2] }
        const [first, second] = await Promise.all([
          prompt.render(params),
          prompt.render({ ...params }),
        ])
        expect(first.text).toBe(expected.text.filter((part) => part !== '').join('\n\n'))
        expect(second.text).toBe(first.text)
        expect(first.tools.map(({ name }) => name)).toEqual([
          ...expected.tools,
          ...(expected.canOpen ? ['read_section', 'open_sections'] : []),
        ])
      },
    ),
    { numRuns: rounds(300) },
  )
})

function howTo(key: string): string {
  return `(Summary. To open this section with its tools, call \`open_sections\` with {"section_keys":["${key}"]}; to read it only, call \`read_section\` with {"section_key":"${key}"}.)`
}
