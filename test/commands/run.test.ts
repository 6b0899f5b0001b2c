import { describe, expect, test } from 'vitest'
import { makeProject } from '../runner/support.ts'
import { runInTerminal } from '../support/run-in-terminal.ts'
import '../support/without-coverage.ts'
import { TOOLABLE } from '../support/toolable-program.ts'

const HERE = 'permissions: {}\n'

describe('somebody who only asks about a tool', () => {
  test('hears what it prints, as from a plain program, with its exit status [7.run-asks]', async () => {
    const project = makeProject({
      'explains-itself.sh': `${HERE}inputs:\n  - {name: who, type: string, required: true}\n`,
      'is-plain.sh': `${HERE}health: {selftest: ["4"]}\n`,
    })
    const [help, work, test, bare] = await Promise.all([
      project.toolable(['run', 'explains_itself', '--help']),
      project.toolable(['run', 'explains_itself', '--who', 'me']),
      project.toolable(['run', 'is_plain', '4']),
      project.toolable(['run', '-o', 'text', 'explains_itself', '--version']),
    ])
    expect([help.status, help.lines.at(-1)]).toMatchObject([
      0,
      { type: 'runner_end', state: 'completed' },
    ])
    expect(help.lines.map(({ type }) => type)).not.toContain('diagnostic')
    expect([work.status, work.lines.at(-2)]).toMatchObject([
      1,
      {
        type: 'runner_error',
        msg: 'the tool ended without a result',
        hint: expect.stringContaining('result'),
      },
    ])
    expect([
      test.status,
      test.lines.filter(({ type }) => type === 'log').map(({ msg }) => msg),
    ]).toEqual([4, ['one', 'two']])
    expect(help.lines.filter(({ type }) => type === 'log').map(({ msg }) => msg)).toEqual([
      'Usage: explain [--who NAME]',
      '',
      'More words.',
    ])
    expect([bare.status, bare.stdout]).toEqual([5, '1.2.3\n'])
  })
})

describe('a person at a terminal', () => {
  test('sees aligned words with --progress plain, answers in their midst, and learns what was saved and how it goes on [7.run-words]', async () => {
    const project = makeProject({
      'asks.py': HERE,
      'makes-files.py': `${HERE}inputs:\n  - {name: input, type: path}\n  - {name: output, type: path}\n`,
      'is-plain.sh': `plain\n${HERE}`,
    })
    project.write('in.txt', 'text')
    const plain = { cwd: project.folder, env: { NO_COLOR: '1' } }
    const seen = await runInTerminal(TOOLABLE, ['run', '--progress', 'plain', 'asks'], {
      ...plain,
      steps: [{ wait: '> ', send: 'left\r' }],
    })
    expect(seen.status).toBe(0)
    expect(seen.screen.replaceAll('\r', '')).toMatch(
      /^\d\d:\d\d:\d\d {2}run {8}tools\.asks · r-[0-9a-f]{10} · L3\nWhich way\?\n {2}1\) left\n {2}2\) right\n> left\n[\d:]{8} {2}completed {2}[\d.]+ s\n {10}details {4}toolable runs show r-[0-9a-f]{10}\n$/,
    )
    const [preset, made, failed] = await Promise.all([
      runInTerminal(
        TOOLABLE,
        ['run', '--progress', 'plain', '--answer', 'choose_strategy=right', 'asks'],
        plain,
      ),
      runInTerminal(
        TOOLABLE,
        [
          'run',
          '--progress',
          'plain',
          '-q',
          'makes_files',
          '--input',
          'in.txt',
          '--output',
          'out.txt',
        ],
        plain,
      ),
      runInTerminal(TOOLABLE, ['run', '--progress', 'plain', 'is_plain', '3'], plain),
    ])
    expect(preset.screen).toMatch(
      /asks {7}Which way\? \(left \| right\)\r\n[\d:]{8} {2}answer {5}right \(the caller\)/,
    )
    expect(preset.screen).not.toContain('1) left')
    expect(made.screen).toMatch(
      /completed .*\r\n {10}saved {6}\.runs\/r-[0-9a-f]{10}\/artifacts\/extra\.txt \(5 bytes\)\r\n$/,
    )
    expect(made.screen).not.toContain('details')
    expect(failed.screen).toMatch(
      / {2}one\r\n.* {2}two\r\n.*stderr {5}careful\r\n.*error {6}E_UNKNOWN careful\r\n.*failed {5}E_UNKNOWN, exit 3, [\d.]+ s\r\n {10}details .*\r\n {10}go on {6}toolable resume r-[0-9a-f]{10}\r\n$/,
    )
    expect(failed.status).toBe(3)
  })
})

describe('what is given wrong', () => {
  test('is refused with what was meant [7.run-numbers]', async () => {
    const project = makeProject({
      'asks.py': `${HERE}inputs:\n  - {name: who, type: string, required: true}\n`,
    })
    const ended = await Promise.all(
      [
        ['run', '--retries', '99', 'asks'],
        ['run', '--heartbeat-grace', '0', 'asks'],
        ['runs', 'show', 'lates'],
        ['runs', 'logs', 'latest', '--type', 'eror'],
      ].map((args) => project.toolable(args)),
    )
    expect(
      ended.map(({ status, json }) => [status, json.error.code, json.error.suggestion.fix]),
    ).toMatchObject([
      [2, 'INVALID_INPUT', 'Use --retries 10'],
      [2, 'INVALID_INPUT', 'Use --heartbeat-grace 90'],
      [2, 'INVALID_INPUT', "Use 'latest'"],
      [2, 'INVALID_INPUT', expect.stringContaining('error')],
    ])
    const misspelt = await project.toolable(['run', 'asks', '--whoo', 'me'])
    expect([misspelt.status, misspelt.lines.at(-2)]).toMatchObject([
      2,
      {
        code: 'E_MISSING_PARAM',
        msg: 'who: is required and not given; --whoo is unknown, did you mean --who?',
        hint: 'Use --who',
      },
    ])
  })

  test('on stdin is told, and an answer is known by the action of its question too [7.answer-lines]', async () => {
    const project = makeProject({ 'asks.py': HERE })
    const running = project.start(['run', 'asks'], { input: 'open' })
    await running.said('action_required')
    running.write('yes\n{"id":"nobody","value":1}\n{"id":"choose_strategy","value":"right"}\n')
    const end = await running.ended
    expect(end).toMatchObject({ status: 0 })
    expect(end.stderr).toMatch(
      /this line on stdin is no answer: yes .*\nnobody asks 'nobody' now; open is 'q1'\n/,
    )
  })
})
