import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { registry, runner, tool } from 'toolable'
import { fixture } from '../support/run-program.ts'
import { makeProject } from './support.ts'

test('a host runs tools on record, many at once in a bounded pool, each with its own answer [7.runner-api]', async () => {
  const project = makeProject({ 'asks.py': '', 'is-plain.sh': 'plain' })
  const tools = await registry({ folders: [join(project.folder, 'tools')], cache: false })
  const runs = runner({
    registry: tools,
    cwd: project.folder,
    concurrency: 4,
    answer: ({ prompt }) => (prompt === 'Which way?' ? 'right' : undefined),
  })
  const handles = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      runs.start(index % 2 === 0 ? 'is_plain' : 'asks', { args: index % 2 === 0 ? ['0'] : [] }),
    ),
  )
  const summaries = await Promise.all(handles.map(({ done }) => done))
  expect(summaries.map(({ state }) => state)).toEqual(Array.from({ length: 20 }, () => 'completed'))
  expect(new Set(handles.map(({ id }) => id)).size).toBe(20)
  const types: string[] = []
  for await (const { type } of handles[1]!.events()) types.push(type)
  expect(types).toEqual([
    'runner_start',
    'start',
    'action_required',
    'runner_log',
    'result',
    'runner_end',
  ])
  expect(
    readdirSync(join(project.folder, '.runs')).filter((name) =>
      existsSync(join(project.folder, '.runs', name, 'lock')),
    ),
  ).toEqual([])
  await expect(runs.start('no-such-tool', { args: [] })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  })
  await expect(
    runner({ registry: tools, concurrency: 0 }).start('is_plain', { args: [] }),
  ).rejects.toMatchObject({ code: 'CONFIG' })
  const late = runs.start('is_plain', { args: ['0'] })
  await runs.close()
  await expect(late).rejects.toMatchObject({ code: 'CANCELLED' })
  await tools.close()
})

test('tools that are no programs run on record too, ask, and have a deadline [7.run-calls]', async () => {
  const folder = join(makeProject({}).folder, '.runs')
  const choose = tool({
    name: 'choose',
    summary: 'Ask which way',
    run: async (_input, ctx) => ({
      way: await ctx.ask({ kind: 'decision', prompt: 'Which way?', options: ['left', 'right'] }),
    }),
  })
  const hang = tool({ name: 'hang', summary: 'Never end', run: () => new Promise(() => undefined) })
  const tools = await registry({ tools: [choose, hang], cache: false })
  const runs = runner({ registry: tools, folder, answer: () => 'right' })
  const [chosen, hung] = await Promise.all([
    runs.start('choose', { input: {} }),
    runs.start('hang', { input: {} }, { timeout: 0.3 }),
  ])
  expect(await chosen.done).toMatchObject({ state: 'completed', result: { way: 'right' } })
  expect(await hung.done).toMatchObject({ state: 'failed', rc: 124, error: { code: 'E_DEADLINE' } })
  const types: string[] = []
  for await (const { type } of chosen.events()) types.push(type)
  expect(types).toEqual([
    'runner_start',
    'start',
    'action_required',
    'runner_log',
    'result',
    'runner_end',
  ])
  await runs.close()
  await tools.close()
})

test('of an executable with several tools the one that is named runs [7.runner-api]', async () => {
  const project = makeProject({})
  mkdirSync(join(project.folder, 'tools'), { recursive: true })
  copyFileSync(fixture('runner/two-tools.py'), join(project.folder, 'tools', 'two.py'))
  chmodSync(join(project.folder, 'tools', 'two.py'), 0o755)
  const ended = await Promise.all(
    ['first', 'second'].map((name) => project.toolable(['run', name, '--x', '1'])),
  )
  expect(ended.map(({ status, lines }) => [status, lines.at(-2).result])).toEqual([
    [0, ['first']],
    [0, ['second']],
  ])
})
