import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runInTerminal } from '../../support/run-in-terminal.ts'
import { COUNT, makeProject } from '../support.ts'
import type { Project } from '../support.ts'
import '../../support/without-coverage.ts'
import { TOOLABLE } from '../../support/toolable-program.ts'

const ECHO = {
  name: 'echo',
  input: {
    type: 'object',
    properties: { who: { type: 'string' }, times: { type: 'integer', default: 1 } },
    required: ['who'],
    additionalProperties: false,
  },
  steps: [{ name: 'say', tool: 'count', input: { name: '${{ input.who }}' } }],
  output: { who: '${{ steps.say.result.name }}', times: '${{ input.times }}' },
}

function makeEcho(): Project {
  const project = makeProject()
  project.write('workflows/echo.json', JSON.stringify(ECHO))
  return project
}

const resultOf = (lines: readonly any[]): any =>
  lines.findLast(({ type }) => type === 'result')?.result

describe('workflow run', () => {
  test('takes its input in every form, by file or by name [9.workflow-run-input] [9.workflow-run]', async () => {
    const project = makeEcho()
    project.write('in.json', '{"who": "file"}')
    const run = (...args: readonly string[]) => project.toolable(['workflow', 'run', ...args])
    const ended = await Promise.all([
      run('workflows/echo.json', 'who=007', 'times=3'),
      run('echo', '{"who": "json"}', 'times=2'),
      run('--input', '@in.json', 'echo'),
      project.toolable(['workflow', 'run', 'echo', '-'], { input: '{"who":"stdin"}' }),
    ])
    expect(ended.map(({ status, lines }) => [status, resultOf(lines)])).toEqual([
      [0, { who: '007', times: 3 }],
      [0, { who: 'json', times: 2 }],
      [0, { who: 'file', times: 1 }],
      [0, { who: 'stdin', times: 1 }],
    ])
    const { lines } = ended[0]
    expect(lines.map(({ type }) => type)).toEqual([
      'runner_start',
      'start',
      'progress',
      'log',
      'task_submitted',
      'task_started',
      'task_progress',
      'task_done',
      'log',
      'result',
      'runner_end',
    ])
    expect(lines[0]).toMatchObject({ tool: 'workflow.echo', input: { who: '007', times: 3 } })
    expect(lines[0]).not.toHaveProperty('timeout_s')
    expect(lines[2]).toMatchObject({ pct: 0, msg: 'step 1/1: say' })
  })

  test('takes a workflow in code that the configuration names, and the tool that it is then [9.definition-code]', async () => {
    const project = makeProject()
    project.write(
      'code/hello.mjs',
      `import { workflow } from ${JSON.stringify(new URL('../../../dist/index.js', import.meta.url).href)}
export default workflow({ name: 'greet', input: { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] } }, (w) => { w.tool('say', 'count', { name: w.input.who }) })\n`,
    )
    project.write('toolable.yaml', 'folders: [tools]\nworkflows: [./code/hello.mjs]\n')
    const [run, called] = await Promise.all([
      project.toolable(['workflow', 'run', 'greet', 'who=Ada']),
      project.toolable(['call', 'greet', '--who', 'Bob']),
    ])
    expect([run.status, resultOf(run.lines).name]).toEqual([0, 'Ada'])
    expect(called).toMatchObject({ status: 0, json: { result: { name: 'Bob' } } })
  })

  test('refuses what cannot work before anything begins [9.workflow-run-input]', async () => {
    const project = makeEcho()
    project.write(
      'bad.yaml',
      'name: bad\nsteps:\n  - name: one\n    tool: cuont\n  - name: two\n    tool: count\n    input: {name: x, nmae: y}\n',
    )
    const run = (...args: readonly string[]) => project.toolable(['workflow', 'run', ...args])
    const ended = await Promise.all([
      run('echo'),
      run('echo', 'who=a', 'times=many'),
      run('echo', 'who'),
      run('ecoh', 'who=a'),
      run('nowhere.yaml'),
      run('bad.yaml'),
      run('echo', 'who=a', '--id', 'mine'),
      run('echo', 'who=a', '--engine', 'paper'),
    ])
    expect(ended.map(({ status, json }) => [status, json.error.code])).toEqual([
      [2, 'INVALID_INPUT'],
      [2, 'INVALID_INPUT'],
      [2, 'USAGE'],
      [66, 'NOT_FOUND'],
      [66, 'INVALID_PATH'],
      [78, 'CONFIG'],
      [2, 'INVALID_INPUT'],
      [2, 'INVALID_INPUT'],
    ])
    expect(ended[0].json.error.message).toContain('who')
    expect(ended[3].json.error.message).toContain("did you mean 'echo'?")
    expect(ended[5].json.error.message).toMatch(/bad\.yaml:4: .*cuont.*did you mean 'count'/)
    expect(project.ids()).toEqual([])
  })

  test('in the background, under an id of the caller, once [9.workflow-run]', async () => {
    const project = makeEcho()
    const begun = await project.toolable([
      'workflow',
      'run',
      'echo',
      'who=a',
      '--detach',
      '--id',
      'r-00000000aa',
    ])
    expect(begun.json.result).toMatchObject({
      run_id: 'r-00000000aa',
      watch: 'toolable watch r-00000000aa',
    })
    expect((await project.toolable(['watch', 'r-00000000aa'])).status).toBe(0)
    expect(
      (await project.toolable(['workflow', 'run', 'echo', 'who=a', '--id', 'r-00000000aa'])).json
        .error.code,
    ).toBe('CONFLICT')
  })

  test('a person sees words with --progress plain, and answers in their midst [9.workflow-run]', async () => {
    const project = makeProject()
    project.write(
      'ask.yaml',
      'name: ask\nsteps:\n  - {name: go, type: ai_decision, decision_type: go, instruction: Go on?, options: [yes, no]}\n  - {name: say, when: "${{ steps.go.result == \'yes\' }}", tool: count, input: {name: said}}\n',
    )
    const seen = await runInTerminal(
      TOOLABLE,
      ['workflow', 'run', 'ask.yaml', '--progress', 'plain'],
      { cwd: project.folder, env: { NO_COLOR: '1' }, steps: [{ wait: '> ', send: 'no\r' }] },
    )
    expect(seen.status).toBe(0)
    expect(seen.screen.replaceAll('\r', '')).toMatch(
      /run {8}workflow\.ask · r-[0-9a-f]{10}\n.* 0% {9}go: step 1\/2: go\nGo on\?\n {2}1\) yes\n {2}2\) no\n> no\n.*say is skipped.*\n.*result {5}no\n.*completed {2}[\d.]+ s\n {10}details/,
    )
    const shown = await runInTerminal(TOOLABLE, ['workflow', 'show', 'latest'], {
      cwd: project.folder,
      env: { NO_COLOR: '1' },
    })
    expect(shown.screen).toMatch(
      /step {6}ok {10}go \(ai_decision, [\d.]+ s\)\r\n {2}step {6}skipped {5}say/,
    )
  })

  test('tries a step again as often as it says, whatever failed, and tells finally how it went [9.interpreter-retry] [9.interpreter-finally]', async () => {
    const project = makeProject()
    project.write('stop', 'E_UNKNOWN')
    const say = (name: string, fail = 'nothing'): object => ({
      name,
      tool: 'count',
      input: { name, log: project.path('counted'), fail: project.path(fail) },
    })
    project.write(
      'again.json',
      JSON.stringify({
        name: 'again',
        steps: [
          {
            ...say('slow'),
            input: { name: 'slow', log: project.path('counted'), gate: project.path('never') },
            timeout: '2s',
            retry: { max: 1, delay: '1ms' },
            on_error: 'continue',
          },
          { ...say('bad', 'stop'), retry: { max: 2, delay: '1ms' } },
        ],
        finally: [
          {
            ...say('notify'),
            when: "steps.bad.status == 'failed' && steps.bad.error.code == 'INTERNAL'",
          },
        ],
      }),
    )
    expect(
      (await project.toolable(['workflow', 'plan', 'again.json', '-o', 'text'])).stdout,
    ).toContain('tried again 2 times whatever failed, first after 0.001s')
    const ended = await project.toolable(['workflow', 'run', 'again.json'])
    expect([ended.status, ended.lines.at(-1)]).toMatchObject([
      1,
      { state: 'failed', code: 'E_UNKNOWN' },
    ])
    expect(project.counted()).toEqual(['slow', 'slow', 'bad', 'bad', 'bad', 'notify'])
  })

  test('is quiet with -q, and gives the result alone with --progress none [9.workflow-run] [10.progress-flag]', async () => {
    const project = makeEcho()
    const [quiet, alone] = await Promise.all([
      project.toolable(['workflow', 'run', 'echo', 'who=a', '-q', '-o', 'text']),
      project.toolable(['workflow', 'run', 'echo', 'who=a', '-o', 'text', '--progress', 'none']),
    ])
    expect(quiet.stdout).toMatch(
      /^[\d:]{8} {2}result {5}\{"who":"a","times":1\}\n[\d:]{8} {2}completed {2}[\d.]+ s\n$/,
    )
    expect(alone).toMatchObject({ status: 0, stdout: 'who    a\ntimes  1\n', stderr: '' })
  })

  test('has no deadline of its own, and ends by the one that it is given [9.workflow-no-deadline]', async () => {
    const project = makeProject()
    project.write(
      'slow.json',
      JSON.stringify({
        name: 'slow',
        steps: [
          {
            name: 'wait',
            command: `count --name a --log ${project.path('counted')} --gate ${project.path('never')}`,
          },
        ],
        finally: [
          { name: 'clean', command: `count --name clean --log ${project.path('counted')}` },
        ],
      }),
    )
    const end = await project.toolable(['workflow', 'run', 'slow.json', '--timeout', '2'], {
      env: { TOOL_TIMEOUT_S: '60' },
    })
    expect([end.status, end.lines.at(-1)]).toMatchObject([
      124,
      { state: 'failed', code: 'E_DEADLINE' },
    ])
    expect(project.counted()).toEqual(['a', 'clean'])
    project.write(
      'timed.json',
      JSON.stringify({ name: 'timed', timeout: 1, steps: [{ name: 'wait', wait: '1h' }] }),
    )
    const timed = await project.toolable(['workflow', 'run', 'timed.json'])
    expect([timed.status, timed.lines.at(-2)]).toMatchObject([
      124,
      { type: 'error', code: 'E_TIMEOUT' },
    ])
  })

  test('asks what its tools ask: who answers the workflow, or the run of the tool, is heard [9.step-questions]', async () => {
    const project = makeProject({ 'runner/asks.py': '', 'workflow/count.sh': COUNT })
    project.write('asks.yaml', 'name: asks\nsteps:\n  - {name: one, tool: asks}\n')
    const preset = await project.toolable([
      'workflow',
      'run',
      'asks.yaml',
      '--answer',
      'choose_strategy=left',
    ])
    expect([preset.status, resultOf(preset.lines)]).toMatchObject([
      0,
      { metrics: { answer: { value: 'left' } } },
    ])
    expect(
      preset.lines
        .filter(({ type }) => type === 'action_required' || type === 'task_action_required')
        .map(({ type, interaction }) => [type, interaction?.id]),
    ).toEqual([
      ['task_action_required', undefined],
      ['action_required', 'one.q1'],
    ])

    const waiting = project.start(['workflow', 'run', 'asks.yaml', '--wait'])
    await waiting.said('"one.q1"')
    const child = project
      .ids()
      .find(
        (id) => project.request(id).parent && project.log(id).at(-1)!.type === 'action_required',
      )!
    await project.toolable(['answer', child, 'right'])
    const end = await waiting.ended
    expect([end.status, resultOf(end.lines)]).toMatchObject([
      0,
      { metrics: { answer: { value: 'right' } } },
    ])
    expect(end.lines.filter(({ type }) => type === 'runner_log')).toMatchObject([
      { answer: { id: 'one.q1', withdrawn: true } },
    ])

    const nobody = await project.toolable(['workflow', 'run', 'asks.yaml'])
    const id = nobody.lines[0].run_id
    expect([nobody.status, nobody.lines.at(-1)]).toMatchObject([77, { code: 'E_ANSWER_REQUIRED' }])
    expect((await project.toolable(['answer', id, 'left'])).json.result).toMatchObject({
      question: 'one.q1',
      go_on: `toolable resume ${id}`,
    })
    const resumed = await project.toolable(['resume', id])
    expect([resumed.status, resultOf(resumed.lines)]).toMatchObject([
      0,
      { metrics: { answer: { value: 'left' } } },
    ])
  })

  test('gives the result alone with --progress none also when it goes on [10.progress-flag]', async () => {
    const project = makeProject()
    project.write(
      'asks.json',
      JSON.stringify({
        name: 'asks',
        steps: [{ name: 'go', type: 'ai_decision', decision_type: 'go', options: ['yes', 'no'] }],
      }),
    )
    expect(
      (await project.toolable(['workflow', 'run', 'asks.json', '--progress', 'none', '-o', 'text']))
        .status,
    ).toBe(77)
    expect(
      await project.toolable([
        'workflow',
        'resume',
        'latest',
        '--answer',
        'go=yes',
        '--progress',
        'none',
        '-o',
        'text',
      ]),
    ).toMatchObject({ status: 0, stdout: 'yes\n', stderr: '' })
  })

  test('says how it goes on only where it can: not when it came to its end [9.workflow-run]', async () => {
    const project = makeProject()
    project.write('stop', 'E_STOP')
    project.write(
      'asks.json',
      JSON.stringify({
        name: 'asks',
        steps: [
          { name: 'go', type: 'ai_decision', decision_type: 'go', options: ['yes'] },
          { name: 'say', command: `count --name a --fail ${project.path('stop')}` },
        ],
      }),
    )
    const show = async (id: string) => [
      (await project.toolable(['runs', 'show', id])).json.result.go_on,
      (await project.toolable(['runs', 'show', id, '-o', 'text'])).stdout.includes('go on'),
    ]
    const left = await project.toolable([
      'workflow',
      'run',
      'asks.json',
      '--id',
      'r-00000000ab',
      '-o',
      'text',
    ])
    expect([left.status, left.stdout]).toEqual([
      77,
      expect.stringContaining('go on      toolable resume r-00000000ab'),
    ])
    expect(await show('r-00000000ab')).toEqual(['toolable resume r-00000000ab', true])
    const failed = await project.toolable([
      'workflow',
      'resume',
      'r-00000000ab',
      '--answer',
      'go=yes',
      '-o',
      'text',
    ])
    expect([failed.status, failed.stdout]).toEqual([
      1,
      expect.stringContaining('details    toolable runs show r-00000000ab'),
    ])
    expect(failed.stdout).not.toContain('go on')
    expect(await show('r-00000000ab')).toEqual([undefined, false])
    expect((await project.toolable(['resume', 'r-00000000ab'])).json.error.code).toBe(
      'PRECONDITION',
    )
  })

  test('speaks to people in words wherever they ask for them [9.workflow-resume-all] [9.workflow-run]', async () => {
    const project = makeEcho()
    expect((await project.toolable(['workflow', 'resume', '-o', 'text'])).stdout).toBe(
      'no workflow was interrupted\n',
    )
    expect((await project.toolable(['workflow', 'resume'])).json.result).toEqual({ resumed: [] })
    const begun = await project.toolable([
      'workflow',
      'run',
      'echo',
      'who=a',
      '--detach',
      '--id',
      'r-00000000ac',
      '-o',
      'text',
    ])
    expect(begun.stdout).toBe(
      'r-00000000ac runs; toolable watch r-00000000ac shows it, toolable cancel r-00000000ac ends it\n',
    )
    expect((await project.toolable(['watch', 'r-00000000ac'])).status).toBe(0)
  })

  test('what its definition says at the start is what is executed, whatever the file says later [9.workflow-run]', async () => {
    const project = makeProject()
    const file = project.write(
      'flow.json',
      JSON.stringify({
        name: 'flow',
        steps: [
          { name: 'go', type: 'ai_decision', decision_type: 'go', options: ['yes'] },
          { name: 'say', tool: 'count', input: { name: 'old' } },
        ],
      }),
    )
    const {
      lines: [{ run_id: id }],
    } = await project.toolable(['workflow', 'run', 'flow.json'])
    writeFileSync(file, '{"name": "flow", "steps": []}')
    const resumed = await project.toolable(['resume', id, '--answer', 'go=yes'])
    expect(resultOf(resumed.lines)).toMatchObject({ name: 'old' })
    expect(project.request(id)).toMatchObject({
      command: 'workflow',
      workflow: {
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        file: join(project.folder, 'flow.json'),
      },
    })
    const journal = readFileSync(join(project.runs, id, 'journal.jsonl'), 'utf8')
    writeFileSync(join(project.runs, id, 'journal.jsonl'), journal.replace('"v":1', '"v":2'))
    const newer = await project.toolable(['workflow', 'show', id])
    expect(newer.json.error).toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining('newer version'),
    })
  })
})
