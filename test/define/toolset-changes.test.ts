import { describe, expect, test } from 'vitest'
import { prompt, resource, tool, toolset } from 'toolable'
import type { ToolsetChange } from 'toolable'

const aTool = (name: string) => tool({ name, summary: 'T', run: () => name })
const aResource = (uri: string) => resource({ uri, summary: 'R', read: () => uri })
const aPrompt = (name: string) => prompt({ name, summary: 'P', render: () => name })
const full = () =>
  toolset({
    name: 'prog',
    tools: { pr: [aTool('list')], top: aTool('top') },
    resources: [aResource('a://{id}'), aResource('b://c')],
    prompts: [aPrompt('one'), aPrompt('two_three')],
  })

describe('[3.toolset-remove] taking out', () => {
  test('a tool, by any spelling, and only once', async () => {
    const set = full()
    expect([
      set.remove('pr-list'),
      set.remove('pr_list'),
      set.remove('nosuch'),
      set.remove(undefined as never),
    ]).toEqual([true, false, false, false])
    expect(set.entries.map(({ name }) => name)).toEqual(['top'])
    expect(set.find('pr_list')).toBeUndefined()
    expect(await set.call('pr_list')).toMatchObject({ error: { code: 'NOT_FOUND' } })
    expect((await set.manifest()).tools).toHaveLength(1)
    expect(set.add(aTool('pr_list')).entries.map(({ name }) => name)).toEqual(['top', 'pr_list'])
  })

  test('a group that lost its last command may become a command', () => {
    const set = full()
    expect(() => set.add(aTool('pr'))).toThrow('cannot both be commands')
    set.remove('pr_list')
    expect(set.add(aTool('pr')).find('pr')).toBeDefined()
  })

  test('a call that runs goes on', async () => {
    const set = toolset({
      name: 'prog',
      tools: [
        tool({
          name: 'slow',
          summary: 'S',
          run: async () => {
            await new Promise((resolve) => setImmediate(resolve))
            return 'done'
          },
        }),
      ],
    })
    const running = set.call('slow')
    set.remove('slow')
    await expect(set.call('slow')).resolves.toMatchObject({ error: { code: 'NOT_FOUND' } })
    expect(await running).toMatchObject({ ok: true, result: 'done' })
  })

  test('resources and prompts, and the lists that others hold follow', async () => {
    const set = full()
    const { resources, prompts } = set
    expect([
      set.removeResource('a://{other}'),
      set.removeResource('a://{id}'),
      set.removeResource('b://d'),
      set.removeResource(5 as never),
    ]).toEqual([true, false, false, false])
    expect([
      set.removePrompt('two-three'),
      set.removePrompt('two_three'),
      set.removePrompt(null as never),
    ]).toEqual([true, false, false])
    expect([
      resources.map(({ manifest }) => manifest.uri),
      prompts.map(({ name }) => name),
    ]).toEqual([['b://c'], ['one']])
    expect(await set.readResource('a://1')).toMatchObject({ error: { code: 'NOT_FOUND' } })
    expect(await set.renderPrompt('two_three')).toMatchObject({ error: { code: 'NOT_FOUND' } })
    set.addResource(aResource('a://{again}')).addPrompt(aPrompt('four'))
    expect([resources.length, prompts.length]).toEqual([2, 2])
    expect(await set.outline()).toMatchObject({
      resources: [{ uri: 'b://c' }, { uri: 'a://{again}' }],
      prompts: [{ name: 'one' }, { name: 'four' }],
    })
  })
})

describe('[3.toolset-changes] hearing of changes', () => {
  test('every change is told at once, when it has happened, and what changed nothing is not told', () => {
    const set = full()
    const heard: [ToolsetChange, number, number, number][] = []
    const stop = set.onChange((change) =>
      heard.push([change, set.entries.length, set.resources.length, set.prompts.length]),
    )
    set.add(aTool('new'))
    expect(heard).toEqual([[{ kind: 'tools' }, 3, 2, 2]])
    set.addResource(aResource('n://n')).addPrompt(aPrompt('new'))
    set.remove('new')
    set.remove('new')
    set.removeResource('n://n')
    set.removeResource('n://n')
    set.removePrompt('new')
    set.removePrompt('new')
    set.resourceChanged('a://7')
    for (const add of [
      () => set.add(aTool('top')),
      () => set.addResource(aResource('b://c')),
      () => set.addPrompt(aPrompt('one')),
      () => set.add({} as never),
    ])
      expect(add).toThrow()
    expect(heard.slice(1)).toEqual([
      [{ kind: 'resources' }, 3, 3, 2],
      [{ kind: 'prompts' }, 3, 3, 3],
      [{ kind: 'tools' }, 2, 3, 3],
      [{ kind: 'resources' }, 2, 2, 3],
      [{ kind: 'prompts' }, 2, 2, 2],
      [{ kind: 'resource', uri: 'a://7' }, 2, 2, 2],
    ])
    stop()
    stop()
    set.remove('top')
    expect(heard).toHaveLength(7)
  })

  test('a listener that throws, leaves or joins in the middle disturbs nobody', () => {
    const set = full()
    const heard: string[] = []
    set.onChange(() => {
      throw new Error('deaf')
    })
    const stop = set.onChange(() => {
      heard.push('leaves')
      stop()
      set.onChange(() => heard.push('joined'))
    })
    set.onChange(() => heard.push('stays'))
    expect(() => set.remove('top')).not.toThrow()
    expect(heard).toEqual(['leaves', 'stays'])
    expect(set.resourceChanged('x://y')).toBeUndefined()
    expect(heard).toEqual(['leaves', 'stays', 'stays', 'joined'])
  })

  test('one function may listen twice, and stops once at a time', () => {
    const set = full()
    let count = 0
    const hear = (): void => void count++
    const stops = [set.onChange(hear), set.onChange(hear)]
    set.resourceChanged('a:b')
    stops[0]!()
    set.resourceChanged('a:b')
    stops[1]!()
    set.resourceChanged('a:b')
    expect(count).toBe(3)
  })

  test('what makes no sense is CONFIG', () => {
    const set = full()
    expect(() => set.onChange('x' as never)).toThrow('onChange() takes a function')
    for (const uri of [undefined, '', 5])
      expect(() => set.resourceChanged(uri as never)).toThrow('resourceChanged() takes the address')
  })
})

describe('[3.list-resources] addresses that can be read right now', () => {
  test('are those without placeholders, and what the others list, each once', async () => {
    const set = toolset({
      name: 'prog',
      version: '2.0.0',
      resources: [
        resource({
          uri: 'a://all',
          name: 'all',
          title: 'All',
          summary: 'Everything',
          mimeTypes: ['text/plain', 'text/html'],
          read: () => '',
        }),
        resource({
          uri: 'n://{id}',
          summary: 'A note',
          mimeTypes: ['text/markdown'],
          read: () => '',
          list: () => [
            { uri: 'n://1', name: 'one', size: 3 },
            { uri: 'n://2', description: 'Two', mimeType: 'text/plain', title: 'The second' },
            { uri: 'n://1', name: 'again' },
          ],
        }),
        resource({
          uri: 'g://{id}',
          summary: 'Generated',
          read: () => '',
          async *list(ctx) {
            yield { uri: `g://${ctx.caller}` }
          },
        }),
        resource({
          uri: 'p://{id}',
          summary: 'Promised',
          read: () => '',
          list: async () => new Set([{ uri: 'p://1' }]),
        }),
        resource({ uri: 'x://{id}', summary: 'Unlisted', read: () => '' }),
      ],
    })
    expect(await set.listResources({ caller: 'ci' })).toEqual({
      ok: true,
      status: 'success',
      meta: {
        tool: 'prog.resources',
        version: '2.0.0',
        duration_ms: expect.any(Number),
        caller: 'ci',
      },
      result: [
        {
          uri: 'a://all',
          name: 'all',
          title: 'All',
          description: 'Everything',
          mimeType: 'text/plain',
        },
        { uri: 'n://1', name: 'one', size: 3, description: 'A note', mimeType: 'text/markdown' },
        { uri: 'n://2', description: 'Two', mimeType: 'text/plain', title: 'The second' },
        { uri: 'g://ci', description: 'Generated' },
        { uri: 'p://1', description: 'Promised' },
      ],
    })
  })

  test('failures are values, and a list that never ends is ended', async () => {
    const listing = (list: () => unknown) =>
      toolset({
        name: 'prog',
        resources: [
          resource({ uri: 'n://{id}', summary: 'N', read: () => '', list: list as never }),
        ],
      })
    expect(
      await listing(() => {
        throw new Error('down')
      }).listResources(),
    ).toMatchObject({ ok: false, error: { code: 'INTERNAL', message: 'down' } })
    for (const odd of [[{}], ['n://1'], [null], [{ uri: 5 }]])
      expect(await listing(() => odd).listResources()).toMatchObject({
        error: {
          code: 'INTERNAL',
          message: "resource 'n://{id}' lists something without an address",
        },
      })
    expect(await listing(() => 5).listResources()).toMatchObject({
      ok: false,
      error: { code: 'INTERNAL' },
    })
    expect(
      await listing(() => new Promise(() => undefined)).listResources({ timeout: '20ms' }),
    ).toMatchObject({ error: { code: 'TIMEOUT' } })
    let left = false
    const endless = listing(async function* () {
      try {
        for (;;) {
          await new Promise((resolve) => setImmediate(resolve))
          yield { uri: 'n://1' }
        }
      } finally {
        left = true
      }
    })
    expect(await endless.listResources({ timeout: '20ms' })).toMatchObject({
      error: { code: 'TIMEOUT' },
    })
    await expect.poll(() => left).toBe(true)
  })
})
