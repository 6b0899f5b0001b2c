import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createHandler, fail, prompt, registry, resource, tool, toolset } from 'toolable'
import type { AnyTool, ToolError, ToolsetChange } from 'toolable'
import { describe, expect, test } from 'vitest'
import { makeFolder } from '../support/run-program.ts'

const named = (name: string, answer: unknown = name, tags: readonly string[] = []): AnyTool =>
  tool({ name, summary: `The tool ${name}`, tags, run: () => answer })
const refusal = async (work: Promise<unknown>): Promise<ToolError> =>
  work.then(
    () => {
      throw new Error('it was accepted')
    },
    (error: ToolError) => error,
  )

describe('[6.ids-and-tiers] names that mean one tool each', () => {
  test('two tools of one name both survive, and the bare name means the first', async () => {
    const reg = await registry({
      tools: [
        toolset({ name: 'one', tools: [named('search', 1)] }),
        toolset({ name: 'two', tools: [named('search', 2)] }),
      ],
    })
    expect(reg.list()).toMatchObject([
      { id: 'one.search', name: 'search' },
      { id: 'two.search', name: 'two__search', shadowed_by: 'one.search' },
    ])
    const results = await Promise.all(
      ['search', 'one.search', 'two.search', 'two__search', 'two-search'].map((name) =>
        reg.call(name),
      ),
    )
    expect(results).toMatchObject([
      { result: 1, meta: { tool: 'one.search' } },
      { result: 1 },
      { result: 2, meta: { tool: 'two.search' } },
      { result: 2, meta: { tool: 'two.search' } },
      { ok: false, error: { code: 'NOT_FOUND' } },
    ])
    expect(reg.problems()).toMatchObject([
      {
        reason: 'duplicate',
        severity: 'warning',
        message: expect.stringContaining("'two.search'"),
      },
    ])
  })

  test('the stronger tier gets the bare name, whatever the order, without a warning', async () => {
    const folder = makeFolder()
    writeFileSync(
      join(folder, 'mine.mjs'),
      `import { tool } from ${JSON.stringify(import.meta.resolve('toolable'))}\nexport const search = tool({ name: 'search', summary: 'A module', run: () => 'module' })`,
    )
    const reg = await registry({
      cwd: folder,
      modules: ['mine.mjs'],
      tools: [named('search', 'process')],
    })
    expect(reg.list()).toMatchObject([
      { id: 'local.search', name: 'search', tier: 'in-process' },
      { id: 'mine.search', name: 'mine__search', tier: 'local', shadowed_by: 'local.search' },
    ])
    expect(reg.problems()).toEqual([])
    expect(await reg.call('search')).toMatchObject({ result: 'process' })
    expect(await reg.call('mine.search')).toMatchObject({ result: 'module' })
  })

  test('two sources of one name are told apart', async () => {
    const folder = makeFolder()
    const module = `import { tool } from ${JSON.stringify(import.meta.resolve('toolable'))}\nexport const search = tool({ name: 'search', summary: 'A module', run: () => import.meta.url })`
    for (const name of ['tools.mjs', 'tools.js']) writeFileSync(join(folder, name), module)
    const reg = await registry({ cwd: folder, modules: ['tools.mjs', 'tools.js'] })
    expect(reg.sources().map(({ name }) => name)).toEqual(['tools', 'tools_2'])
    expect(reg.list().map(({ id }) => id)).toEqual(['tools.search', 'tools_2.search'])
    expect(await reg.call('tools_2.search')).toMatchObject({
      result: expect.stringContaining('tools.js'),
    })
  })

  test('an unknown name is a failure that helps, from every door', async () => {
    const reg = await registry({ tools: [named('find_files')] })
    expect(await reg.call('find_file')).toMatchObject({
      ok: false,
      error: {
        code: 'NOT_FOUND',
        message: "there is no tool 'find_file'; did you mean 'find_files'?",
      },
    })
    for (const ask of [
      () => reg.describe('nosuch'),
      () => reg.schema('nosuch'),
      () => reg.describe(undefined as never),
    ])
      expect(await refusal(ask())).toMatchObject({ code: 'NOT_FOUND' })
    expect(reg.find('__proto__')).toBeUndefined()
    const events = []
    for await (const event of reg.stream('nosuch')) events.push(event)
    expect(events).toMatchObject([{ type: 'result', ok: false, error: { code: 'NOT_FOUND' } }])
  })
})

describe('[6.strict-duplicates] strict registries', () => {
  test('refuse two tools of one name and any source with a problem', async () => {
    const twice = [
      toolset({ name: 'one', tools: [named('search')] }),
      toolset({ name: 'two', tools: [named('search')] }),
    ]
    expect(await refusal(registry({ strict: true, tools: twice }))).toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining("'search' is also a tool of 'one'"),
    })
    expect(
      await refusal(registry({ strict: true, modules: ['/nowhere/tools.mjs'] })),
    ).toMatchObject({ code: 'CONFIG', message: expect.stringContaining('/nowhere/tools.mjs') })
    expect((await registry({ strict: true, tools: twice.slice(1) })).list()).toHaveLength(1)
  })

  test('options that cannot work are refused at once', async () => {
    const bad: readonly [never, string][] = [
      [{ folder: ['tools'] } as never, "did you mean 'folders'?"],
      [{ modules: 'tools.mjs' } as never, "'modules' of registry() takes a list"],
      [{ modules: [{}] } as never, "'path'"],
      [{ tools: named('x') } as never, 'tools: [myTool]'],
      [{ tools: [() => 1] } as never, 'where a tool is expected'],
      [{ mcpServers: [] } as never, 'takes a record of servers'],
      [{ name: 'Not A Name' } as never, 'must be 1 to 64 characters'],
    ]
    for (const [options, message] of bad)
      expect(await refusal(registry(options))).toMatchObject({
        code: 'CONFIG',
        message: expect.stringContaining(message),
      })
  })
})

describe('[6.registry-filters] choosing tools', () => {
  test('by name, id, tag, source and pattern', async () => {
    const reg = await registry({
      tools: [
        named('read_file', 1, ['files']),
        named('write_file', 1, ['files', 'danger']),
        toolset({ name: 'web', tools: [named('fetch')] }),
      ],
    })
    const names = (filter?: Parameters<typeof reg.list>[0]) =>
      reg.list(filter).map(({ name }) => name)
    expect(names()).toEqual(['read_file', 'write_file', 'fetch'])
    expect(names('all')).toEqual(names())
    expect(names('none')).toEqual([])
    expect(names('read-file')).toEqual(['read_file'])
    expect(names(['web.fetch', 'write_*'])).toEqual(['write_file', 'fetch'])
    expect(names('local.*')).toEqual(['read_file', 'write_file'])
    expect(names({ tag: 'danger' })).toEqual(['write_file'])
    expect(names({ tag: 'files', source: 'local', name: 'r*' })).toEqual(['read_file'])
    for (const filter of ['nosuch', { source: 'wbe' }, { tag: 'file' }, 'x*y'])
      expect(() => names(filter)).toThrow(/there is no (tool|source|tag)/)
    expect(await reg.toOpenAI({ filter: { source: 'web' } })).toHaveLength(1)
  })
})

describe('[6.registry-life] a registry', () => {
  test('tells of changes of a toolset in it', async () => {
    const set = toolset({ name: 'app', tools: [named('first')] })
    const reg = await registry({ tools: set })
    const heard: ToolsetChange[] = []
    const stop = reg.onChange((change) => heard.push(change))
    set.add(named('second'))
    await expect.poll(() => reg.list().map(({ name }) => name)).toEqual(['first', 'second'])
    expect(heard).toContainEqual({ kind: 'tools' })
    stop()
    await reg.close()
    expect(await refusal(reg.rescan())).toMatchObject({ code: 'PRECONDITION' })
  })

  test('reads a module again when it changed', async () => {
    const folder = makeFolder()
    const write = (answer: string) =>
      writeFileSync(
        join(folder, 'mine.mjs'),
        `import { tool } from ${JSON.stringify(import.meta.resolve('toolable'))}\nexport const say = tool({ name: 'say', summary: 'Say', run: () => '${answer}' })`,
      )
    write('one')
    const reg = await registry({ cwd: folder, modules: ['mine.mjs'] })
    expect(await reg.call('say')).toMatchObject({ result: 'one' })
    write('second')
    expect(await (await reg.rescan()).call('say')).toMatchObject({ result: 'second' })
    writeFileSync(join(folder, 'mine.mjs'), 'this is not JavaScript')
    expect((await reg.rescan()).problems()).toMatchObject([
      { reason: 'crashed', location: expect.stringContaining('mine.mjs') },
    ])
    writeFileSync(join(folder, 'mine.mjs'), 'export const nothing = 1')
    expect((await reg.rescan()).problems()).toMatchObject([{ reason: 'no-tools' }])
  })

  test('hands its own answerer to tools where a call brings none', async () => {
    const asks = tool({
      name: 'asks',
      summary: 'Ask',
      run: (_input, ctx) => ctx.ask({ kind: 'confirm', prompt: 'Really?' }),
    })
    const reg = await registry({ tools: [asks], answer: () => true })
    expect(await reg.call('asks')).toMatchObject({ ok: true, result: true })
    expect(await reg.call('asks', {}, { answer: () => false })).toMatchObject({
      ok: true,
      result: false,
    })
  })
})

describe('[6.registry-served] a registry is served like a toolset', () => {
  const reg = registry({
    name: 'everything',
    tools: [
      toolset({
        name: 'one',
        tools: [named('search', 1)],
        resources: [
          resource({ uri: 'notes://{id}', summary: 'Notes', read: ({ id }) => `note ${id}` }),
        ],
        prompts: [prompt({ name: 'greet', summary: 'Greet', render: () => 'hello' })],
      }),
      toolset({
        name: 'two',
        tools: [
          named('search', 2),
          tool({ name: 'broken', summary: 'Fail', run: () => fail('NOT_FOUND', 'gone') }),
        ],
        prompts: [prompt({ name: 'greet', summary: 'Greet', render: () => 'good day' })],
      }),
    ],
  })

  test('over HTTP and MCP, shadowed tools, resources and prompts included', async () => {
    const handler = createHandler(await reg)
    const post = async (
      path: string,
      body: unknown,
      headers: { readonly [name: string]: string } = {},
    ) =>
      (
        await handler(
          new Request(`http://localhost${path}`, {
            method: 'POST',
            body: JSON.stringify(body),
            headers: {
              'content-type': 'application/json',
              accept: 'application/json, text/event-stream',
              ...headers,
            },
          }),
        )
      ).json() as Promise<any>
    expect(await post('/tools/search', {})).toMatchObject({
      ok: true,
      result: 1,
      meta: { tool: 'one.search' },
    })
    expect(await post('/tools/two__search', {})).toMatchObject({
      ok: true,
      result: 2,
      meta: { tool: 'two.search' },
    })
    const rpc = (
      method: string,
      params: { readonly name?: string; readonly uri?: string; readonly arguments?: object } = {},
    ) => {
      const about = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
      }
      const name = params.name ?? params.uri
      return post(
        '/mcp',
        { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: about } },
        {
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': method,
          ...(name !== undefined && { 'mcp-name': name }),
        },
      )
    }
    expect(
      (await rpc('tools/list')).result.tools.map(({ name }: { name: string }) => name),
    ).toEqual(['search', 'broken', 'two__search'])
    expect(
      (await rpc('tools/call', { name: 'two__search', arguments: {} })).result.structuredContent,
    ).toBe(2)
    expect((await rpc('tools/call', { name: 'broken', arguments: {} })).result).toMatchObject({
      isError: true,
    })
    expect((await rpc('prompts/list')).result.prompts).toHaveLength(2)
    expect((await rpc('resources/read', { uri: 'notes://7' })).result.contents).toMatchObject([
      { text: 'note 7' },
    ])
    expect(await (await reg).readResource('notes://7')).toMatchObject({
      ok: true,
      result: 'note 7',
    })
    expect(await (await reg).renderPrompt('greet')).toMatchObject({ ok: true, result: 'hello' })
  })
})
