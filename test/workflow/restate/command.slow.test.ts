import { writeFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../../scripts/conformance/free-port.mjs'
import { renewAfterFailure } from '../../support/renew-after-failure.ts'
import { COUNT, makeProject } from '../support.ts'
import type { Project } from '../support.ts'
import { installSdk, startWorker } from './cluster.ts'
import type { WorkerProcess } from './cluster.ts'
import { startServer } from './server.ts'
import type { TestServer } from './server.ts'

let server: TestServer
let project: Project
let worker: WorkerProcess

renewAfterFailure(
  async () => {
    server = await startServer()
    project = makeProject({ 'workflow/count.sh': COUNT })
    installSdk(project)
    worker = await startWorker(project, server.admin, await freePort())
  },
  async () => {
    await worker?.kill()
    await server?.stop()
  },
)

const at = (): readonly string[] => [
  '--engine',
  'restate',
  '--ingress',
  server.ingress,
  '--admin',
  server.admin,
]
const flow = (name: string, gate = ''): string =>
  project.write(
    `${name}.yaml`,
    `
name: ${name}
steps:
  - {name: first, tool: count, input: {name: ${name}-first, log: ${project.path('counted')}}}
  - {name: long, command: "./count --name ${name}-long --log ${project.path('counted')} ${gate === '' ? '' : `--gate ${project.path(gate)}`}"}
  - {type: ai_decision, name: choose, decision_type: pick, instruction: Which?, options: [{value: left}, {value: right}]}
output: \${{ steps.choose.result }}
`,
  )

describe('toolable workflow run --engine restate', () => {
  test('executes a workflow, tells of its tasks, asks its question, and takes the answer [9.restate-client]', async () => {
    const ended = await project.toolable([
      'workflow',
      'run',
      flow('plain'),
      ...at(),
      '--answer',
      'pick=left',
    ])
    expect(ended.stderr).toBe('')
    expect(ended.status).toBe(0)
    const types = ended.lines.map(({ type, task_id }) =>
      task_id === undefined ? type : `${type} ${task_id}`,
    )
    expect(types).toEqual(
      expect.arrayContaining([
        'task_submitted first',
        'task_started first',
        'task_done first',
        'task_submitted long',
        'task_done long',
        'action_required',
        'result',
      ]),
    )
    const done = ended.lines.find(
      ({ type, task_id }) => type === 'task_done' && task_id === 'first',
    )
    expect(project.request(done.child_run_id)).toMatchObject({
      parent: { run_id: done.run_id, step: 'first' },
    })
    expect(project.counted().filter((line) => line.startsWith('plain'))).toEqual([
      'plain-first',
      'plain-long',
    ])
  })

  test('ends where nobody answers, says how to go on, and goes on with the answer', async () => {
    const ended = await project.toolable(['workflow', 'run', flow('unanswered'), ...at()])
    expect(ended.status).toBe(77)
    const { run_id } = ended.lines[0]
    expect(ended.stdout).toContain(`toolable resume ${run_id}`)
    const resumed = await project.toolable(['resume', run_id, '--answer', 'pick=right'])
    expect(resumed.status).toBe(0)
    expect(resumed.lines.filter(({ type }) => type === 'task_done')).toEqual([])
    expect(project.counted().filter((line) => line.startsWith('unanswered'))).toEqual([
      'unanswered-first',
      'unanswered-long',
    ])
  })

  test('loses nothing with kill -9 of the client: resume follows it again [9.restate-client]', async () => {
    const client = project.start([
      'workflow',
      'run',
      flow('killed', 'killed-gate'),
      ...at(),
      '--wait',
    ])
    await expect.poll(() => project.counted()).toContain('killed-long')
    await client.said('"task_done"')
    client.kill('SIGKILL')
    const { stdout } = await client.ended
    const { run_id } = JSON.parse(stdout.split('\n')[0]!)
    writeFileSync(project.path('killed-gate'), '')
    const resumed = project.start(['resume', run_id, '--wait'])
    await resumed.said('"action_required"')
    expect((await project.toolable(['answer', run_id, 'left'])).status).toBe(0)
    const ended = await resumed.ended
    expect(ended.status).toBe(0)
    // What was told before is not told again.
    expect(
      project
        .log(run_id)
        .filter(({ type, task_id }) => type === 'task_done' && task_id === 'first'),
    ).toHaveLength(1)
    expect(project.counted().filter((line) => line.startsWith('killed'))).toEqual([
      'killed-first',
      'killed-long',
    ])
  })

  test('cancels the workflow at the server, and its tool [9.restate-client]', async () => {
    const client = project.start(['workflow', 'run', flow('cancelled', 'never'), ...at()])
    await expect.poll(() => project.counted()).toContain('cancelled-long')
    await client.said('"task_started"')
    const { run_id } = project.log(
      project.ids().find((id) => project.request(id).tool === 'workflow.cancelled')!,
    )[0]!
    expect((await project.toolable(['cancel', run_id as string])).status).toBe(0)
    expect((await client.ended).status).toBe(130)
    expect((await project.toolable(['runs', 'show', run_id as string])).json.result).toMatchObject({
      state: 'cancelled',
    })
  })

  test('says that a server is not there, and leaves nothing on record [9.restate-unreachable]', async () => {
    const before = project.ids().length
    const ended = await project.toolable([
      'workflow',
      'run',
      flow('away'),
      '--engine',
      'restate',
      '--ingress',
      `http://127.0.0.1:${await freePort()}`,
    ])
    expect(ended.status).toBe(69)
    expect(ended.json.error).toMatchObject({
      code: 'DEPENDENCY',
      retryable: true,
      message: expect.stringContaining('cannot be reached at http://127.0.0.1'),
      suggestion: { fix: expect.stringContaining('--ingress') },
    })
    expect(project.ids()).toHaveLength(before)
  })
})

describe('toolable worker', () => {
  test('asks for the SDK by name [9.restate-packages]', async () => {
    const ended = await project.toolable(['worker'], { cwd: '/' })
    expect(ended.status).toBe(78)
    expect(ended.json.error).toMatchObject({
      code: 'CONFIG',
      suggestion: { fix: 'npm install @restatedev/restate-sdk@1.12.0' },
    })
  })

  test('waits for its server, and says so once [9.restate-workers]', async () => {
    const port = await freePort()
    const waiting = project.start([
      'worker',
      '--listen',
      '127.0.0.1:0',
      '--admin',
      `http://127.0.0.1:${port}`,
    ])
    await waiting.said('tried again', 'stderr')
    waiting.kill('SIGTERM')
    const { status, stderr } = await waiting.ended
    expect(status).toBe(0)
    expect(stderr.match(/tried again/g)).toHaveLength(1)
  })

  test('needs a token beyond loopback, and an address by which it is found [9.restate-guarded]', async () => {
    const refused = await project.toolable(['worker', '--listen', '0.0.0.0:0'])
    expect([refused.status, refused.json.error.field]).toEqual([78, 'token-file'])
    const lost = await project.toolable([
      'worker',
      '--listen',
      '0.0.0.0:0',
      '--token-file',
      secret(),
    ])
    expect([lost.status, lost.json.error.field]).toEqual([78, 'advertise'])
    expect((await project.toolable(['worker', '--listen', 'here'])).json.error).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'listen',
    })
  })

  test('lets nobody in without its token, and tells it to the server [9.restate-guarded]', async () => {
    const port = await freePort()
    const guarded = await startWorker(project, server.admin, port, ['--token-file', secret()])
    onTestFinished(() => guarded.kill())
    const { connect } = await import('node:http2')
    const session = connect(`http://127.0.0.1:${port}`)
    const status = await new Promise((resolve) =>
      session
        .request({ ':path': '/discover' })
        .on('response', (headers) => resolve(headers[':status']))
        .end(),
    )
    session.close()
    expect(status).toBe(401)
    expect(
      (
        await project.toolable([
          'workflow',
          'run',
          flow('guarded'),
          ...at(),
          '--answer',
          'pick=left',
        ])
      ).status,
    ).toBe(0)
  })
})

function secret(): string {
  const file = project.path('token.txt')
  writeFileSync(file, 'a-long-random-word', { mode: 0o600 })
  return file
}
