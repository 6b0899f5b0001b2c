import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { call, isTool, prompt, resource, tool, toolset } from 'toolable'
import { refusalOf, refusedAtOnce } from '../support/refusal.ts'

const echo = (name: string) => tool({ name, summary: 'Says its name', run: () => name })

describe('names', () => {
  test('[3.name-dash-underscore] a tool is found under either spelling', async () => {
    const set = toolset({ name: 'prog', tools: [echo('find_files'), echo('pr-list')] })
    for (const name of ['find_files', 'find-files'])
      expect((await set.call(name)).meta.tool).toBe('prog.find_files')
    for (const name of ['pr_list', 'pr-list'])
      expect(await set.call(name)).toMatchObject({ ok: true, result: 'pr-list' })
    expect(set.find('Find_Files')).toBeUndefined()
  })

  test('[3.duplicate-names] two tools of one name are refused with the way out', async () => {
    expect(
      (await refusalOf(() => toolset({ name: 'prog', tools: [echo('a'), echo('a')] }))).message,
    ).toBe("two tools are called 'a': rename one, for example with add(tool, 'other_name')")
    expect(
      (await refusalOf(() => toolset({ name: 'prog', tools: [echo('a-b'), echo('a_b')] }))).message,
    ).toContain("('a_b' is the same name)")
    expect(refusedAtOnce(() => toolset(echo('a')).add(echo('a'))).code).toBe('CONFIG')
  })

  test('the name of the toolset is checked too', () => {
    expect(refusedAtOnce(() => toolset({ name: 'My Tools' })).message).toContain(
      "for example 'my_tools'",
    )
    expect(refusedAtOnce(() => toolset(undefined as never)).message).toBe(
      'toolset() takes { name, tools } or one tool',
    )
  })

  test('[3.single-tool-shorthand] one tool is a program of its name', async () => {
    const set = toolset(echo('find_files'))
    expect([set.name, set.version, set.entries.length]).toEqual(['find-files', '0.1.0', 1])
    expect(await set.call('find_files')).toMatchObject({ ok: true, result: 'find_files' })
  })

  test('[3.toolset-add] add takes a tool under its own or another name and can be chained', async () => {
    const set = toolset({ name: 'prog' }).add(echo('a')).add(echo('a'), 'b')
    expect(set.entries.map(({ name }) => name)).toEqual(['a', 'b'])
    expect(await set.call('b')).toMatchObject({ ok: true, result: 'a', meta: { tool: 'prog.b' } })
    expect((await set.manifest()).tools.map(({ name }) => name)).toEqual(['a', 'b'])
    expect(() => set.add(echo('c'), 'Bad Name')).toThrow(/for example 'bad_name'/)
  })
})

describe('groups', () => {
  test('[3.groups] keys of a record name groups and tools', async () => {
    const set = toolset({
      name: 'prog',
      tools: {
        status: echo('anything'),
        pr: [echo('list'), echo('pr_open')],
        issue: { comment: { add: echo('x') } },
      },
    })
    expect(set.entries.map(({ name, path }) => [name, path.join(' ')])).toEqual([
      ['status', 'status'],
      ['pr_list', 'pr list'],
      ['pr_open', 'pr open'],
      ['issue_comment_add', 'issue comment add'],
    ])
    expect(await set.call('issue-comment-add')).toMatchObject({ ok: true, result: 'x' })
  })

  test('a command cannot also be a group', async () => {
    const { message } = await refusalOf(() =>
      toolset({ name: 'prog', tools: { 'a-b': [echo('c')], a_b: echo('x') } }),
    )
    expect(message).toContain('cannot both be commands: one is a group of the other')
  })

  test('what is no tool is refused with its place and the way out', async () => {
    const wrong = (tools: unknown) =>
      refusalOf(() => toolset({ name: 'prog', tools: tools as never }))
    expect((await wrong({ pr: { list: () => 1 } })).message).toBe(
      'pr.list holds a plain function where a tool is expected: wrap it with tool({ name, summary, run })',
    )
    expect((await wrong([{}])).message).toContain('tools holds an object where a tool is expected')
    expect((await wrong({ a: null })).message).toContain('a holds null')
    expect((await wrong({ 'Bad Group': [echo('x')] })).message).toContain('group name "Bad Group"')
  })

  test('a group and a tool together must be a name that every surface can carry', async () => {
    const group = 'g'.repeat(40)
    expect(
      (await refusalOf(() => toolset({ name: 'prog', tools: { [group]: [echo('t'.repeat(40))] } })))
        .message,
    ).toContain('1 to 64 characters')
  })
})

describe('calls by name', () => {
  const set = toolset({
    name: 'prog',
    version: '2.0.0',
    tools: [echo('find_files'), echo('read_file')],
  })

  test('an unknown tool is a failed outcome with a suggestion', async () => {
    const outcome = await set.call('find_flies')
    expect(outcome).toEqual({
      ok: false,
      status: 'error',
      error: expect.objectContaining({
        code: 'NOT_FOUND',
        message: "there is no tool 'find_flies'; did you mean 'find_files'?",
        details: { tools: ['find_files', 'read_file'] },
      }),
      meta: { tool: 'prog.find_flies', version: '2.0.0', duration_ms: 0 },
    })
  })

  test.each([
    ['__proto__'],
    ['constructor'],
    [''],
    ['x'.repeat(10_000)],
    [undefined],
    [null],
    [{}],
  ])('[4.prototype-keys] the name %j is not found, and nothing breaks', async (name) => {
    const outcome = await set.call(name as string)
    expect(outcome).toMatchObject({ ok: false, error: { code: 'NOT_FOUND' } })
    expect(JSON.stringify(outcome).length).toBeLessThan(2000)
  })

  test('an unknown tool streams one failed result', async () => {
    const events = []
    for await (const event of set.stream('nothing')) events.push(event)
    expect(events).toMatchObject([{ type: 'result', ok: false, error: { code: 'NOT_FOUND' } }])
  })

  test('[3.call-options] call, stream and toolset take the same options', async () => {
    const who = tool({
      name: 'who',
      summary: 'Who calls',
      run: (_input, ctx) => ({ caller: ctx.caller, cwd: ctx.cwd, dryRun: ctx.dryRun }),
    })
    const options = { caller: 'agent', cwd: '/tmp' }
    const expected = { caller: 'agent', cwd: '/tmp', dryRun: false }
    const results: unknown[] = [await who({}, options)]
    results.push(await call(who, {}, options).then((outcome) => outcome.ok && outcome.result))
    results.push(
      await toolset(who)
        .call('who', {}, options)
        .then((outcome) => outcome.ok && outcome.result),
    )
    for (const stream of [who.stream({}, options), toolset(who).stream('who', {}, options)]) {
      for await (const event of stream)
        if (event.type === 'result' && event.ok) results.push(event.result)
    }
    expect(results).toEqual(Array(5).fill(expected))
  })
})

describe('resources and prompts of a toolset', () => {
  const note = resource({ uri: 'notes://{id}', summary: 'A note', read: ({ id }) => id })
  const review = prompt({
    name: 'code_review',
    summary: 'Review',
    arguments: { code: 'The code' },
    render: ({ code }) => `Review ${code}`,
  })

  test('the same address is refused twice, whatever its placeholders are called', () => {
    const other = resource({ uri: 'notes://{name}', summary: 'A note', read: () => null })
    expect(refusedAtOnce(() => toolset({ name: 'prog', resources: [note, note] })).message).toBe(
      "two resources have the address 'notes://{id}': change the address of one",
    )
    expect(
      refusedAtOnce(() => toolset({ name: 'prog', resources: [note, other] })).message,
    ).toContain("('notes://{name}' matches the same)")
  })

  test('the same prompt is refused twice, and so is anything else', () => {
    const other = prompt({ name: 'code-review', summary: 'Review', render: () => 'x' })
    expect(refusedAtOnce(() => toolset({ name: 'prog', prompts: [review, other] })).message).toBe(
      "two prompts are called 'code-review': rename one",
    )
    expect(
      refusedAtOnce(() => toolset({ name: 'prog', resources: [{} as never] })).message,
    ).toContain('something that resource() did not make')
    expect(
      refusedAtOnce(() => toolset({ name: 'prog' }).addPrompt(null as never)).message,
    ).toContain('something that prompt() did not make')
  })

  test('reading and rendering give outcomes, also for unknown names', async () => {
    const set = toolset({ name: 'prog', version: '1.0.0', resources: [note], prompts: [review] })
    expect(await set.readResource('notes://7')).toMatchObject({
      ok: true,
      result: '7',
      meta: { tool: 'prog.resource', version: '1.0.0' },
    })
    expect(await set.readResource('notes://7/x')).toMatchObject({
      ok: false,
      error: { code: 'NOT_FOUND', suggestion: { fix: 'The resources are notes://{id}' } },
    })
    expect(await set.renderPrompt('code-review', { code: 'x' })).toMatchObject({
      ok: true,
      result: 'Review x',
    })
    expect(await set.renderPrompt('code_revew', {})).toMatchObject({
      ok: false,
      error: { code: 'NOT_FOUND', message: expect.stringContaining("did you mean 'code_review'?") },
    })
    for (const bad of [undefined, null, 5, {}]) {
      expect(await set.readResource(bad as never)).toMatchObject({
        ok: false,
        error: { code: 'INVALID_INPUT' },
      })
      expect(await set.renderPrompt(bad as never)).toMatchObject({
        ok: false,
        error: { code: 'INVALID_INPUT' },
      })
    }
  })

  test('[3.declared-streaming-session] [3.manifest-projections] the manifest holds everything that was said', async () => {
    const full = tool({
      name: 'full',
      title: 'Full',
      summary: 'Everything',
      description: 'Long text',
      input: z.object({ a: z.string() }),
      output: z.number(),
      positional: ['a'],
      flags: { a: { env: 'A' } },
      annotations: { readOnly: true },
      examples: [{ input: { a: 'x' } }],
      errors: { E3101: 'Nope' },
      tags: ['t'],
      timeout: '2m',
      dryRun: true,
      session: true,
      permissions: { network: 'none' },
      run: () => 1,
    })
    const streaming = tool({
      name: 'flow',
      summary: 'Flows',
      async *run() {
        yield { type: 'item', value: 1 }
      },
    })
    const declared = tool({ name: 'said', summary: 'Said', streaming: true, run: () => 1 })
    const set = toolset({
      name: 'prog',
      description: 'A program',
      version: '1.0.0',
      tools: [full, streaming, declared],
      resources: [note],
      prompts: [review],
    })
    expect(await set.manifest()).toEqual({
      name: 'prog',
      version: '1.0.0',
      description: 'A program',
      tools: [
        {
          name: 'full',
          path: ['full'],
          title: 'Full',
          summary: 'Everything',
          description: 'Long text',
          tags: ['t'],
          streaming: false,
          session: true,
          inputSchema: expect.objectContaining({ type: 'object', required: ['a'] }),
          outputSchema: expect.objectContaining({ type: 'number' }),
          annotations: { readOnly: true },
          examples: [{ input: { a: 'x' } }],
          errors: { E3101: { message: 'Nope' } },
          positional: ['a'],
          flags: { a: { env: 'A' } },
          timeout: 120,
          dryRun: true,
          permissions: { network: 'none' },
        },
        expect.objectContaining({ name: 'flow', streaming: true, session: false }),
        expect.objectContaining({ name: 'said', streaming: true, session: false }),
      ],
      resources: [{ uri: 'notes://{id}', summary: 'A note', mimeTypes: [], tags: [] }],
      prompts: [
        {
          name: 'code_review',
          summary: 'Review',
          arguments: [{ name: 'code', description: 'The code', required: true }],
          tags: [],
        },
      ],
    })
  })
})

test('[3.tool-is-function] isTool knows tools, also of another copy, and nothing else', () => {
  expect(isTool(echo('a'))).toBe(true)
  for (const other of [() => 1, {}, null, undefined, 'tool', class {}])
    expect(isTool(other)).toBe(false)
})
