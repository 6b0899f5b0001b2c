import { describe, expect, test } from 'vitest'
import { last, makeProject } from './support.ts'

const project = makeProject({
  'asks.py': '',
  'asks-and-goes-on.sh': '',
  'stops-in-the-middle.py': '',
  'fails-twice.py': '',
  'fails-for-good.py': '',
})

describe('questions', () => {
  test('an agent answers by a JSON line, and the run goes on [7.answer-lines]', async () => {
    const running = project.start(['run', 'asks'], { input: 'open' })
    await running.said('"interaction"')
    running.write('{"id":"q1","value":"left"}\n')
    const { status, stdout } = await running.ended
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(status).toBe(0)
    expect(events.find(({ type }) => type === 'action_required').interaction).toMatchObject({
      id: 'q1',
      kind: 'decision',
      prompt: 'Which way?',
      options: [{ value: 'left' }, { value: 'right' }],
    })
    expect(events.find(({ answer }) => answer)).toMatchObject({
      type: 'runner_log',
      answer: { id: 'q1', value: 'left', by: 'stdin' },
    })
    expect(events.find(({ type }) => type === 'result').metrics).toEqual({
      answer: { id: 'q1', value: 'left' },
    })
  })

  test('with nobody to answer the run fails, and names the command that goes on, which does [7.nobody]', async () => {
    const first = await project.toolable(['run', 'asks'], { input: '' })
    expect(first.status).toBe(77)
    const events = first.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const error = last(events, 'runner_error')!
    expect(error).toMatchObject({
      code: 'E_ANSWER_REQUIRED',
      hint: `toolable resume ${events[0].run_id} --answer choose_strategy=left`,
    })
    const second = await project.toolable(error['hint'].split(' ').slice(1))
    expect(second.status).toBe(0)
    const log = project.log(events[0].run_id)
    expect(last(log, 'runner_start')).toMatchObject({ attempt: 2, resumed_by: 'resume' })
    expect(last(log, 'runner_end')).toMatchObject({ attempt: 2, state: 'completed' })
  })

  test('a detached run waits, time stands still for it, and the first answer counts [7.waiting]', async () => {
    const { json } = await project.toolable(['run', '--detach', '--timeout', '20', 'asks'])
    const { run_id: id } = json.result
    await expect
      .poll(() => project.log(id).some(({ type }) => type === 'action_required'))
      .toBe(true)
    const shown = await project.toolable(['runs', 'show', id, '--json'])
    expect(shown.json.result).toMatchObject({ state: 'waiting_ai', questions: [{ id: 'q1' }] })
    const wrong = await project.toolable(['answer', id, 'up'])
    expect(wrong.status).toBe(2)
    expect(wrong.json.error).toMatchObject({ code: 'INVALID_INPUT' })
    expect((await project.toolable(['answer', id, 'right'])).status).toBe(0)
    expect((await project.toolable(['watch', id])).status).toBe(0)
    expect(last(project.log(id), 'result')!['metrics']).toEqual({
      answer: { id: 'q1', value: 'right' },
    })
    const late = await project.toolable(['answer', id, 'left'])
    expect(late.json.error.code).toBe('PRECONDITION')
  })

  test('a tool that asks and goes on is not held up [7.asks-and-goes-on]', async () => {
    const { status } = await project.toolable(['run', 'asks_and_goes_on'], { input: '' })
    expect(status).toBe(0)
  })
})

describe('another attempt', () => {
  test('resume goes on at the checkpoint, in the same workspace, under the same id [7.resume]', async () => {
    const first = await project.toolable(['run', 'stops_in_the_middle'])
    expect(first.status).toBe(30)
    const { run_id: id } = JSON.parse(first.stdout.split('\n')[0]!)
    const second = await project.toolable(['resume', id])
    expect(second.status).toBe(0)
    const log = project.log(id)
    expect(last(log, 'result')).toMatchObject({
      attempt: 2,
      metrics: { from: 4 },
      artifacts: [{ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }],
    })
    expect(
      log.filter(({ type }) => type === 'runner_end').map(({ state, attempt }) => [attempt, state]),
    ).toEqual([
      [1, 'failed'],
      [2, 'completed'],
    ])
    const third = await project.toolable(['resume', id])
    expect(third.status).toBe(1)
    expect(third.json.error).toMatchObject({ code: 'PRECONDITION' })
  })

  test('a failure that may pass is tried again, each attempt on record; others are not [7.retries]', async () => {
    const passing = await project.toolable(['run', 'fails_twice'])
    expect(passing.status).toBe(0)
    const events = passing.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(
      events
        .filter(({ type }) => type === 'runner_end')
        .map(({ attempt, state, retry_in_s }) => [attempt, state, retry_in_s !== undefined]),
    ).toEqual([
      [1, 'failed', true],
      [2, 'failed', true],
      [3, 'completed', false],
    ])
    expect(last(events, 'result')).toMatchObject({ metrics: { tries: 3 } })
    const lasting = await project.toolable(['run', 'fails_for_good'])
    expect(lasting.status).toBe(30)
    expect(lasting.stdout.match(/runner_start/g)).toHaveLength(1)
    const none = await project.toolable(['run', '--retries', '0', 'fails_twice'])
    expect(none.status).toBe(20)
  })
})
