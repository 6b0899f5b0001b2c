import { describe, expect, test } from 'vitest'
import { modern, openRaw } from './support/raw-stdio.ts'
import type { Message, RawStdio } from './support/raw-stdio.ts'

const names = ({ result }: Message): string[] =>
  result.tools.map(({ name }: { readonly name: string }) => name)
const textOf = ({ result }: Message): any => JSON.parse(result.content[0].text)
const open = (many: number, ...args: string[]): RawStdio =>
  openRaw('many-tools.mjs', args, { env: { MANY: String(many) } })
const run = (
  raw: RawStdio,
  name: string,
  input: object,
  capabilities: object = {},
): Promise<Message> =>
  raw.ask('tools/call', modern({ name: 'run_tool', arguments: { name, input } }, capabilities))

describe('many tools behind three doors [5.mcp-progressive]', () => {
  test.each([
    [30, [], 30],
    [31, [], 3],
    [31, ['--no-progressive'], 31],
    [3, ['--progressive'], 3],
  ])('%i tools with %j list %i', async (many, args, listed) => {
    const raw = open(many, ...args)
    const answer = await raw.ask('tools/list')
    expect(answer.result.tools).toHaveLength(listed)
    if (listed === 3 && (many > 3 || args.length > 0))
      expect(names(answer)).toEqual(['search_tools', 'describe_tool', 'run_tool'])
    await raw.end()
  })

  test('a hundred tools cost a few hundred tokens', async () => {
    const raw = open(100)
    const { result } = await raw.ask('tools/list')
    expect(JSON.stringify(result).length).toBeLessThan(3000)
    expect((await raw.ask('server/discover', modern())).result.instructions).toContain(
      'search_tools',
    )
    await raw.end()
  })

  test('a tool is found, described and run, with all that it does itself', async () => {
    const raw = open(100)
    const found = await raw.ask('tools/call', {
      name: 'search_tools',
      arguments: { query: 'send invoices' },
    })
    expect(textOf(found)).toMatchObject({
      tools: [{ name: 'send_invoice', summary: 'Send an invoice to a customer' }],
      total: 100,
    })
    expect(
      textOf(await raw.ask('tools/call', { name: 'search_tools', arguments: { query: 'billing' } }))
        .tools[0].name,
    ).toBe('send_invoice')
    expect(
      textOf(
        await raw.ask('tools/call', { name: 'search_tools', arguments: { query: '', limit: 4 } }),
      ).tools,
    ).toHaveLength(4)
    expect(
      textOf(await raw.ask('tools/call', { name: 'search_tools', arguments: { query: 'zebra' } }))
        .tools,
    ).toEqual([])

    expect(
      textOf(
        await raw.ask('tools/call', { name: 'describe_tool', arguments: { name: 'send_invoice' } }),
      ),
    ).toMatchObject({
      name: 'send_invoice',
      description: 'Send an invoice to a customer\n\nMakes a PDF and mails it.',
      input_schema: { required: ['customer', 'amount'] },
      output_schema: { required: ['sent'] },
      examples: [{ input: { customer: 'ann', amount: 5 } }],
    })
    expect((await run(raw, 'send_invoice', { customer: 'ann', amount: 5 })).result).toMatchObject({
      structuredContent: { sent: '5 to ann' },
    })
    expect(
      (
        await raw.ask('tools/call', {
          name: 'send_invoice',
          arguments: { customer: 'bob', amount: 1 },
        })
      ).result.structuredContent,
    ).toEqual({ sent: '1 to bob' })
    await raw.end()
  })

  test.each<[what: string, name: string, input: object, error: object]>([
    [
      'wrong input',
      'send_invoice',
      { customer: 'ann', amount: 0 },
      { code: 'INVALID_INPUT', field: 'amount' },
    ],
    ['missing input', 'send_invoice', {}, { code: 'MISSING_PARAM' }],
    [
      'a failure of the tool',
      'track_parcel',
      { parcel: 'lost' },
      { code: 'NOT_FOUND', message: 'the parcel is lost' },
    ],
    [
      'an unknown name',
      'send_invoise',
      {},
      { code: 'NOT_FOUND', message: expect.stringContaining("did you mean 'send_invoice'") },
    ],
    ['one of the doors', 'run_tool', { name: 'routine_1' }, { code: 'NOT_FOUND' }],
  ])('%s is told as the tool itself would', async (_what, name, input, error) => {
    const raw = open(40)
    const answer = await run(raw, name, input)
    expect(answer.result.isError).toBe(true)
    expect(textOf(answer).error).toMatchObject(error)
    await raw.end()
  })

  test('the door is open for what was said, and for all of it', async () => {
    const raw = open(40)
    const invoice = { customer: 'ann', amount: 5 }
    expect(
      (
        await raw.ask('tools/call', {
          name: 'run_tool',
          arguments: { name: 'send_invoice', arguments: invoice },
        })
      ).result,
    ).toMatchObject({ structuredContent: { sent: '5 to ann' } })
    for (const given of [
      { name: 'routine_1', inputs: {} },
      { name: 'routine_1', input: 'x' },
      { name: 'routine_1', input: {}, arguments: {} },
    ]) {
      const answer = await raw.ask('tools/call', { name: 'run_tool', arguments: given })
      expect([answer.result.isError, textOf(answer).error.code]).toEqual([true, 'INVALID_INPUT'])
    }
    await raw.end()
  })

  test('hosts and models see what destroys', async () => {
    const raw = open(40)
    const { result } = await raw.ask('tools/list')
    const destroys = textOf(
      await raw.ask('tools/call', { name: 'search_tools', arguments: { query: '', limit: 100 } }),
    ).tools.filter((found: { readonly destructive?: boolean }) => found.destructive)
    expect(result.tools.at(-1)).toMatchObject({
      name: 'run_tool',
      annotations: { destructiveHint: true },
    })
    expect(destroys.length).toBeGreaterThan(0)
    await raw.end()
  })

  test('progress and consent work through the door', async () => {
    const raw = open(40)
    await raw.ask('tools/call', {
      name: 'run_tool',
      arguments: { name: 'track_parcel', input: { parcel: 'x' } },
      _meta: { progressToken: 1 },
    })
    expect(
      raw.messages.find(({ method }) => method === 'notifications/progress')?.params,
    ).toMatchObject({ progressToken: 1, progress: 50, message: 'looking' })
    const asked = await run(raw, 'close_account', { customer: 'ann' }, { elicitation: {} })
    expect(asked.result.resultType).toBe('input_required')
    const [key = ''] = Object.keys(asked.result.inputRequests)
    const again = {
      name: 'run_tool',
      arguments: { name: 'close_account', input: { customer: 'ann' } },
      requestState: asked.result.requestState,
      inputResponses: { [key]: { action: 'accept', content: { answer: true } } },
    }
    expect(
      (await raw.ask('tools/call', modern(again, { elicitation: {} }))).result.structuredContent,
    ).toEqual({ closed: 'ann' })
    await raw.end()
  })
})
