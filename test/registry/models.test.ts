import { describe, expect, test } from 'vitest'
import { jsonSchema, registry, tool, toolset } from 'toolable'

const greet = tool({
  name: 'greet',
  summary: 'Greet somebody',
  input: jsonSchema<{ name: string; loud?: boolean }>({
    type: 'object',
    properties: { name: { type: 'string' }, loud: { type: 'boolean' } },
    required: ['name'],
  }),
  run: ({ name, loud }) => ({ greeting: loud ? `HELLO ${name}` : `Hello ${name}` }),
})
const numbered = tool({ name: '7zip', summary: 'Pack', run: () => 'packed' })
const other = tool({ name: 'greet', summary: 'Greet in another way', run: () => 'Hi' })

describe('a registry in front of a model', () => {
  test('[6.handle-tool-call] what is exported can be called back under the same name, for every provider', async () => {
    const reg = await registry({
      tools: [
        toolset({ name: 'first', tools: [greet, numbered] }),
        toolset({ name: 'second', tools: [other] }),
      ],
      cache: false,
    })
    const names = (await reg.toOpenAI()).map((each) => each.function.name)
    expect(names.toSorted()).toEqual(['_7zip', 'greet', 'second__greet'])
    expect((await reg.toOpenAI({ api: 'responses' })).map((each) => each.name)).toEqual(names)
    expect((await reg.toAnthropic()).map((each) => each.name)).toEqual(names)
    expect((await reg.toGemini()).functionDeclarations.map((each) => each.name)).toEqual(names)
    expect((await reg.toMcp()).map((each) => each.name)).toEqual(names)
    expect(await reg.toAnthropic({ filter: 'second.*' })).toMatchObject([{ name: 'second__greet' }])
    const replies = await reg.handleToolCall({
      tool_calls: names
        .toSorted()
        .map((name) => ({
          id: name,
          function: { name, arguments: name === 'greet' ? '{"name":"Ada","loud":null}' : '' },
        })),
    })
    expect(replies).toEqual([
      { role: 'tool', tool_call_id: '_7zip', content: 'packed' },
      { role: 'tool', tool_call_id: 'greet', content: '{"greeting":"Hello Ada"}' },
      { role: 'tool', tool_call_id: 'second__greet', content: 'Hi' },
    ])
    expect(
      await reg.handleToolCall({ type: 'tool_use', id: 't', name: 'greet', input: {} }),
    ).toMatchObject({
      type: 'tool_result',
      is_error: true,
      content: [{ text: expect.stringMatching(/MISSING_PARAM.*name/) as unknown }],
    })
    await reg.close()
  })
})
