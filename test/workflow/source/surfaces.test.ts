import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sdk } from '../../mcp/clients/drivers.mjs'
import { startToolable, toolable } from '../../commands/support.ts'
import { post } from '../../http/support/doors.ts'
import { serveProgram } from '../../http/support/serve.ts'
import type { Served } from '../../http/support/serve.ts'
import { cleanEnvironment } from '../../support/run-program.ts'
import { makeFlows, runsOf } from './project.ts'
import '../../support/without-coverage.ts'
import { TOOLABLE, TOOLABLE_PATH } from '../../support/toolable-program.ts'

const accept = (answer: string) => ({ action: 'accept', content: { answer } })

describe('[9.workflow-tools] on the command line', () => {
  const folder = makeFlows({
    'flows/broken.yaml':
      'steps:\n  - name: a\n    tool: double\n    input: { n: "${{ steps.b.result }}" }\n  - name: b\n    tool: double\n',
    'flows/wipes.yaml': 'steps: [{ tool: wipe }]\n',
  })

  test('it is listed, and a broken file is a problem with its line [9.workflow-tool-problems]', async () => {
    const { status, json } = await toolable(['list'], { cwd: folder })
    expect(status).toBe(0)
    expect(json.result.tools).toContainEqual(
      expect.objectContaining({
        id: 'flows.tidy',
        name: 'tidy',
        summary: 'Double a number, after asking',
        kind: 'workflow',
        tier: 'manifest',
        tags: ['workflow'],
      }),
    )
    expect(json.result.problems).toEqual([
      {
        source: 'flows',
        location: 'flows/broken.yaml:4',
        reason: 'definition',
        message: expect.stringMatching(/^steps\[0\]\.input\.n: .*'b'/),
        fix: expect.any(String),
        severity: 'error',
      },
    ])
    const { json: all } = await toolable(['describe', 'tidy'], { cwd: folder })
    expect(all.result.manifest).toMatchObject({
      description: 'It asks before it does so.',
      annotations: { readOnly: true, idempotent: true },
      inputSchema: {
        properties: { n: { type: 'number' } },
        required: ['n'],
        additionalProperties: false,
      },
    })
    expect((await toolable(['call', 'tidy', '--help'], { cwd: folder })).stdout).toContain(
      '--n <number>  (required)',
    )
  })

  test('whoever calls it answers; the call is a run on record [9.workflow-tool-runs]', async () => {
    const program = startToolable(['call', 'tidy', '--n', '4', '--session'], {
      cwd: folder,
      input: 'open',
    })
    await program.said('"action_required"')
    program.write('{"value":"yes"}\n')
    const { status, lines, stderr } = await program.ended
    expect(status).toBe(0)
    expect(lines[0]).toMatchObject({
      kind: 'decision',
      prompt: 'Go on with 8?',
      options: [{ value: 'yes' }, { value: 'no' }],
      key: 'proceed',
    })
    expect(lines[1]).toMatchObject({
      ok: true,
      result: { n: 16, said: 'yes' },
      meta: { tool: 'flows.tidy', version: '3', run_id: expect.stringMatching(/^r-[0-9a-f]{10}$/) },
    })
    expect(stderr).toContain('step 2/3: go')
    const run = runsOf(folder).find(({ id }) => id === lines[1].meta.run_id)
    expect(run?.request).toMatchObject({
      command: 'workflow',
      tool: 'workflow.tidy',
      input: { n: 4 },
      workflow: { definition: { name: 'tidy' }, hash: expect.any(String) },
    })
    expect(run?.events.at(-1)).toMatchObject({ type: 'runner_end', state: 'completed' })
  })

  test('where nobody answers, the error has the command with which it goes on [9.workflow-tool-runs]', async () => {
    const asked = await toolable(['call', 'tidy', '{"n":5}'], { cwd: folder })
    expect(asked.status).toBe(77)
    const { error } = asked.json
    expect(error).toMatchObject({
      code: 'ANSWER_REQUIRED',
      details: { run_id: expect.any(String) },
      suggestion: { example: `toolable resume ${error.details.run_id} --answer proceed=yes` },
    })
    const resumed = await toolable(error.suggestion.example.split(' ').slice(1), { cwd: folder })
    expect(resumed.status).toBe(0)
    expect(resumed.lines.find(({ type }) => type === 'result')).toMatchObject({
      result: { n: 20, said: 'yes' },
    })
    const first = resumed.lines.filter(
      ({ type, task_id: task }) => type === 'task_started' && task === 'first',
    )
    expect(first).toEqual([])
  })

  test('toolable run makes the same run of it, and input is checked before', async () => {
    const ran = await toolable(['run', '--answer', 'proceed=no', 'tidy', '--n', '1'], {
      cwd: folder,
    })
    expect([ran.status, ran.lines.find(({ type }) => type === 'result')?.result]).toEqual([
      0,
      { n: null, said: 'no' },
    ])
    const named = await toolable(['workflow', 'run', 'tidy', 'n=1', '--answer', 'proceed=no'], {
      cwd: folder,
    })
    expect([named.status, named.lines.find(({ type }) => type === 'result')?.result]).toEqual([
      0,
      { n: null, said: 'no' },
    ])
    const before = runsOf(folder).length
    expect(
      (await toolable(['call', 'tidy', '{"n":"x"}'], { cwd: folder })).json.error,
    ).toMatchObject({ code: 'INVALID_INPUT', field: 'n' })
    expect(runsOf(folder)).toHaveLength(before)
  })

  test('one with a destructive tool needs consent [9.workflow-tool-annotations]', async () => {
    expect((await toolable(['call', 'wipes'], { cwd: folder })).json.error).toMatchObject({
      code: 'CONFIRMATION_REQUIRED',
    })
    expect((await toolable(['run', 'wipes'], { cwd: folder })).json.error).toMatchObject({
      code: 'CONFIRMATION_REQUIRED',
    })
    expect((await toolable(['call', 'wipes', '--yes'], { cwd: folder })).json).toMatchObject({
      ok: true,
      result: 'wiped',
    })
  })
})

describe.each(['legacy', 'auto'] as const)(
  '[9.workflow-tools] over MCP, with a client of others (%s)',
  (mode) => {
    test('it is a tool whose question is asked of the client', async () => {
      const folder = makeFlows()
      const session = await sdk(mode)(
        {
          command: process.execPath,
          args: [TOOLABLE_PATH, 'serve', 'mcp', '--transport', 'stdio'],
          env: cleanEnvironment(),
          cwd: folder,
        },
        { answers: [accept('yes')] },
      )
      try {
        const listed = (await session.list()).find(({ name }) => name === 'tidy')
        expect(listed).toMatchObject({
          description: expect.stringContaining('It asks before it does so.'),
          inputSchema: { properties: { n: { type: 'number' } }, required: ['n'] },
          annotations: { readOnlyHint: true, idempotentHint: true },
        })
        const progress: { progress: number; message?: string }[] = []
        const called = await session.call('tidy', { n: 4 }, { progress })
        expect(called).toMatchObject({ structuredContent: { n: 16, said: 'yes' } })
        expect(session.asked).toMatchObject([{ message: expect.stringContaining('Go on with 8?') }])
        expect(progress.map(({ message }) => message)).toContain('step 1/3: first')
        expect((await session.call('tidy', { n: 'x' })).isError).toBe(true)
        expect(runsOf(folder)).toHaveLength(1)
      } finally {
        await session.close()
      }
    })
  },
)

describe('[9.workflow-tools] over HTTP', () => {
  const folder = makeFlows()
  let served: Served
  beforeAll(async () => {
    served = await serveProgram([], { cwd: folder }, TOOLABLE)
  })
  afterAll(async () => void (await served.stop()))

  test('a call gives its outcome; a question is told with the run that waits for it', async () => {
    expect(await (await fetch(`${served.url}/`)).text()).toContain('tidy')
    const answer = await fetch(`${served.url}/tools/tidy`, post({ n: 4 }))
    const { error } = (await answer.json()) as {
      error: { code: string; details: { run_id: string } }
    }
    expect(error.code).toBe('ANSWER_REQUIRED')
    const resumed = await toolable(['resume', error.details.run_id, '--answer', 'proceed=yes'], {
      cwd: folder,
    })
    expect(resumed.lines.find(({ type }) => type === 'result')).toMatchObject({ result: { n: 16 } })
    expect(await (await fetch(`${served.url}/tools/tidy`, post({}))).json()).toMatchObject({
      ok: false,
      error: { code: 'MISSING_PARAM', field: 'n' },
    })
  })
})
