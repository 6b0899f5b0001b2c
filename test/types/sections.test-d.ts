import { type } from 'arktype'
import { describe, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { jsonSchema, section, sections, skillSection, toolsetSection } from 'toolable'
import type {
  Outcome,
  RenderedPrompt,
  Section,
  SectionContext,
  SectionedPrompt,
  State,
  Toolset,
} from 'toolable'

declare const files: Toolset
const key = 'a'
const title = 'A'

describe('[8.section-params] the params of a section', () => {
  test('are what its schema gives, with defaults, in body, enabled and visibility', () => {
    section({
      key,
      title,
      params: z.object({ topic: z.string(), depth: z.number().default(1) }),
      enabled: ({ depth }) => depth > 0,
      visibility: ({ topic }) => (topic === '' ? 'summary' : 'full'),
      body: (params, context) => {
        expectTypeOf(params).toEqualTypeOf<{ topic: string; depth: number }>()
        expectTypeOf(context).toEqualTypeOf<SectionContext>()
        expectTypeOf(context.state).toEqualTypeOf<State | undefined>()
        return params.topic
      },
    })
    section({
      key,
      title,
      params: jsonSchema<{ n: 1 | 2 }>({ type: 'object' }),
      body: ({ n }) => {
        expectTypeOf(n).toEqualTypeOf<1 | 2>()
        return ''
      },
    })
    section({ key, title, params: () => type({ word: 'string' }), body: ({ word }) => word })
  })

  test('without a schema are unknown values, never any', () => {
    section({
      key,
      title,
      body: (params) => {
        expectTypeOf(params['x']).toEqualTypeOf<unknown>()
        return ''
      },
    })
    // @ts-expect-error a body gives text
    section({ key, title, body: () => 5 })
    // @ts-expect-error there is no such visibility
    section({ key, title, visibility: 'hidden' })
    // @ts-expect-error a title is required
    section({ key })
  })
})

describe('[8.section-params] render takes', () => {
  const inner = section({
    key: 'b',
    title,
    params: z.object({ depth: z.number().default(1), user: z.string() }),
  })
  const outer = section({
    key,
    title,
    params: jsonSchema<{ topic: string }>({ type: 'object' }),
    children: [inner, section({ key: 'c', title })],
  })

  test('what prompt, sections and children need together', () => {
    const prompt = sections({
      name: 'p',
      params: z.object({ language: z.enum(['de', 'en']) }),
      sections: [outer, toolsetSection(files)],
    })
    expectTypeOf(
      prompt.render({ topic: 't', user: 'u', language: 'de' }),
    ).resolves.toEqualTypeOf<RenderedPrompt>()
    // @ts-expect-error topic is missing
    void prompt.render({ user: 'u', language: 'de' })
    // @ts-expect-error user is missing
    void prompt.render({ topic: 't', language: 'de' })
    // @ts-expect-error wrong language
    void prompt.render({ topic: 't', user: 'u', language: 'fr' })
    // @ts-expect-error params are needed
    void prompt.render()
    // @ts-expect-error nobody declares it
    void prompt.render({ topic: 't', user: 'u', language: 'de', more: 1 })
  })

  test('nothing where nothing is needed, and anything where nobody knows', async () => {
    expectTypeOf(
      sections({ name: 'p', sections: [section({ key, title })] }).render(),
    ).resolves.toEqualTypeOf<RenderedPrompt>()
    void sections({
      name: 'p',
      sections: [
        section({ key, title, params: z.object({ n: z.number().optional() }) }),
        await skillSection('./pdf'),
      ],
    }).render()
    const list: Section[] = [outer]
    void sections({ name: 'p', sections: list }).render({ topic: 1 })
  })

  test('any prompt fits where one is wanted', () => {
    const take = (prompt: SectionedPrompt) => prompt.name
    take(sections({ name: 'p', sections: [outer] }))
  })
})

test('[8.section-calls] calls give outcomes', () => {
  expectTypeOf<RenderedPrompt['call']>().returns.resolves.toEqualTypeOf<Outcome>()
  expectTypeOf<RenderedPrompt['evaluate']>().returns.resolves.toEqualTypeOf<Outcome>()
})
