import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { fail, registry, tool, workflow } from 'toolable'
import type { Registry, RegistryOptions } from 'toolable'
import { folderWith, toolable } from '../../commands/support.ts'
import { fixture, makeFolder, runProgram } from '../../support/run-program.ts'
import { makeFlows, runsOf } from './project.ts'
import '../../support/without-coverage.ts'
import { withoutSlow } from '../../support/problems.ts'

const number = {
  type: 'object',
  properties: { n: { type: 'number' } },
  required: ['n'],
  additionalProperties: false,
}
const add = tool({
  name: 'add',
  summary: 'One more',
  input: number,
  annotations: { readOnly: true },
  run: (input) => ({ n: (input as { n: number }).n + 1 }),
})

const opened: Registry[] = []
const open = async (options: RegistryOptions): Promise<Registry> => {
  const made = await registry({ cwd: makeFolder(), cache: false, ...options })
  opened.push(made)
  return made
}
afterEach(async () => void (await Promise.all(opened.splice(0).map((one) => one.close()))))

const steps = (...names: readonly string[]) => ({
  steps: names.map((name) => ({ name: `s-${name.replaceAll('.', '-')}`, tool: name })),
})

describe('[9.workflow-tools] workflows of a registry', () => {
  test('come from files, folders and values; a folder is a source of its own', async () => {
    const folder = makeFlows({
      'one.yaml': 'name: one\nversion: "2"\nsteps: [{ tool: double, input: { n: 1 } }]\n',
      'flows/.hidden.yaml': '?',
      'flows/parts/inner.yaml': '?',
      'flows/readme.md': '?',
      'other/x.json': '{"steps":[{"tool":"wipe"}]}',
    })
    const reg = await open({
      cwd: folder,
      modules: ['tools.mjs'],
      workflows: [
        'flows',
        './one.yaml',
        { path: 'other', name: 'mine' },
        workflow({ name: 'built', summary: 'Built' }, (w) => w.tool('a', 'double', { n: 2 })),
        { name: 'data', steps: [{ tool: 'wipe' }] },
      ],
    })
    expect(withoutSlow(reg.problems())).toEqual([])
    expect(
      reg
        .list()
        .filter(({ kind }) => kind === 'workflow')
        .map(({ id, tier }) => [id, tier])
        .sort(),
    ).toEqual([
      ['flows.tidy', 'manifest'],
      ['mine.x', 'manifest'],
      ['workflows.built', 'in-process'],
      ['workflows.data', 'in-process'],
      ['workflows.one', 'manifest'],
    ])
    expect(
      reg
        .sources()
        .filter(({ kind }) => kind === 'workflows')
        .map(({ name, tools }) => [name, tools]),
    ).toEqual([
      ['flows', 1],
      ['workflows', 3],
      ['mine', 1],
    ])
    expect(await reg.call('one', {})).toMatchObject({
      ok: true,
      result: { n: 2 },
      meta: { tool: 'workflows.one', version: '2' },
    })
    expect(await reg.call('built', {})).toMatchObject({ ok: true, result: { n: 4 } })
    expect((await reg.toOpenAI({ filter: 'tidy' }))[0]).toMatchObject({
      function: { name: 'tidy', parameters: { required: ['n'] } },
    })
  })

  test('what cannot work is refused, or a problem with its place [9.workflow-tool-problems]', async () => {
    await expect(open({ workflows: 'flows' as never })).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining("'workflows' of registry()"),
    })
    await expect(open({ workflows: [5 as never] })).rejects.toMatchObject({ code: 'CONFIG' })
    await expect(open({ workflow: [] } as never)).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining("did you mean 'workflows'?"),
    })
    const folder = folderWith({
      'bad.yaml': 'steps:\n  - tool: x\n    inptu: {}\n',
      'not.yaml': '{',
      'empty/x.txt': '',
    })
    const reg = await open({
      cwd: folder,
      tools: [add],
      workflows: [
        'bad.yaml',
        'not.yaml',
        'gone.yaml',
        'nowhere',
        'empty',
        { name: 'data', steps: [] },
        workflow({ name: 'twice' }, (w) => {
          w.tool('a', 'x')
          w.tool('a', 'x')
        }),
      ],
    })
    const problems = reg
      .problems()
      .map(({ location, reason, message, severity }) => [location, reason, severity, message])
    expect(problems).toEqual(
      expect.arrayContaining([
        ['bad.yaml:3', 'definition', 'error', expect.stringContaining("did you mean 'input'?")],
        [
          expect.stringMatching(/^not\.yaml/),
          'definition',
          'error',
          expect.stringContaining('YAML'),
        ],
        ['gone.yaml', 'missing', 'error', expect.any(String)],
        ['nowhere', 'missing', 'error', 'there is no folder nowhere'],
        ['empty', 'no-tools', 'warning', expect.any(String)],
        ["workflow 'data'", 'definition', 'error', expect.any(String)],
        [
          "workflow 'twice'",
          'definition',
          'error',
          expect.stringContaining("the name 'a' is there twice"),
        ],
      ]),
    )
    expect(reg.list().map(({ name }) => name)).toEqual(['add'])
  })

  test('a file that changes counts after a rescan', async () => {
    const folder = folderWith({ 'flows/a.yaml': 'steps: [{ tool: add, input: { n: 1 } }]\n' })
    const reg = await open({ cwd: folder, tools: [add], workflows: ['flows'] })
    expect(await reg.call('a', {})).toMatchObject({ result: { n: 2 } })
    writeFileSync(join(folder, 'flows/a.yaml'), 'steps: [{ tool: add, input: { n: 5 } }]\n')
    writeFileSync(join(folder, 'flows/b.yaml'), 'steps: [{ tool: a }]\n')
    await reg.rescan()
    expect([await reg.call('a', {}), await reg.call('b', {})]).toMatchObject([
      { result: { n: 6 } },
      { result: { n: 6 } },
    ])
    rmSync(join(folder, 'flows/a.yaml'))
    await reg.rescan()
    expect(await reg.call('a', {})).toMatchObject({ error: { code: 'NOT_FOUND' } })
    expect(await reg.call('b', {})).toMatchObject({
      ok: false,
      error: { code: 'NOT_FOUND', details: { run_id: expect.any(String) } },
    })
  })

  test('say what their tools say, through workflows in workflows, in circles too [9.workflow-tool-annotations]', async () => {
    const bare = tool({ name: 'bare', summary: 's', run: () => 1 })
    const net = tool({
      name: 'net',
      summary: 's',
      annotations: { openWorld: true, readOnly: true },
      run: () => 1,
    })
    const wipe = tool({
      name: 'wipe',
      summary: 's',
      annotations: { destructive: true },
      run: () => 1,
    })
    const reg = await open({
      tools: [add, bare, net, wipe],
      workflows: [
        { name: 'reads', ...steps('add', 'net') },
        { name: 'unknown', ...steps('add', 'bare', 'nothing') },
        {
          name: 'deep',
          steps: [
            {
              name: 'p',
              tasks: [
                {
                  name: 'e',
                  each: {
                    items: [1],
                    do: [
                      {
                        name: 'w',
                        workflow: {
                          steps: [
                            {
                              name: 'x',
                              tool: 'add',
                              compensate: { name: 'u', command: './tool wipe --all' },
                            },
                          ],
                        },
                      },
                    ],
                  },
                },
              ],
            },
          ],
        },
        { name: 'ping', ...steps('pong') },
        { name: 'pong', ...steps('ping', 'deep') },
      ],
    })
    const said = async (name: string) => (await reg.describe(name)).manifest.annotations
    expect(await said('reads')).toEqual({ readOnly: true, openWorld: true })
    expect(await said('unknown')).toEqual({})
    expect(await said('deep')).toEqual({ destructive: true })
    expect([await said('ping'), await said('pong')]).toEqual([
      { destructive: true },
      { destructive: true },
    ])
    expect(await reg.call('deep', {}, { confirm: false })).toMatchObject({
      ok: false,
      error: { code: 'CONFIRMATION_REQUIRED' },
    })
  })
})

describe('[9.workflow-tools] a call of one', () => {
  test('is cancelled by its signal and its time, and its steps with it', async () => {
    const ended: unknown[] = []
    let begun = (): void => undefined
    const hang = tool({
      name: 'hang',
      summary: 's',
      run: (_input, ctx) =>
        new Promise((_resolve, reject) => {
          begun()
          ctx.signal.addEventListener('abort', () => {
            ended.push(ctx.signal.aborted)
            reject(new Error('ended'))
          })
        }),
    })
    const cwd = makeFolder()
    const reg = await open({ cwd, tools: [hang], workflows: [{ name: 'waits', ...steps('hang') }] })
    const stop = new AbortController()
    begun = () => stop.abort()
    expect(await reg.call('waits', {}, { signal: stop.signal })).toMatchObject({
      ok: false,
      error: { code: 'CANCELLED' },
    })
    begun = () => undefined
    expect(await reg.call('waits', {}, { timeout: '300ms' })).toMatchObject({
      ok: false,
      error: { code: 'TIMEOUT' },
    })
    const started = new Promise<void>((resolve) => {
      begun = resolve
    })
    const left = reg.call('waits', {})
    await started
    await reg.close()
    expect(await left).toMatchObject({ ok: false, error: { code: 'CANCELLED' } })
    expect(ended).toEqual([true, true, true])
    expect(runsOf(cwd).map(({ events }) => events.at(-1).state)).toEqual([
      'cancelled',
      'cancelled',
      'cancelled',
    ])
  })

  test('fails with the words of its step, and names its run [9.workflow-tool-runs]', async () => {
    const refuse = tool({
      name: 'refuse',
      summary: 's',
      run: () => fail('NOT_FOUND', 'no such thing', { suggestion: 'Take another' }),
    })
    const cwd = makeFolder()
    const reg = await open({
      cwd,
      tools: [refuse],
      workflows: [{ name: 'tries', ...steps('refuse') }],
    })
    const outcome = await reg.call('tries', {})
    expect(outcome).toMatchObject({
      ok: false,
      error: {
        code: 'NOT_FOUND',
        message: expect.stringContaining('no such thing'),
        suggestion: { fix: 'Take another' },
        details: { run_id: runsOf(cwd)[0]?.id },
      },
    })
  })

  test('takes questions of its tools, and samples, to whoever called', async () => {
    const asks = tool({
      name: 'asks',
      summary: 's',
      run: async (_input, ctx) => [
        await ctx.ask({ kind: 'confirm', prompt: 'Sure?', key: 'sure' }),
        await ctx.ask({ kind: 'input', prompt: 'Who?', schema: { type: 'string' } }),
        await ctx.sample('Say it', { maxTokens: 7 }),
      ],
    })
    const reg = await open({
      tools: [asks],
      workflows: [
        workflow({ name: 'asking' }, (w) => {
          w.tool('a', asks)
          w.ask('more', { prompt: 'More?', schema: { type: 'number' } })
        }),
      ],
    })
    const prompts: string[] = []
    const outcome = await reg.call(
      'asking',
      {},
      {
        answer: ({ prompt, kind, problem }) => {
          prompts.push(prompt)
          return kind === 'confirm'
            ? true
            : prompt.startsWith('Who')
              ? 'Ann'
              : problem === undefined && prompts.length < 4
                ? 'no number'
                : 5
        },
        sample: ({ prompt, max_tokens: most }) => `${prompt} ${most}`,
      },
    )
    expect(outcome).toMatchObject({ ok: true, result: 5 })
    expect(prompts.slice(0, 3)).toEqual(['Sure?', 'Who?', 'More?'])
    expect(await reg.call('asking', {}, { answer: () => undefined })).toMatchObject({
      ok: false,
      error: { code: 'ANSWER_REQUIRED' },
    })
  })
})

describe('[9.workflow-tool-recursion] a workflow as a step of another', () => {
  test('is a run of its own, linked to its parent, whose question is that of the whole', async () => {
    const cwd = makeFolder()
    const inner = workflow({ name: 'inner', input: number }, (w) => {
      const one = w.tool('one', add, { n: w.input.n })
      w.decision('go', { options: ['yes', 'no'], instruction: 'Go?' })
      return one
    })
    const reg = await open({
      cwd,
      tools: [add],
      workflows: [
        inner,
        workflow({ name: 'outer' }, (w) => {
          const sub = w.command<{ n: number }>('sub', 'inner --n 4')
          return { n: sub.result.n, run: sub.runId }
        }),
      ],
    })
    const outcome = await reg.call('outer', {}, { answer: () => 'yes' })
    expect(outcome).toMatchObject({ ok: true, result: { n: 5, run: expect.stringMatching(/^r-/) } })
    const runs = runsOf(cwd)
    expect(runs.map(({ request }) => request.tool).sort()).toEqual([
      'workflow.inner',
      'workflow.outer',
    ])
    const [child, parent] = ['workflow.inner', 'workflow.outer'].map((name) =>
      runs.find(({ request }) => request.tool === name)!,
    )
    expect(child!.request.parent).toEqual({ run_id: parent!.id, step: 'sub' })
    expect(parent!.events.find(({ type }) => type === 'task_started')).toMatchObject({
      task_id: 'sub',
      child_run_id: child!.id,
    })
  })

  test('is taken up where it was when its parent is resumed', async () => {
    const folder = makeFlows({
      'flows/outer.yaml':
        'steps:\n  - { name: sub, tool: tidy, input: { n: 1 } }\n  - { name: after, tool: double, input: { n: "${{ steps.sub.result.n }}" } }\n',
    })
    const asked = await toolable(['call', 'outer'], { cwd: folder })
    expect(asked.json.error).toMatchObject({
      code: 'ANSWER_REQUIRED',
      details: { run_id: expect.any(String) },
    })
    const resumed = await toolable(
      ['resume', asked.json.error.details.run_id, '--answer', 'proceed=yes'],
      { cwd: folder },
    )
    expect([resumed.status, resumed.lines.find(({ type }) => type === 'result')?.result]).toEqual([
      0,
      { n: 8 },
    ])
    const child = runsOf(folder).find(({ request }) => request.tool === 'workflow.tidy')!
    expect(runsOf(folder)).toHaveLength(2)
    expect(
      child.events.filter(({ type, task_id: task }) => type === 'task_started' && task === 'first'),
    ).toHaveLength(1)
    expect(child.events.at(-1)).toMatchObject({ attempt: 2, state: 'completed' })
  })

  test('without an end is stopped, and says how', async () => {
    const cwd = makeFolder()
    const reg = await open({
      cwd,
      workflows: [
        { name: 'self', steps: [{ name: 'again', tool: 'self' }] },
        { name: 'ping', ...steps('pong') },
        { name: 'pong', ...steps('ping') },
      ],
    })
    expect(await reg.call('self', {})).toMatchObject({
      ok: false,
      error: {
        code: 'PRECONDITION',
        message: expect.stringMatching(
          /'workflows\.self' is not run: at step 'again' it would be number 11/,
        ),
        suggestion: { fix: expect.stringContaining("'when'") },
      },
    })
    expect(runsOf(cwd)).toHaveLength(10)
    expect(await reg.call('ping', {})).toMatchObject({ ok: false, error: { code: 'PRECONDITION' } })
  })

  test('may end itself by a condition', async () => {
    const reg = await open({
      tools: [add],
      workflows: [
        {
          name: 'climb',
          input: number,
          steps: [
            { name: 'up', tool: 'add', input: { n: '${{ input.n }}' } },
            {
              name: 'more',
              tool: 'climb',
              when: 'steps.up.result.n < 5',
              input: { n: '${{ steps.up.result.n }}' },
            },
          ],
          output: { n: '${{ steps.up.result.n }}', then: '${{ steps.more.result }}' },
        },
      ],
    })
    expect(await reg.call('climb', { n: 2 })).toMatchObject({
      result: { n: 3, then: { n: 4, then: { n: 5, then: null } } },
    })
  })
})

describe('[9.workflow-tool-lazy] what nobody uses is not loaded', () => {
  const loadedBy = async (options: string): Promise<readonly string[]> => {
    const folder = makeFolder()
    const file = join(folder, 'modules')
    writeFileSync(
      join(folder, 'host.mjs'),
      `import { registry, tool, workflow } from '${new URL('../../../dist/index.js', import.meta.url).href}'\nconst reg = await registry(${options})\nawait reg.close()\n`,
    )
    const { status, stderr } = await runProgram(
      relative(fixture('.'), join(folder, 'host.mjs')),
      [],
      {
        cwd: folder,
        nodeArgs: ['--import', fixture('record-modules.mjs')],
        env: { MODULES_FILE: file },
      },
    )
    expect([status, stderr]).toEqual([0, ''])
    return existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .filter((url) => url.includes('/dist/'))
      : []
  }

  test('a registry without workflows loads nothing of them', async () => {
    const plain = await loadedBy("{ tools: [tool({ name: 'a', summary: 's', run: () => 1 })] }")
    const used = await loadedBy(
      "{ workflows: [workflow({ name: 'a' }, (w) => { w.tool('a', 'x') })] }",
    )
    const isOurs = (url: string): boolean => /workflow|interpret|journal|normalise/.test(url)
    expect(plain.length).toBeGreaterThan(1)
    expect(plain.filter(isOurs)).toEqual([])
    expect(used.filter(isOurs).length).toBeGreaterThan(0)
  })
})
