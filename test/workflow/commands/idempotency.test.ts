import { rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { makeProject } from '../support.ts'
import '../../support/without-coverage.ts'

const resultOf = (lines: readonly any[]): any =>
  lines.findLast(({ type }) => type === 'result')?.result

describe('an idempotency key', () => {
  test('of workflow run is that of one execution: joined while it goes on, its record when it is done, CONFLICT for another input [9.run-once]', async () => {
    const project = makeProject()
    project.write(
      'workflows/once.json',
      JSON.stringify({
        name: 'once',
        input: { who: 'string' },
        steps: [
          {
            name: 'say',
            command: `count --name \${{ input.who }} --log ${project.path('counted')} --gate ${project.path('gate')}`,
          },
        ],
      }),
    )
    const args = (who: string, ...more: readonly string[]): readonly string[] => [
      'workflow',
      'run',
      'once',
      `who=${who}`,
      '--idempotency-key',
      'k1',
      ...more,
    ]
    const first = project.start(args('a'))
    await expect.poll(() => project.counted()).toEqual(['a'])
    const second = project.start(args('a'))
    await second.said('"task_started"')
    const other = await project.toolable(args('b'))
    expect([other.status, other.json.error.code, other.json.error.field]).toEqual([
      73,
      'CONFLICT',
      'idempotency-key',
    ])
    project.write('gate', '')
    const [one, two] = [await first.ended, await second.ended]
    expect([one.status, two.status, two.stdout]).toEqual([0, 0, one.stdout])
    expect(two.stderr).toBe(
      `answered from an earlier run with the same idempotency key: ${one.lines[0].run_id}\n`,
    )

    const [later, detached, both] = await Promise.all([
      project.toolable(args('a')),
      project.toolable(args('a', '--detach')),
      project.toolable(args('a', '--id', 'r-00000000aa')),
    ])
    expect([later.status, later.stdout]).toEqual([0, one.stdout])
    expect(detached.json).toMatchObject({
      result: { run_id: one.lines[0].run_id },
      meta: { warnings: [expect.stringContaining('earlier run')] },
    })
    expect(both.json.error.code).toBe('USAGE')
    expect(project.counted()).toEqual(['a'])
  })

  test('of a workflow that was left goes on with it; what failed for good is not remembered [9.run-once]', async () => {
    const project = makeProject()
    project.write('fail', 'E_STOP')
    const say = (name: string): object => ({
      name,
      tool: 'count',
      input: {
        name,
        log: project.path('counted'),
        fail: project.path(name === 'last' ? 'fail' : 'nothing'),
      },
    })
    project.write(
      'asks.json',
      JSON.stringify({
        name: 'asks',
        steps: [
          say('first'),
          { name: 'go', type: 'ai_decision', decision_type: 'go', options: ['yes', 'no'] },
          say('last'),
        ],
      }),
    )
    const run = (...more: readonly string[]) =>
      project.toolable(['workflow', 'run', 'asks.json', '--idempotency-key', 'k', ...more])
    const left = await run()
    expect(left.status).toBe(77)
    const failed = await run('--answer', 'go=yes')
    expect([failed.status, failed.lines[0].run_id, project.counted()]).toEqual([
      1,
      left.lines[0].run_id,
      ['first', 'last'],
    ])
    rmSync(project.path('fail'))
    const anew = await run('--answer', 'go=no')
    expect([anew.status, anew.lines[0].run_id === left.lines[0].run_id, project.counted()]).toEqual(
      [0, false, ['first', 'last', 'first', 'last']],
    )
    expect((await run('--answer', 'go=no')).stdout).toBe(anew.stdout)
    expect(project.counted()).toHaveLength(4)
  })

  test('of run is that of one run; an agent takes none [9.run-once]', async () => {
    const project = makeProject()
    const run = (key: string, name: string) =>
      project.toolable([
        'run',
        '--idempotency-key',
        key,
        'count',
        '--name',
        name,
        '--log',
        project.path('counted'),
      ])
    const first = await run('k', 'a')
    expect([first.status, resultOf(first.lines)]).toEqual([0, { name: 'a', key: 'k' }])
    const [again, other] = [await run('k', 'a'), await run('k', 'b')]
    expect([again.status, again.stdout, other.json.error.code]).toEqual([
      0,
      first.stdout,
      'CONFLICT',
    ])
    expect((await run('l', 'a')).status).toBe(0)
    expect(project.counted()).toEqual(['a', 'a'])
    const agent = await project.toolable([
      'agent',
      'Hello',
      '--model',
      'openai:x',
      '--idempotency-key',
      'k',
    ])
    expect([agent.status, agent.json.error.code]).toEqual([2, 'USAGE'])
  })
})
