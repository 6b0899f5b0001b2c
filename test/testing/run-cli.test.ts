import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { ERROR_TABLE, fail, session, stream, tool, toolset } from 'toolable'
import { runCli } from 'toolable/testing'

const folder = mkdtempSync(join(tmpdir(), 'toolable-kit-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const greet = tool({
  name: 'greet',
  summary: 'Greet somebody',
  input: {
    type: 'object',
    properties: { name: { type: 'string' }, times: { type: 'integer', default: 1 } },
    required: ['name'],
    additionalProperties: false,
  },
  positional: ['name'],
  flags: { name: { env: 'GREET_NAME' } },
  errors: { E3101: 'nobody there' },
  run({ name, times }, ctx) {
    ctx.progress('greeting', 50)
    ctx.artifact('card', 'file:///card')
    if (name === 'nobody') fail('E3101', 'nobody is there')
    return { text: `Hello ${name as string}`.repeat(times as number), cwd: ctx.cwd }
  },
})
const remove = tool({
  name: 'remove',
  summary: 'Remove all',
  annotations: { destructive: true },
  run: () => 'removed',
})
const rows = tool({ name: 'rows', summary: 'Some rows', run: () => [{ a: 1 }, { a: 2 }] })
const set = toolset({ name: 'prog', version: '1.2.3', tools: [greet, remove, rows] })

describe('runCli gives all that a command line came to [2.kit-run-cli]', () => {
  test('exit code, streams, outcome and events', async () => {
    const result = await runCli(set, ['greet', 'Ada', '--times', '2'])
    expect(result).toMatchObject({
      exitCode: 0,
      outcome: {
        ok: true,
        result: { text: 'Hello AdaHello Ada' },
        meta: { tool: 'prog.greet', version: '1.2.3' },
      },
    })
    expect(JSON.parse(result.stdout)).toEqual(result.outcome)
    expect(result.events).toEqual([
      { type: 'progress', message: 'greeting', percent: 50 },
      { type: 'artifact', name: 'card', uri: 'file:///card' },
    ])
    expect(
      result.stderr
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { type: string }).type),
    ).toEqual(['notification', 'notification'])
  })

  test('the outcome is known in every mode, also of failures', async () => {
    for (const mode of ['json', 'jsonl', 'yaml', 'toon', 'text', 'md', 'csv']) {
      const [good, bad] = await Promise.all([
        runCli(set, ['rows', '-o', mode]),
        runCli(set, ['greet', 'nobody', '-o', mode]),
      ])
      expect(good.outcome).toMatchObject({ ok: true, result: [{ a: 1 }, { a: 2 }] })
      expect([bad.exitCode, bad.outcome]).toEqual([
        1,
        expect.objectContaining({ ok: false, error: expect.objectContaining({ code: 'E3101' }) }),
      ])
    }
  })

  test.each<[string[], number, string]>([
    [['nosuch'], 2, 'USAGE'],
    [['greet'], 2, 'MISSING_PARAM'],
    [['greet', '{"name":7}'], 65, 'INVALID_INPUT'],
    [['greet', 'Ada', '--tims', '2'], 2, 'USAGE'],
    [['remove'], 77, 'CONFIRMATION_REQUIRED'],
    [['--resource', 'nosuch://x'], 66, 'NOT_FOUND'],
  ])('bad command lines: %j', async (argv, exitCode, code) => {
    const result = await runCli(set, argv)
    expect([
      result.exitCode,
      result.outcome && !result.outcome.ok && result.outcome.error.code,
    ]).toEqual([exitCode, code])
    expect(JSON.parse(result.stdout)).toEqual(result.outcome)
    if (code in ERROR_TABLE) expect(result.events).toEqual([])
  })

  test('help and documents have no outcome', async () => {
    const [help, document, version] = await Promise.all([
      runCli(set),
      runCli(set, ['--discover']),
      runCli(set, ['--version']),
    ])
    expect([help.exitCode, help.outcome, help.form, help.stderr]).toEqual([
      0,
      undefined,
      undefined,
      '',
    ])
    expect(help.stdout).toContain('prog <command>')
    expect(JSON.parse(document.stdout)).toMatchObject({ name: 'prog' })
    expect(version.stdout).toBe('1.2.3\n')
  })

  test('a single tool is a program, and anything else is refused in words', async () => {
    expect((await runCli(greet, ['Ada'])).outcome).toMatchObject({ result: { text: 'Hello Ada' } })
    await expect(runCli(undefined as never, [])).rejects.toThrow(
      'runCli() needs a toolset or a tool',
    )
  })

  test('built-in commands run too', async () => {
    const result = await runCli(set, ['completion', 'bash'])
    expect(result.stdout).toContain('__complete')
    expect((await runCli(set, ['completion', 'bsh'])).outcome).toMatchObject({
      ok: false,
      meta: { tool: 'prog.completion' },
    })
  })

  test('input comes by stdin as text, bytes or chunks', async () => {
    const chunks = async function* () {
      yield '{"name":'
      yield Buffer.from('"Ada"}')
    }
    const ended = await Promise.all([
      runCli(set, ['greet', '-'], { stdin: '{"name":"Ada"}' }),
      runCli(set, ['greet'], { stdin: Buffer.from('{"name":"Ada"}') }),
      runCli(set, ['greet', '-'], { stdin: chunks() }),
    ])
    expect(ended.map(({ outcome }) => outcome)).toEqual(
      ended.map(() =>
        expect.objectContaining({
          ok: true,
          result: expect.objectContaining({ text: 'Hello Ada' }),
        }),
      ),
    )
    const bad = await runCli(set, ['greet', '-'], { stdin: new Uint8Array([0xff, 0xfe]) })
    expect([bad.exitCode, bad.outcome]).toMatchObject([65, { error: { code: 'INVALID_INPUT' } }])
  })

  test('environment, directory and settings are those of the test', async () => {
    writeFileSync(join(folder, 'toolable.json'), '{"defaults":{"prog":{"greet":{"times":3}}}}')
    const { outcome } = await runCli(set, ['greet'], { env: { GREET_NAME: 'Eve' }, cwd: folder })
    expect(outcome).toMatchObject({ result: { text: 'Hello EveHello EveHello Eve', cwd: folder } })
    process.env['GREET_NAME'] = 'the machine'
    expect((await runCli(set, ['greet'])).outcome).toMatchObject({ ok: false })
    delete process.env['GREET_NAME']
  })

  test('a signal cancels the call', async () => {
    const controller = new AbortController()
    const waits = tool({
      name: 'waits',
      summary: 'Waits',
      run: (_input, ctx) =>
        new Promise((_resolve, reject) => {
          ctx.signal.addEventListener('abort', () => reject(new Error('too late')))
          controller.abort()
        }),
    })
    const { exitCode, outcome } = await runCli(
      toolset({ name: 'w', tools: [waits, rows] }),
      ['waits'],
      { signal: controller.signal },
    )
    expect([exitCode, outcome]).toMatchObject([130, { error: { code: 'CANCELLED' } }])
  })

  test('a signal that was given before, and one while stdin stays silent', async () => {
    expect(
      (await runCli(set, ['greet', 'Ada'], { signal: AbortSignal.abort() })).outcome,
    ).toMatchObject({ error: { code: 'CANCELLED' } })
    const controller = new AbortController()
    const silent = async function* () {
      controller.abort()
      await new Promise(() => undefined)
      yield ''
    }
    const { exitCode } = await runCli(set, ['greet', '-'], {
      stdin: silent(),
      signal: controller.signal,
    })
    expect(exitCode).toBe(130)
  })

  test('a handler may run a command line itself', async () => {
    const outer = tool({
      name: 'outer',
      summary: 'Runs another',
      async run() {
        console.log('before')
        const { stderr, outcome } = await runCli(loud, ['loud'])
        console.log('after')
        return [stderr, outcome?.ok]
      },
    })
    const loud = toolset({
      name: 'l',
      tools: [tool({ name: 'loud', summary: 'Loud', run: () => console.log('inside') }), rows],
    })
    const { outcome, stderr } = await runCli(toolset({ name: 'o', tools: [outer, rows] }), [
      'outer',
    ])
    expect([outcome, stderr]).toMatchObject([{ result: ['inside\n', true] }, 'before\nafter\n'])
  })

  test('a server of the program is asked over stdin', async () => {
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'test', version: '1' },
      },
    }
    const { exitCode, stdout } = await runCli(set, ['--serve-mcp', 'stdio'], {
      stdin: `${JSON.stringify(initialize)}\n`,
    })
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([
      0,
      { id: 1, result: { serverInfo: { name: 'prog' } } },
    ])
  })

  test('streams print their events as lines, and the outcome is known', async () => {
    const counts = tool({
      name: 'counts',
      summary: 'Counts',
      async *run() {
        yield stream.progress('one')
        yield stream.log('two')
        return 3
      },
    })
    const { stdout, outcome, events } = await runCli(
      toolset({ name: 'c', tools: [counts, rows] }),
      ['counts', '--stream'],
    )
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string })
    expect(lines.map(({ type }) => type)).toEqual(['progress', 'log', 'result'])
    expect(outcome).toMatchObject({ ok: true, result: 3 })
    expect(events.map(({ type }) => type)).toEqual(['progress', 'log'])
  })
})

describe('somebody answers [2.kit-answers]', () => {
  const asks = tool({
    name: 'asks',
    summary: 'Asks three things',
    async run(_input, ctx) {
      const sure = await ctx.ask({ kind: 'confirm', prompt: 'Sure?' })
      const color = await ctx.ask({
        kind: 'decision',
        prompt: 'Which colour?',
        options: ['red', 'green'],
        key: 'color',
      })
      const age = await ctx.ask({
        kind: 'input',
        prompt: 'How old?',
        schema: { type: 'integer', minimum: 0 },
        default: 7,
      })
      return { sure, color, age }
    },
  })
  const asking = toolset({ name: 'asking', tools: [asks, rows, remove] })
  const all = { sure: true, color: 'green', age: 5 }

  test.each([
    ['in order', [true, 'green', 5]],
    ['by key, prompt and part of a prompt', { color: 'green', 'Sure?': true, old: 5 }],
    [
      'by a function',
      ({ kind }: { kind: string }) => ({ confirm: true, decision: 'green', input: 5 })[kind],
    ],
  ])('%s, at a terminal and in a session', async (_name, answers) => {
    const typed = await runCli(asking, ['asks', '--json'], { tty: true, answers })
    expect(typed.outcome).toMatchObject({ ok: true, result: all })
    expect(typed.stderr).toContain('Sure? [y/n] ')
    expect(JSON.parse(typed.stdout)).toEqual(typed.outcome)
    const lines = await runCli(asking, ['asks', '--session'], { answers })
    expect(lines.outcome).toMatchObject({ ok: true, result: all })
    expect(lines.stdout.trim().split('\n')).toHaveLength(4)
  })

  test('an answer that is refused is asked again', async () => {
    const typed = await runCli(asking, ['asks'], {
      tty: true,
      answers: ['maybe', 'y', '2', 'x', '-1', '9'],
    })
    expect(typed.outcome).toMatchObject({
      ok: true,
      result: { sure: true, color: 'green', age: 9 },
    })
    expect(typed.stderr).toContain('Please answer y or n.')
    const stubborn = await runCli(asking, ['asks'], { tty: true, answers: { 'Sure?': 'maybe' } })
    expect(stubborn.outcome).toMatchObject({ ok: false, error: { code: 'ANSWER_REQUIRED' } })
  })

  test('without an answer the default is taken, or the call fails', async () => {
    for (const options of [{ tty: true }, {}]) {
      const argv = options.tty ? ['asks'] : ['asks', '--session']
      expect(
        (await runCli(asking, argv, { ...options, answers: [false, 'red'] })).outcome,
      ).toMatchObject({ result: { sure: false, color: 'red', age: 7 } })
      expect(
        (await runCli(asking, argv, { ...options, answers: { Sure: true } })).outcome,
      ).toMatchObject({ error: { code: 'ANSWER_REQUIRED' } })
    }
    expect((await runCli(asking, ['asks'])).outcome).toMatchObject({
      error: { code: 'ANSWER_REQUIRED' },
    })
  })

  test('questions at the same time are answered each for itself', async () => {
    const both = tool({
      name: 'both',
      summary: 'Asks twice at once',
      run: (_input, ctx) =>
        Promise.all([
          ctx.ask({ kind: 'input', prompt: 'First?' }),
          ctx.ask({ kind: 'input', prompt: 'Second?' }),
        ]),
    })
    const program = toolset({ name: 'b', tools: [both, rows] })
    const answers = { First: 'one', Second: 'two' }
    expect((await runCli(program, ['both'], { tty: true, answers })).outcome).toMatchObject({
      result: ['one', 'two'],
    })
    expect((await runCli(program, ['both', '--session'], { answers })).outcome).toMatchObject({
      result: ['one', 'two'],
    })
  })

  test('consent is given and refused at the terminal', async () => {
    expect(
      (await runCli(asking, ['remove'], { tty: true, answers: [true] })).outcome,
    ).toMatchObject({ ok: true })
    expect(
      (await runCli(asking, ['remove'], { tty: true, answers: { destructive: false } })).outcome,
    ).toMatchObject({ error: { code: 'PERMISSION' } })
    expect((await runCli(asking, ['remove'], { tty: true, stdin: 'y\n' })).outcome).toMatchObject({
      ok: true,
    })
    expect((await runCli(asking, ['remove'], { tty: true })).outcome).toMatchObject({ ok: false })
  })

  test('a session is led with words or objects, and ends when nobody goes on', async () => {
    const talk = tool({
      name: 'talk',
      summary: 'Talks',
      session: true,
      async *run() {
        const heard: unknown[] = [yield session.start('Hello', 'name> ')]
        heard.push(yield session.ask('more> '))
        yield session.end('done')
        return heard
      },
    })
    const program = toolset({ name: 't', tools: [talk, rows] })
    expect(
      (await runCli(program, ['talk', '--session'], { answers: ['Ada', { more: 1 }] })).outcome,
    ).toMatchObject({ result: [{ text: 'Ada' }, { more: 1 }] })
    expect(
      (await runCli(program, ['talk'], { tty: true, answers: ['Ada', { more: 1 }] })).outcome,
    ).toMatchObject({ result: [{ text: 'Ada' }, { more: 1 }] })
    expect(
      (await runCli(program, ['talk', '--session'], { answers: ['Ada'] })).outcome,
    ).toMatchObject({ result: [{ text: 'Ada' }, { action: 'quit' }] })
  })

  test('prompts are completed by samples', async () => {
    const thinks = tool({
      name: 'thinks',
      summary: 'Thinks',
      run: async (_input, ctx) =>
        `${await ctx.sample('One?')} ${await ctx.sample('Two?', { maxTokens: 5 })}`,
    })
    const program = toolset({ name: 't', tools: [thinks, rows] })
    expect((await runCli(program, ['thinks'], { samples: ['a', 'b'] })).outcome).toMatchObject({
      result: 'a b',
    })
    expect(
      (
        await runCli(program, ['thinks'], {
          samples: ({ prompt, max_tokens }) => `${prompt}${max_tokens}`,
        })
      ).outcome,
    ).toMatchObject({ result: 'One?1000 Two?5' })
    expect((await runCli(program, ['thinks'], { samples: ['a'] })).outcome).toMatchObject({
      error: { code: 'ANSWER_REQUIRED' },
    })
  })

  test('what a function of the test throws reaches the test', async () => {
    const answers = (): never => {
      throw new Error('the test says no')
    }
    await expect(runCli(asking, ['asks'], { tty: true, answers })).rejects.toThrow(
      'the test says no',
    )
    await expect(runCli(asking, ['asks', '--session'], { answers })).rejects.toThrow(
      'the test says no',
    )
    await expect(runCli(asking, ['asks'], { tty: true, answers: ['two\nlines'] })).rejects.toThrow(
      'one line',
    )
  })
})

describe('a terminal [2.kit-terminal]', () => {
  test('prints text within its width, in colours unless told not to', async () => {
    const wide = tool({ name: 'wide', summary: 'Wide', run: () => [{ text: 'x'.repeat(200) }] })
    const program = toolset({ name: 'w', tools: [wide, rows] })
    const narrow = await runCli(program, ['wide'], { tty: { columns: 40 }, env: { NO_COLOR: '1' } })
    expect(narrow.form).toMatchObject({ mode: 'text' })
    expect(Math.max(...narrow.stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(
      40,
    )
    expect(narrow.stdout).not.toContain('\u001b')
    expect((await runCli(program, ['--help'], { tty: true })).stdout).toContain('\u001b[1m')
  })
})
