import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { registry } from 'toolable'
import type { Registry, RegistryOptions } from 'toolable'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isAlive } from '../support/processes.ts'
import { cleanEnvironment, makeFolder } from '../support/run-program.ts'
import { childrenWith, commandOf } from './support/processes.ts'

type McpServerOptions = NonNullable<RegistryOptions['mcpServers']>[string]

const MODULES = fileURLToPath(
  new URL('servers/node_modules/@modelcontextprotocol/', import.meta.url),
)
const folder = makeFolder()
const env = cleanEnvironment({ CANARY: 'of-the-host', GIVEN: 'by-the-host' })

const real = (name: string, ...args: string[]): McpServerOptions => ({
  command: process.execPath,
  args: [join(MODULES, `server-${name}`, 'dist/index.js'), ...args],
  timeout: 30,
})
const children = (): readonly number[] => childrenWith('/server-')
const open = (
  mcpServers: RegistryOptions['mcpServers'] & {},
  more: RegistryOptions = {},
): Promise<Registry> => registry({ cwd: folder, env, cache: false, mcpServers, ...more })

describe('[6.mcp-real-servers] servers that others wrote', () => {
  let reg: Registry
  beforeAll(async () => {
    mkdirSync(join(folder, 'data'))
    writeFileSync(join(folder, 'data', 'note.txt'), 'hello from a file')
    reg = await open(
      {
        everything: real('everything'),
        files: { ...real('filesystem', '${DATA:-data}') },
        memory: {
          ...real('memory'),
          env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl'), GIVEN: '${GIVEN}' },
        },
        off: { command: 'false', disabled: true },
        dead: { command: join(folder, 'nothing-here') },
      },
      {
        sample: ({ prompt }) => `completed: ${prompt}`,
        answer: ({ kind }) => (kind === 'confirm' ? true : { name: 'Ada' }),
      },
    )
  })
  afterAll(() => reg.close())

  test('are listed with everything they have, and a dead one is shown as dead', async () => {
    expect(reg.sources()).toMatchObject([
      { name: 'everything', tools: 15 },
      { name: 'files', tools: 14 },
      { name: 'memory', tools: 9 },
      { name: 'off', tools: 0, problems: 0 },
      { name: 'dead', tools: 0, problems: 1 },
    ])
    expect(reg.problems()).toMatchObject([
      {
        source: 'everything',
        reason: 'unsupported',
        message: expect.stringContaining('simulate-research-query'),
      },
      {
        source: 'dead',
        reason: 'dead',
        severity: 'error',
        message: expect.stringContaining('nothing-here'),
        fix: expect.stringContaining('ls -l'),
      },
    ])
    expect(reg.prompts.map(({ name }) => name)).toEqual([
      'simple-prompt',
      'args-prompt',
      'completable-prompt',
      'resource-prompt',
    ])
    expect(reg.resources.map(({ manifest }) => manifest.uri)).toContain(
      'demo://resource/dynamic/text/{resourceId}',
    )
    expect(await reg.describe('files.read_text_file')).toMatchObject({
      kind: 'mcp server',
      tier: 'server',
      manifest: { annotations: { readOnly: true }, outputSchema: { type: 'object' } },
    })
  })

  test('answer with text, structured content, pictures and links', async () => {
    expect(await reg.call('everything.echo', { message: 'hi' })).toMatchObject({
      ok: true,
      result: 'Echo: hi',
      meta: { tool: 'everything.echo' },
    })
    expect(
      await reg.call('everything.get-structured-content', { location: 'Chicago' }),
    ).toMatchObject({ ok: true, result: { temperature: 36, humidity: 82 } })
    expect(await reg.call('everything.get-tiny-image', {})).toMatchObject({
      ok: true,
      content: [{ type: 'image', mimeType: 'image/png' }],
    })
    expect(await reg.call('everything.get-resource-links', { count: 2 })).toMatchObject({
      ok: true,
      content: [{ type: 'resource_link' }, { type: 'resource_link' }],
    })
    expect(
      await reg.call('files.read_text_file', { path: join(folder, 'data', 'note.txt') }),
    ).toMatchObject({ ok: true, result: { content: 'hello from a file' } })
    expect(await reg.call('files.read_text_file', { path: '/etc/passwd' })).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('Access denied') },
    })
    expect(
      await reg.call('memory.create_entities', {
        entities: [{ name: 'Ada', entityType: 'person', observations: ['counts'] }],
      }),
    ).toMatchObject({ ok: true, result: { entities: [{ name: 'Ada' }] } })
  })

  test('tell progress, and ask whoever calls', async () => {
    const events: unknown[] = []
    expect(
      await reg.call(
        'everything.trigger-long-running-operation',
        { duration: 0.2, steps: 2 },
        { onEvent: (event) => void events.push(event) },
      ),
    ).toMatchObject({ ok: true })
    expect(events).toContainEqual({ type: 'progress', message: '1 of 2', percent: 50 })
    expect(
      await reg.call('everything.trigger-sampling-request', { prompt: 'a word', maxTokens: 5 }),
    ).toMatchObject({
      ok: true,
      result: expect.stringContaining(
        'completed: Resource trigger-sampling-request context: a word',
      ),
    })
    expect(await reg.call('everything.trigger-elicitation-request', {})).toMatchObject({
      ok: true,
      result: expect.stringContaining('Name: Ada'),
    })
    expect(
      await reg.call('everything.trigger-elicitation-request', {}, { answer: () => undefined }),
    ).toMatchObject({ ok: false, error: { code: 'ANSWER_REQUIRED' } })
  })

  test('have resources that are read and prompts that are rendered', async () => {
    expect(await reg.readResource('demo://resource/static/document/features.md')).toMatchObject({
      ok: true,
      result: { mimeType: 'text/markdown', text: expect.stringContaining('#') },
    })
    expect(await reg.readResource('demo://resource/dynamic/text/7')).toMatchObject({
      ok: true,
      result: { text: expect.stringContaining('7') },
    })
    expect(await reg.readResource('demo://resource/dynamic/text/none')).toMatchObject({ ok: false })
    expect(await reg.renderPrompt('args-prompt', { city: 'Ulm' })).toMatchObject({
      ok: true,
      result: [{ role: 'user', content: expect.stringContaining('Ulm') }],
    })
    expect(await reg.renderPrompt('args-prompt', {})).toMatchObject({
      ok: false,
      error: { code: 'MISSING_PARAM' },
    })
    expect(
      await reg.prompts
        .find(({ name }) => name === 'completable-prompt')
        ?.complete('department', 'E'),
    ).toEqual(['Engineering'])
  })

  test('get what they are given of the environment, and nothing else', async () => {
    const { result } = (await reg.call('everything.get-env', {})) as {
      readonly result: { readonly [name: string]: string }
    }
    expect(result).not.toHaveProperty('CANARY')
    expect(result['PATH']).toBe(env['PATH'])
  })

  test('[6.mcp-restart] killed in a call: a retryable error, a fresh server for the next call, the others untouched', async () => {
    const pidOf = (name: string): number =>
      children().find((pid) => commandOf(pid).includes(`server-${name}`))!
    const [victim, other] = [pidOf('everything'), pidOf('memory')]
    const running = reg.call(
      'everything.trigger-long-running-operation',
      { duration: 30, steps: 300 },
      {
        onEvent: ({ type }) => {
          if (type === 'progress') process.kill(victim, 'SIGKILL')
        },
      },
    )
    const beside = reg.call('memory.read_graph', {})
    expect(await running).toMatchObject({
      ok: false,
      error: {
        code: 'DEPENDENCY',
        retryable: true,
        message: expect.stringContaining(
          "MCP server 'everything' ended during the call of 'trigger-long-running-operation': it was killed by SIGKILL",
        ),
      },
    })
    expect(await beside).toMatchObject({ ok: true, result: { entities: [{ name: 'Ada' }] } })
    expect(await reg.call('everything.echo', { message: 'again' })).toMatchObject({
      ok: true,
      result: 'Echo: again',
    })
    expect(pidOf('everything')).not.toBe(victim)
    expect(pidOf('memory')).toBe(other)
  })

  test('[6.servers-leave-nothing] are over when the registry is closed', async () => {
    const pids = children()
    expect(pids).toHaveLength(3)
    await reg.close()
    expect(pids.filter(isAlive)).toEqual([])
    expect(await reg.call('everything.echo', { message: 'too late' })).toMatchObject({
      ok: false,
      error: { code: 'DEPENDENCY', retryable: false },
    })
  })
})
