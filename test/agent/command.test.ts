import { chmodSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { folderWith, startToolable, toolable } from '../commands/support.ts'
import { runInTerminal } from '../support/run-in-terminal.ts'
import { fixture, makeFolder } from '../support/run-program.ts'
import { piecesOf, refuse, startModelServer, stream } from '../support/model-server.ts'
import type { Answer, Said } from '../support/model-server.ts'
import { TOOLABLE } from '../support/toolable-program.ts'

const KEY = 'sk-test-0123456789abcdef'
const use = (name: string, given: unknown = {}) => ({ calls: [{ name, arguments: given }] })
const SUM = use('add', { left: 1, right: 2 })

// A project of its own for each test, because each leaves runs behind.
function projectFolder(): string {
  return folderWithKey(`${KEY}\n`, {
    'toolable.yaml': `modules:\n  - ${fixture('agent/tools.mjs')}\n`,
  })
}
function folderWithKey(key: string, files: { readonly [name: string]: string } = {}): string {
  const folder = folderWith({ ...files, 'key.txt': key })
  chmodSync(join(folder, 'key.txt'), 0o600)
  return folder
}
async function scripted(
  script: readonly (Answer | Said | string)[],
  env: { readonly [name: string]: string } = {},
) {
  const server = await startModelServer(script)
  const cwd = projectFolder()
  return {
    server,
    cwd,
    flags: ['--model', 'openai:tiny', '--base-url', server.baseUrl],
    here: { cwd, env },
  }
}
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile())
}
function transcriptOf(cwd: string): any[] {
  const [file] = filesIn(join(cwd, '.runs')).filter((name) => name.endsWith('transcript.jsonl'))
  return readFileSync(file!, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as object)
}

describe('toolable agent', () => {
  test('prints one envelope for programs; the run is on record, its transcript an artifact, the key nowhere [8.agent-command]', async () => {
    const { server, cwd, flags, here } = await scripted([{ text: 'I count.', ...SUM }, 'It is 3.'])
    const { status, json } = await toolable(
      [
        'agent',
        '1 + 2?',
        ...flags,
        '--api-key-file',
        'key.txt',
        '--system',
        'Count.',
        '--tools',
        'add',
      ],
      here,
    )
    expect(status).toBe(0)
    expect(json).toMatchObject({
      ok: true,
      result: { text: 'It is 3.', turns: 2, usage: { input: 20, output: 10 } },
      meta: {
        tool: 'toolable.agent',
        run_id: expect.stringMatching(/^r-/),
        artifacts: [{ name: 'transcript.jsonl' }],
      },
    })
    expect(server.asked[0]).toMatchObject({
      headers: { authorization: `Bearer ${KEY}` },
      body: {
        model: 'tiny',
        messages: [
          { role: 'system', content: 'Count.' },
          { role: 'user', content: '1 + 2?' },
        ],
        tools: [{ function: { name: 'add' } }],
      },
    })
    const [shown, logs] = await Promise.all([
      toolable(['runs', 'show', 'latest'], here),
      toolable(['runs', 'logs', 'latest', '--type', 'item'], here),
    ])
    expect(shown.json.result).toMatchObject({
      run_id: json.meta.run_id,
      tool: 'toolable.agent',
      state: 'completed',
      result: { text: 'It is 3.' },
      artifacts: [{ path: expect.stringContaining('transcript.jsonl') }],
    })
    expect(logs.lines.map(({ value }) => value.type)).toEqual([
      'text',
      'usage',
      'tool_call',
      'tool_result',
      'text',
      'usage',
      'end',
    ])
    expect(transcriptOf(cwd).filter(({ type }) => type === 'message')).toHaveLength(4)
    for (const file of filesIn(join(cwd, '.runs')))
      expect(readFileSync(file, 'utf8')).not.toContain(KEY)
  })

  test('shows people what the model says on stdout, and what it does on stderr [8.agent-command-text]', async () => {
    const { flags, here } = await scripted([
      refuse(500),
      { text: 'I look at it.', ...SUM },
      { text: 'Hm.', ...use('nothing') },
      'It is 3.',
    ])
    const { status, stdout, stderr } = await toolable(
      ['agent', '1 + 2?', ...flags, '-o', 'text'],
      here,
    )
    expect([status, stdout]).toEqual([0, 'I look at it.\nHm.\nIt is 3.\n'])
    expect(stderr).toMatch(
      /^! the model is asked again .*500.*\n> add \{"left":1,"right":2\}\n> nothing \{\}\n! nothing: NOT_FOUND there is no tool 'nothing'\n$/,
    )
  })

  test('with --stream every event is a line, the envelope the last [8.agent-command]', async () => {
    const { flags, here } = await scripted([SUM, 'Three.'])
    const { lines } = await toolable(['agent', '1 + 2?', ...flags, '--stream'], here)
    expect(lines.map(({ type }) => type)).toEqual([
      'turn_start',
      'usage',
      'tool_call',
      'tool_result',
      'turn_start',
      'text',
      'usage',
      'result',
    ])
  })

  test('what cannot work is told before a run begins, with what to do [8.agent-command-errors]', async () => {
    const cwd = projectFolder()
    const shared = folderWith({ 'key.txt': KEY })
    chmodSync(join(shared, 'key.txt'), 0o644)
    const empty = folderWithKey('\n', {
      'nothing.mjs': 'export const a = 1\n',
      'broken.mjs': 'export default {\n',
    })
    const asks = folderWith({ 'm.mjs': 'export default { name: "m", generate() {} }\n' })
    const cases: [readonly string[], number, string, RegExp, { cwd: string }?][] = [
      [['Go'], 78, 'CONFIG', /TOOLABLE_MODEL=openai:gpt-5/],
      [['Go', '--model', 'gpt-5'], 78, 'CONFIG', /openai:gpt-5/],
      [['Go', '--model', 'openai:gpt-5'], 78, 'CONFIG', /export OPENAI_API_KEY/],
      [['Go', '--model', 'nobody:x'], 78, 'CONFIG', /npm install @ai-sdk\/nobody/],
      [['Go', '--model', './model.mjs'], 78, 'CONFIG', /there is no file/],
      [
        ['Go', '--model', 'openai:x', '--params', '{"a":1}'],
        2,
        'INVALID_INPUT',
        /--params goes with --prompt only/,
      ],
      [
        ['Go', '--model', './m.mjs', '--prompt', fixture('agent/prompt.mjs')],
        2,
        'INVALID_INPUT',
        /user is required.*--params '/,
        { cwd: asks },
      ],
      [
        [
          'Go',
          '--model',
          './m.mjs',
          '--prompt',
          fixture('agent/prompt.mjs'),
          '--params',
          '{"user":5}',
        ],
        2,
        'INVALID_INPUT',
        /user must be text/,
        { cwd: asks },
      ],
      [
        ['Go', '--model', 'openai:x', '--prompt', './p.mjs', '--tools', 'add'],
        2,
        'INVALID_INPUT',
        /--tools chooses tools of the registry/,
      ],
      [
        ['Go', '--model', './model.mjs', '--base-url', 'http://127.0.0.1:9'],
        2,
        'INVALID_INPUT',
        /--base-url goes with openai:<name>/,
      ],
      [
        ['Go', '--model', 'nobody:x', '--api-key-file', 'key.txt'],
        2,
        'INVALID_INPUT',
        /--api-key-file goes with openai:<name>/,
      ],
      [['Go', '--model', './nothing.mjs'], 78, 'CONFIG', /exports no model/, { cwd: empty }],
      [['Go', '--model', './broken.mjs'], 78, 'CONFIG', /cannot be loaded/, { cwd: empty }],
      [
        ['Go', '--model', 'openai:x', '--api-key-file', 'key.txt'],
        78,
        'CONFIG',
        /is empty/,
        { cwd: empty },
      ],
      [
        ['Go', '--model', 'openai:x', '--api-key-file', 'none.txt'],
        66,
        'INVALID_PATH',
        /does not exist/,
      ],
      [
        ['Go', '--model', 'openai:x', '--api-key-file', 'key.txt'],
        77,
        'PERMISSION',
        /can be read by others \(mode 0644\).*chmod 600/,
        { cwd: shared },
      ],
      [
        ['Go', '--model', 'openai:x', '--base-url', 'http://127.0.0.1:9', '--tools', 'ad'],
        66,
        'NOT_FOUND',
        /did you mean 'add'/,
      ],
      [['--model', 'openai:x'], 2, 'MISSING_PARAM', /task/],
      [['Go', '--max-turns', '0', '--model', 'openai:x'], 2, 'INVALID_INPUT', /max-turns|maxTurns/],
    ]
    const ended = await Promise.all(
      cases.map(([args, , , , at]) => toolable(['agent', ...args], at ?? { cwd })),
    )
    for (const [index, [args, status, code, words]] of cases.entries()) {
      expect([args, ended[index]!.status, ended[index]!.json.error.code]).toEqual([
        args,
        status,
        code,
      ])
      expect(JSON.stringify(ended[index]!.json.error)).toMatch(words)
    }
    for (const folder of [cwd, asks, empty]) expect(readdirSync(folder)).not.toContain('.runs')
  })

  test('a key that is refused, turns and tokens that are used up end it with their own status [8.agent-command-errors]', async () => {
    const [denied, endless, dear] = await Promise.all([
      scripted([refuse(401, { message: `Incorrect API key provided: ${KEY}` })]),
      scripted([SUM, SUM]),
      scripted([SUM]),
    ])
    const [key, turns, tokens] = await Promise.all([
      toolable(['agent', 'Go', ...denied.flags, '--api-key-file', 'key.txt'], denied.here),
      toolable(['agent', 'Go', ...endless.flags, '--max-turns', '2'], endless.here),
      toolable(['agent', 'Go', ...dear.flags, '--max-total-tokens', '5'], dear.here),
    ])
    expect([key.status, key.json.error.code]).toEqual([77, 'PERMISSION'])
    expect(key.stdout + key.stderr).not.toContain(KEY)
    expect([turns.status, turns.json.error]).toMatchObject([
      1,
      {
        code: 'E_MAX_TURNS',
        details: { status: 'max_turns', run_id: expect.stringMatching(/^r-/) },
      },
    ])
    expect(tokens.json.error).toMatchObject({
      code: 'E_BUDGET_EXCEEDED',
      details: { dimension: 'total_tokens', limit: 5, used: 15 },
    })
    expect(tokens.status).not.toBe(0)
  })

  test('a model is also a file, or a provider that the project has installed; a prompt may bring the tools [8.agent-command-models]', async () => {
    const model = `{ specificationVersion: 'v3', provider: 'mock', modelId: 'm', supportedUrls: {}, doGenerate() {}, async doStream({ prompt, tools = [] }) { const said = prompt[0].content.length + ' ' + tools.map(({ name }) => name); return { stream: new ReadableStream({ start(c) { for (const part of [{ type: 'text-delta', id: 't', delta: said }, { type: 'finish', finishReason: { unified: 'stop' }, usage: {} }]) c.enqueue(part); c.close() } }) } } }`
    const cwd = folderWith({
      'toolable.yaml': `modules:\n  - ${fixture('agent/tools.mjs')}\n`,
      'model.mjs': `export default () => (${model})\n`,
      'node_modules/@ai-sdk/mock-provider/package.json':
        '{"name":"@ai-sdk/mock-provider","type":"module","exports":"./index.mjs"}',
      'node_modules/@ai-sdk/mock-provider/index.mjs': `export const createMock = () => {}\nexport const mockProvider = { languageModel: (name) => { if (name !== 'good') throw new Error('unknown'); return ${model} } }\n`,
    })
    const [file, provider, unknown, prompt, alone] = await Promise.all([
      toolable(['agent', 'Go', '--model', './model.mjs'], { cwd }),
      toolable(['agent', 'Go'], { cwd, env: { TOOLABLE_MODEL: 'mock-provider:good' } }),
      toolable(['agent', 'Go', '--model', '@ai-sdk/mock-provider:bad'], { cwd }),
      toolable(
        [
          'agent',
          'Go',
          '--model',
          './model.mjs',
          '--prompt',
          fixture('agent/prompt.mjs'),
          '--params',
          '{"user":"Ada"}',
          '-o',
          'text',
        ],
        { cwd },
      ),
      toolable(['agent', 'Go', '--model', join(cwd, 'model.mjs')], { cwd: makeFolder() }),
    ])
    expect([file, provider].map(({ json }) => json.result.text)).toEqual([
      '1 add,sleeps,wipe',
      '1 add,sleeps,wipe',
    ])
    expect([unknown.status, unknown.json.error.message]).toEqual([
      78,
      "'@ai-sdk/mock-provider' has no model 'bad': unknown",
    ])
    expect(prompt.stdout).toMatch(/^\d+ .*open_sections/)
    expect(file.json.meta).not.toHaveProperty('warnings')
    expect(alone.json).toMatchObject({
      ok: true,
      meta: { warnings: [expect.stringContaining('there are no tools here')] },
    })
  })
})

describe('a run that somebody looks after', () => {
  test('consent comes by JSON lines, by --yes, or not at all, and a dry run needs none [8.agent-command-approval]', async () => {
    const script = [use('wipe'), 'ok']
    const all = await Promise.all([
      scripted(script),
      scripted(script),
      scripted(script),
      scripted(script),
    ])
    const [byLine, byFlag, byNobody, planned] = all
    const results = await Promise.all([
      toolable(['agent', 'Go', ...byLine.flags], { ...byLine.here, input: '{"value": true}\n' }),
      toolable(['agent', 'Go', ...byFlag.flags, '--yes'], byFlag.here),
      toolable(['agent', 'Go', ...byNobody.flags], byNobody.here),
      toolable(['agent', 'Go', ...planned.flags, '--dry-run'], planned.here),
    ])
    expect(results.map(({ status }) => status)).toEqual([0, 0, 0, 0])
    expect(all.map(({ server }) => server.asked[1]!.body.messages.at(-1).content)).toEqual([
      'wiped',
      'wiped',
      expect.stringContaining('CONFIRMATION_REQUIRED'),
      expect.stringContaining('would_execute'),
    ])
  })

  test('toolable answer consents to what waits, also in the background [8.agent-command-approval]', async () => {
    const { server, cwd, flags, here } = await scripted([use('wipe'), 'All gone.'])
    const started = await toolable(['agent', 'Go', ...flags, '--detach'], here)
    const { run_id } = started.json.result
    await expect
      .poll(async () => (await toolable(['runs', 'show', run_id], here)).json.result.questions)
      .toMatchObject([{ kind: 'confirm', prompt: 'wipe is destructive. Run it with {}?' }])
    expect((await toolable(['answer', run_id, 'true'], here)).status).toBe(0)
    expect((await toolable(['watch', run_id], here)).status).toBe(0)
    expect((await toolable(['runs', 'show', run_id], here)).json.result).toMatchObject({
      state: 'completed',
      result: { text: 'All gone.' },
    })
    expect(server.asked[1]!.body.messages.at(-1).content).toBe('wiped')
    expect(transcriptOf(cwd).at(-1)).toMatchObject({ type: 'end', result: { status: 'completed' } })
  })

  test('a person at the terminal is asked [8.agent-command-approval]', async () => {
    const { flags, cwd } = await scripted([{ text: 'I wipe.', ...use('wipe') }, 'Done.'])
    const { status, screen } = await runInTerminal(TOOLABLE, ['agent', 'Go', ...flags], {
      cwd,
      steps: [{ wait: 'Run it with', send: 'y\r' }],
    })
    expect(status).toBe(0)
    expect(screen).toMatch(/I wipe\.[\s\S]*> wipe[\s\S]*Run it with[\s\S]*Done\./)
  })

  test.each(['the model thinks', 'a tool works'])(
    'cancel ends it while %s, and nothing is left behind [8.agent-command-cancel]',
    async (when) => {
      const { server, flags, here } = await scripted([
        when === 'a tool works'
          ? use('sleeps')
          : (response) => stream(response, piecesOf({ text: 'I think and' }).slice(0, 3), false),
      ])
      const running = startToolable(['agent', 'Go', ...flags, '--stream'], here)
      await running.said(when === 'a tool works' ? 'asleep' : '"delta"')
      expect((await toolable(['cancel', 'latest'], here)).status).toBe(0)
      const { status, lines } = await running.ended
      expect([status, lines.at(-1).error?.code]).toEqual([130, 'CANCELLED'])
      await expect.poll(() => server.connections()).toBe(0)
    },
  )

  test('what was used up or killed goes on where it stopped with resume [8.agent-command-resume]', async () => {
    const { server, flags, here } = await scripted([SUM, SUM, use('sleeps'), SUM, 'It is 3.'])
    expect(
      (await toolable(['agent', '1 + 2?', ...flags, '--max-turns', '2'], here)).json.error.code,
    ).toBe('E_MAX_TURNS')
    const running = startToolable(['resume', 'latest'], here)
    await running.said('asleep')
    running.kill('SIGKILL')
    await running.ended
    expect((await toolable(['resume', 'latest'], here)).status).toBe(0)
    expect(server.asked[3]!.body.messages.map(({ role }: { role: string }) => role)).toEqual([
      'user',
      ...Array.from({ length: 3 }, () => ['assistant', 'tool']).flat(),
    ])
    expect(server.asked[3]!.body.messages.at(-1).content).toContain('interrupted')
    expect((await toolable(['runs', 'show', 'latest'], here)).json.result).toMatchObject({
      state: 'completed',
      attempt: 3,
      result: { text: 'It is 3.' },
    })
  })

  test('a secret reaches the tools in this process, and neither it nor the key gets further [8.agent-command-secrets]', async () => {
    const server = await startModelServer([use('blabs'), 'ok'])
    const cwd = folderWith({
      'toolable.yaml': `modules:\n  - ${fixture('agent/secrets.mjs')}\n`,
      'token.txt': 'tok-0123456789\n',
    })
    chmodSync(join(cwd, 'token.txt'), 0o600)
    const here = { cwd, env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: server.baseUrl } }
    const { status, stdout, stderr } = await toolable(
      ['agent', 'Go', '--model', 'openai:tiny', '--secret-file', 'token=token.txt', '--stream'],
      here,
    )
    expect(status).toBe(0)
    expect(server.asked[0]!.headers.authorization).toBe(`Bearer ${KEY}`)
    expect(server.asked[1]!.body.messages.at(-1).content).toBe('token [REDACTED], key [REDACTED]')
    for (const text of [
      stdout,
      stderr,
      ...filesIn(join(cwd, '.runs')).map((file) => readFileSync(file, 'utf8')),
    ])
      expect(text).not.toMatch(/tok-0123456789|sk-test/)
    expect(JSON.stringify(transcriptOf(cwd))).toContain('token [REDACTED]')
    // The same for a run of such a tool alone.
    expect(
      (await toolable(['run', '--secret-file', 'token=token.txt', 'blabs'], { cwd })).stdout,
    ).toMatch(/"token \[REDACTED\]/)
  })

  test('a policy that demands permissions speaks about the tools, and about those of a prompt that nobody has looked at [8.agent-command-policy]', async () => {
    const { server, cwd, flags, here } = await scripted([SUM, 'It was refused.'])
    writeFileSync(
      join(cwd, 'toolable.policy.yaml'),
      'version: 1\nmin_level: L3\nrequire_permissions: true\n',
    )
    const [registry, prompt] = await Promise.all([
      toolable(['agent', 'Go', ...flags], here),
      toolable(
        [
          'agent',
          'Go',
          ...flags,
          '--prompt',
          fixture('agent/prompt.mjs'),
          '--params',
          '{"user":"Ada"}',
        ],
        here,
      ),
    ])
    expect([registry.status, registry.json.result.text]).toEqual([0, 'It was refused.'])
    expect(server.asked[1]!.body.messages.at(-1).content).toMatch(/'tools\.add'/)
    expect([prompt.status === 0, prompt.json.error.code]).toEqual([
      false,
      expect.stringMatching(/PERMISSION|SANDBOX_UNAVAILABLE/),
    ])
  })

  test('its time ends with --timeout [8.agent-command-cancel]', async () => {
    const { flags, here } = await scripted([use('sleeps')])
    const { status, json } = await toolable(['agent', 'Go', ...flags, '--timeout', '1s'], here)
    expect([status, json.error.code]).toEqual([124, 'TIMEOUT'])
  })
})

test('help says what it takes', async () => {
  const { stdout } = await toolable(['agent', '--help'], { cwd: makeFolder() })
  for (const word of [
    '--model',
    '--base-url',
    '--api-key-file',
    '--max-turns',
    '--tools',
    'TOOLABLE_MODEL',
  ])
    expect(stdout).toContain(word)
})
