import { linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readSessionPlan } from '../../../src/commands/ui/serve-ui.ts'
import type { JsonObject } from '../../../src/util/values.ts'
import { makeRoot, startRunner } from '../../runner/record-support.ts'
import { last, makeProject } from '../../runner/support.ts'
import { fixture, makeFolder, startProgram } from '../../support/run-program.ts'
import '../../support/without-coverage.ts'
import { makeRuns, writeRun } from '../support/make-runs.ts'
import { listen, look, query } from './support.ts'

const HERE = 'permissions: {}\n'
const END = [{ type: 'runner_start' }, { type: 'runner_end', state: 'completed', rc: 0 }]

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const part of body) parts.push(part)
  return Buffer.concat(parts).toString()
}

describe('one run', () => {
  test('of a real tool says what was asked, what came of it and what it left [10.run-detail] [10.run-artifacts]', async () => {
    const project = makeProject({
      'makes-files.py': `${HERE}inputs:\n  - {name: input, type: path}\n  - {name: output, type: path}\n`,
    })
    project.write('in.txt', "it's text")
    expect(
      (
        await project.toolable([
          'run',
          '--timeout',
          '50s',
          'makes_files',
          '--input',
          'in.txt',
          '--output',
          'the out.txt',
        ])
      ).status,
    ).toBe(0)
    const source = look(join(project.folder, '.runs'))
    const {
      rows: [row],
    } = await source.list(query())
    expect(row).toMatchObject({ tool: 'tools.makes_files', state: 'completed', artifacts: 1 })
    const detail = await source.detail(row!.run_id)
    expect(detail).toMatchObject({
      command: "toolable run --timeout 50s tools.makes_files --input in.txt --output 'the out.txt'",
      request: {
        form: 'protocol',
        timeout_s: 50,
        secrets: [],
        cwd: project.folder,
        permissions: expect.anything(),
      },
      artifacts: [
        { index: 0, name: 'extra.txt', path: 'extra.txt', bytes: 5, kept: true, attempt: 1 },
      ],
      folder: project.run(),
      children: [],
      can: { cancel: false, resume: false, retry: true, answer: false },
    })
    const { name, bytes, body } = await source.artifact(row!.run_id, 0)
    expect([name, bytes, await textOf(body)]).toEqual(['extra.txt', 5, 'extra'])
    expect(await source.verify(row!.run_id, 0)).toEqual({
      state: 'same',
      sha256: last(project.log(), 'result')!['artifacts'][0].sha256,
    })
    await expect(source.artifact(row!.run_id, 1)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    writeFileSync(join(project.run(), 'artifacts', 'extra.txt'), 'other')
    expect(await source.verify(row!.run_id, 0)).toMatchObject({ state: 'changed' })
    rmSync(join(project.run(), 'artifacts', 'extra.txt'))
    expect(await source.verify(row!.run_id, 0)).toEqual({ state: 'gone' })
    expect((await source.detail(row!.run_id)).artifacts).toMatchObject([{ kept: false }])
  })

  test('gives no file from anywhere else, whatever its record and its folder say [10.run-artifacts]', async () => {
    const root = makeRoot()
    const outside = join(makeFolder(), 'outside.txt')
    writeFileSync(outside, 'outside')
    const artifacts: JsonObject[] = [
      { path: '../run.json' },
      { path: outside },
      { path: 'link.txt' },
      { path: 'folder/inner.txt' },
      { path: 'hard.txt' },
      { uri: 'https://example.com/x' },
      { path: 'own', files: 1, bytes: 3, sha256: 'x' },
      { path: '../../../../etc/passwd' },
      { name: 'nothing' },
      { path: '' },
    ]
    const id = writeRun(root, {
      id: 'r-2222222222',
      tool: 'a.b',
      created: Date.now(),
      said: [END[0]!, { type: 'result', status: 'ok', artifacts }, END[1]!],
      files: { 'own/file.txt': 'own' },
    })
    const folder = join(root, id, 'artifacts')
    symlinkSync(outside, join(folder, 'link.txt'))
    mkdirSync(join(outside, '..', 'else'))
    writeFileSync(join(outside, '..', 'else', 'inner.txt'), 'inner')
    symlinkSync(join(outside, '..', 'else'), join(folder, 'folder'))
    linkSync(outside, join(folder, 'hard.txt'))
    const source = look(root)
    const shown = (await source.detail(id)).artifacts
    expect(shown.map(({ kept }) => kept)).toEqual(artifacts.map(() => false))
    expect(shown[6]).toMatchObject({ type: 'folder', name: 'own' })
    for (const index of artifacts.keys())
      await expect(source.artifact(id, index)).rejects.toMatchObject({
        code: expect.stringMatching(/^(NOT_FOUND|PRECONDITION)$/),
      })
    expect(
      await Promise.all(artifacts.map(async (_, index) => (await source.verify(id, index)).state)),
    ).toEqual([
      'unknown',
      'gone',
      'gone',
      'gone',
      'gone',
      'unknown',
      'changed',
      'unknown',
      'unknown',
      'gone',
    ])
    for (const index of [-1, 99, 0.5, NaN])
      await expect(source.artifact(id, index)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('of a folder is verified as it was hashed [10.run-artifacts]', async () => {
    const project = makeProject({ 'is-plain.sh': 'plain\n' })
    writeFileSync(
      join(project.folder, 'tools', 'is_plain', 'cli.sh'),
      '#!/bin/sh\nmkdir -p "$WORKSPACE/out/deep"; echo one > "$WORKSPACE/out/a b.txt"; echo two > "$WORKSPACE/out/deep/z"\necho \'{"v":1,"type":"result","status":"ok","artifacts":["out"]}\'\n',
    )
    writeFileSync(
      join(project.folder, 'tools', 'registry', 'is_plain', 'tool.yaml'),
      'name: is_plain\nversion: 1.0.0\nentry: cli.sh\nprotocol_version: 1\npermissions: {}\n',
    )
    expect((await project.toolable(['run', 'is_plain'])).status).toBe(0)
    const source = look(join(project.folder, '.runs'))
    const {
      rows: [row],
    } = await source.list(query())
    expect((await source.detail(row!.run_id)).artifacts).toMatchObject([
      { name: 'out', type: 'folder', kept: false },
    ])
    expect(await source.verify(row!.run_id, 0)).toMatchObject({ state: 'same' })
    writeFileSync(join(project.run(), 'artifacts', 'out', 'deep', 'z'), 'three')
    expect(await source.verify(row!.run_id, 0)).toMatchObject({ state: 'changed' })
  })

  test('hides what is secret, and can be started again by its command [10.run-detail]', async () => {
    const root = makeRoot()
    const schema = {
      type: 'object',
      properties: {
        url: { type: 'string' },
        apiToken: { type: 'string', writeOnly: true },
        deep: { type: 'object', properties: { pass: { type: 'string', format: 'password' } } },
      },
    }
    const more = {
      inputSchema: schema,
      secrets: { token: '/home/me/token.txt' },
      answers: { choose: 'left', count: 3 },
      retries: 0,
      dry_run: true,
      allow_level: 'L2',
      call: { form: 'flags', command: ['/bin/tool'], env: { SECRET_ENV: 'hush-env' } },
    }
    const flags = writeRun(root, {
      id: 'r-3333333333',
      tool: 'web.fetch',
      created: 3000,
      said: END,
      args: ['--url', 'a b', '--api-token', 'hush-1', '--api-token=hush-2'],
      more,
    })
    const document = writeRun(root, {
      id: 'r-4444444444',
      tool: 'web.fetch',
      created: 2000,
      said: END,
      args: ['-'],
      more: {
        ...more,
        call: undefined,
        secrets: undefined,
        answers: undefined,
        retries: 3,
        dry_run: undefined,
        allow_level: undefined,
        input: { url: "it's", apiToken: 'hush-3', deep: { pass: 'hush-4', rest: 1 } },
      },
    })
    const agent = writeRun(root, {
      id: 'r-5555555555',
      tool: 'toolable.agent',
      created: 1000,
      said: END,
      more: {
        call: undefined,
        command: 'agent',
        input: { task: 'Tidy up', model: 'openai:x', tools: ['a.*', 'b'], maxTurns: 3, yes: true },
      },
    })
    const source = look(root)
    const details = await Promise.all([flags, document, agent].map((id) => source.detail(id)))
    expect(JSON.stringify(details)).not.toContain('hush')
    expect(details.map(({ command }) => command)).toEqual([
      "toolable run --dry-run --retries 0 --allow-level L2 --secret-file token=/home/me/token.txt --answer choose=left --answer count=3 web.fetch --url 'a b' --api-token '***' '--api-token=***'",
      `toolable run web.fetch '{"url":"it'\\''s","apiToken":"***","deep":{"pass":"***","rest":1}}'`,
      "toolable agent --model openai:x --tools 'a.*' --tools b --max-turns 3 --yes 'Tidy up'",
    ])
    expect(details[0]!.request).toMatchObject({
      secrets: ['token'],
      answers: ['choose', 'count'],
      args: ['--url', 'a b', '--api-token', '***', '--api-token=***'],
    })
  })

  test('has a plan that is listed, with those of the project [10.run-detail]', async () => {
    const root = makeRoot()
    const plan = (status: string): JsonObject => ({
      objective: 'Ship it',
      status: 'active',
      steps: [{ step_id: 1, title: 'Test', status }],
    })
    makeRuns(root, { count: 3 })
    const id = writeRun(root, {
      id: 'r-6666666666',
      tool: 'a.plans',
      created: 1000,
      said: [
        END[0]!,
        { type: 'progress', msg: 'x', plan: plan('pending') },
        { type: 'progress', msg: 'y', plan: plan('done') },
        { type: 'log', msg: 'no "plan" here' },
        END[1]!,
      ],
    })
    const project = makeProject({})
    expect((await project.toolable(['plan', 'setup', 'Mine', 'First'])).status).toBe(0)
    const file = {
      plan: { objective: 'Mine', status: 'active', steps: [{ step_id: 1, title: 'First' }] },
      file: join(project.folder, '.toolable', 'session.json'),
    }
    expect(await readSessionPlan({ cwd: makeFolder(), surroundings: {} })).toEqual([])
    const source = look(root, {
      plans: () => readSessionPlan({ cwd: project.folder, surroundings: {} }),
    })
    await expect.poll(async () => (await source.list(query())).complete).toBe(true)
    expect(await source.plans()).toMatchObject({
      plans: [
        { run: { run_id: id }, plan: { status: 'completed', steps: [{ status: 'done' }] } },
        file,
      ],
    })
  })
})

const TOOLS = `import { tool } from '${fixture('../../dist/index.js')}'
const make = (name, run) => tool({ name, summary: name, input: { type: 'object', additionalProperties: true }, run })
export const quick = make('quick', async () => 'quick')
export const undo = make('undo', async () => 'undo')
export const slow = make('slow', () => new Promise((resolve) => setTimeout(resolve, 600_000)))
`

describe('workflows', () => {
  const WORKFLOW =
    'name: ask\nsteps:\n  - {name: work, tool: is_plain}\n  - {name: approve, ai_decision: true, decision_type: approve, instruction: "Go on?", options: [yes, no]}\n'

  test('show their steps, children and questions, also when nobody performs them [10.run-detail] [10.run-decisions]', async () => {
    const project = makeProject({ 'is-plain.sh': `plain\n${HERE}` })
    project.write('ask.yaml', WORKFLOW.replace('ai_decision: true', 'type: ai_decision'))
    const source = look(join(project.folder, '.runs'))
    const heard = listen(source)
    const running = project.start(['workflow', 'run', 'ask.yaml', '--wait'], { input: 'open' })
    await running.said('action_required')
    const asking = await heard.untilPiece(({ rows }) =>
      rows.some(({ workflow, questions }) => workflow === 'ask' && questions === 1),
    )
    const id = asking.rows.find(({ workflow }) => workflow === 'ask')!.run_id
    const detail = await source.detail(id)
    expect(detail).toMatchObject({
      row: { workflow: 'ask', tool: 'workflow.ask' },
      command: `toolable workflow run ${join(project.folder, 'ask.yaml')}`,
      workflow: {
        name: 'ask',
        file: join(project.folder, 'ask.yaml'),
        steps: [
          { key: 'work', kind: 'tool', tool: 'is_plain' },
          { key: 'approve', kind: 'ai_decision' },
        ],
      },
      children: [{ tool: 'tools.is_plain', parent: { run_id: id, step: 'work' } }],
      model: { steps: [{ key: 'work', state: 'ok' }, { key: 'approve' }] },
    })
    expect((await source.list(query(`parent=${id}`))).matching).toBe(1)
    running.kill('SIGKILL')
    await running.ended
    expect(
      await heard.until(id, ({ state, questions }) => state === 'failed' && questions === 1),
    ).toMatchObject({ code: 'E_INTERRUPTED' })
    const { open, past } = await source.decisions()
    expect(open).toMatchObject([
      { run_id: id, run_state: 'failed', question: { prompt: expect.stringContaining('Go on?') } },
    ])
    expect(past).toEqual([])
    expect(await source.detail(id)).toMatchObject({
      go_on: `toolable resume ${id}`,
      can: { answer: true, resume: true },
    })
    expect(heard.pieces.at(-1)!.news.open).toBe(1)
    expect((await project.toolable(['answer', id, 'yes'])).status).toBe(0)
    expect((await project.toolable(['resume', id])).status).toBe(0)
    await heard.until(id, ({ state }) => state === 'completed')
    expect(await source.decisions()).toMatchObject({ open: [] })
  })

  test('without a folder of their own are seen like runs [10.run-light]', async () => {
    const root = makeRoot()
    const counter = join(makeFolder(), 'counter')
    const executed = startRunner('../workflow/executes.mjs', [root, counter, '3'])
    await executed.ended
    const source = look(root)
    const { rows } = await source.list(query())
    expect(rows).toHaveLength(3)
    expect(rows[0]).toMatchObject({
      light: true,
      tool: 'workflow.three',
      workflow: 'three',
      state: 'completed',
      artifacts: 0,
      duration_s: expect.any(Number),
    })
    const id = rows[0]!.run_id
    expect(await source.detail(id)).toMatchObject({
      model: { state: 'completed' },
      workflow: {
        name: 'three',
        steps: expect.arrayContaining([expect.objectContaining({ key: 'one' })]),
      },
      can: { cancel: false, resume: false, retry: false, answer: false },
    })
    const page = await source.events(id, query())
    expect(page.events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['runner_start', 'task_done', 'result', 'runner_end']),
    )
    expect(
      (await source.events(id, query(`before=${page.total + 1}&limit=1`))).events,
    ).toMatchObject([{ type: 'runner_end' }])
    expect((await source.events(id, query('type=task_done&limit=2'))).events).toHaveLength(2)
    expect(await source.log(id, query())).toMatchObject({ total: 0 })
    await expect(source.artifact(id, 0)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const heard = listen(source)
    const tools = join(makeFolder(), 'tools.mjs')
    writeFileSync(tools, TOOLS)
    const held = startProgram('workflow/hosts.mjs', [root, tools, '{}'])
    await held.said('started')
    const news = await heard.untilPiece(({ rows: some }) =>
      some.some(({ state }) => state === 'running'),
    )
    const live = news.rows.find(({ state }) => state === 'running')!.run_id
    const stop = new AbortController()
    const told: string[] = []
    const following = (async () => {
      for await (const events of source.follow(live, 0, stop.signal))
        for (const { type } of events) told.push(type)
    })()
    await expect.poll(() => told).toContain('runner_start')
    held.kill('SIGKILL')
    await heard.until(live, ({ state }) => state === 'failed')
    expect(await source.detail(live)).toMatchObject({
      row: { code: 'E_INTERRUPTED' },
      go_on: `toolable workflow resume ${live}`,
      can: { resume: true },
    })
    stop.abort()
    await following
  })
})
