import { describe, expect, test } from 'vitest'
import { KEYS, runInTerminal } from '../support/run-in-terminal.ts'

const ESCAPES = /\u001b\[[0-9;?]*[A-Za-z]/g
const plain = (screen: string): string => screen.replace(ESCAPES, '')

describe('on a terminal', () => {
  test('text by itself, JSON in a pipe, pretty JSON on demand [5.output-order] [5.text-tables]', async () => {
    const [text, piped, json] = await Promise.all([
      runInTerminal('workbench.mjs', ['files', '--fields', 'path,size']),
      runInTerminal('workbench.mjs', ['files'], { pipes: ['stdout'] }),
      runInTerminal('workbench.mjs', ['files', '--json']),
    ])
    expect(plain(text.screen)).toMatch(/path +size\s+a\.ts +120/)
    expect(JSON.parse(piped.stdout)).toMatchObject({ ok: true })
    expect(piped.screen).toBe('')
    expect(json.screen).toContain('{\r\n  "ok": true,')
    expect(JSON.parse(json.screen)).toMatchObject({ ok: true })
    expect([text.status, piped.status, json.status]).toEqual([0, 0, 0])
  })

  test.each([{ CLAUDECODE: '1' }, { CI: 'true' }, { TOOLABLE_OUTPUT: 'json' }])(
    '%j means JSON even there [5.output-order]',
    async (env) => {
      const { screen, status } = await runInTerminal('workbench.mjs', ['scalar'], { env })
      expect([status, JSON.parse(screen)]).toMatchObject([0, { ok: true, result: 42 }])
    },
  )

  test('an agent gets compact help, a person the long one [5.help-program] [5.help-tool]', async () => {
    const [person, agent, personTool, agentTool] = await Promise.all([
      runInTerminal('workbench.mjs', ['--help']),
      runInTerminal('workbench.mjs', ['--help'], { env: { CLAUDECODE: '1' } }),
      runInTerminal('workbench.mjs', ['echo', '--help']),
      runInTerminal('workbench.mjs', ['echo', '--help'], { env: { CLAUDECODE: '1' } }),
    ])
    expect(agent.screen.length).toBeLessThan(person.screen.length)
    expect(agentTool.screen.length).toBeLessThan(personTool.screen.length)
    for (const { screen } of [agent, agentTool]) expect(screen).not.toContain('\u001b[')
    for (const { screen } of [person, agent]) expect(plain(screen)).toContain('search')
  })

  test('colours, and none with NO_COLOR, --no-color and TERM=dumb [5.colours]', async () => {
    const coloured = async (args: string[], env: { [name: string]: string } = {}) =>
      /\u001b\[\d+m/.test(
        (await runInTerminal('workbench.mjs', ['broken', '--code', 'E_X', ...args], { env }))
          .screen,
      )
    expect(
      await Promise.all([
        coloured([]),
        coloured([], { NO_COLOR: '1' }),
        coloured(['--no-color']),
        coloured([], { TERM: 'dumb' }),
      ]),
    ).toEqual([true, false, false, false])
  })

  test.each([40, 70])('tables stay within %i columns [5.text-tables]', async (columns) => {
    const [whole, noStderr] = await Promise.all([
      runInTerminal('workbench.mjs', ['table'], { columns }),
      runInTerminal('workbench.mjs', ['table'], { columns, pipes: ['stderr'] }),
    ])
    for (const { screen, status } of [whole, noStderr]) {
      expect(status).toBe(0)
      for (const line of plain(screen).split('\r\n'))
        expect([...line].length).toBeLessThanOrEqual(columns)
      expect(screen).toContain('short')
    }
  })

  test('control sequences of data are not obeyed [5.control-sequences]', async () => {
    const ended = await Promise.all(
      ['text', 'json', 'jsonl', 'yaml', 'md', 'csv'].map((mode) =>
        runInTerminal('workbench.mjs', ['hostile', '-o', mode]),
      ),
    )
    for (const { screen } of ended) {
      expect(screen).not.toMatch(/\u001b\]|\u0007|\u009b|\u001b\[31m/)
      expect(screen).toContain('red')
    }
  })

  test('live progress is drawn and leaves nothing behind [5.notifications]', async () => {
    const { screen, status } = await runInTerminal('takes-its-time.mjs', ['steps'])
    expect(status).toBe(0)
    expect(screen).toContain('\u001b[?25l')
    expect(plain(screen)).toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏].*step 2.*50%/)
    expect(screen.lastIndexOf('\u001b[?25h')).toBeGreaterThan(screen.lastIndexOf('\u001b[?25l'))
    const after = screen.slice(screen.lastIndexOf('\u001b[2K'))
    expect(plain(after)).toMatch(/nearly\s+done +true/)
    expect(plain(after)).not.toContain('step')
  })

  test('Ctrl-C ends the call, shows the cursor again and says so [5.signals] [5.notifications]', async () => {
    const { screen, status } = await runInTerminal('takes-its-time.mjs', ['wait', '--percent'], {
      steps: [{ wait: '50%', send: KEYS.interrupt }],
    })
    expect(status).toBe(130)
    expect(screen.lastIndexOf('\u001b[?25h')).toBeGreaterThan(screen.lastIndexOf('\u001b[?25l'))
    expect(plain(screen)).toContain('cancelled by SIGINT')
  })

  test('--quiet and a pipe as stderr draw nothing [5.quiet-verbose] [5.notifications]', async () => {
    const [quiet, piped] = await Promise.all([
      runInTerminal('takes-its-time.mjs', ['steps', '-q']),
      runInTerminal('takes-its-time.mjs', ['steps'], { pipes: ['stderr'] }),
    ])
    expect(quiet.screen).not.toContain('\u001b[?25l')
    expect(piped.screen + piped.stderr).not.toContain('\u001b[?25l')
    expect(piped.stderr).toContain('50% step 2\n')
  })

  test('a destructive call is asked about, and y, n and the end of input decide [4.destructive-needs-confirmation]', async () => {
    const answer = (send: string) =>
      runInTerminal('workbench.mjs', ['remove', 'x'], { steps: [{ wait: '[y/N]', send }] })
    const [yes, no, enter, again, end] = await Promise.all([
      answer('y\r'),
      answer('n\r'),
      answer('\r'),
      runInTerminal('workbench.mjs', ['remove', 'x'], {
        steps: [
          { wait: '[y/N]', send: 'perhaps\r' },
          { wait: '[y/N]', send: 'yes\r' },
        ],
      }),
      answer(KEYS.end),
    ])
    expect([yes.status, no.status, enter.status, again.status, end.status]).toEqual([
      0, 77, 77, 0, 77,
    ])
    expect(plain(yes.screen)).toMatch(/removed +x/)
    expect(plain(no.screen)).toContain(
      "'remove' was not run: its confirmation was declined (PERMISSION)",
    )
    expect(plain(no.screen)).not.toContain('--yes')
    expect(plain(end.screen)).toMatch(/CONFIRMATION_REQUIRED[^]*workbench remove x --yes/)
    expect(again.screen).toContain('Please answer y or n')
  })

  test('Enter takes the default, which is shown, and is no answer where there is none [3.context-ask-default-timeout]', async () => {
    const [defaults, none] = await Promise.all([
      runInTerminal('talks.mjs', ['ask', '--fallback', 'yes'], {
        steps: [
          { wait: 'Go on? [Y/n] ', send: '\r' },
          { wait: '2) To the right', send: '\r' },
          { wait: 'How many? (3) ', send: '\r' },
        ],
      }),
      runInTerminal('talks.mjs', ['ask', '--only', 'confirm'], {
        steps: [
          { wait: 'Go on? [y/n] ', send: '\r' },
          { wait: 'Please answer y or n', send: 'n\r' },
        ],
      }),
    ])
    expect([defaults.status, none.status]).toEqual([0, 0])
    expect(plain(defaults.screen)).toMatch(/confirm +true[^]*input +3/)
    expect(plain(none.screen)).toMatch(/confirm +false/)
  })

  test('nothing is asked of an agent, nor when stderr is a pipe [5.never-hang] [4.destructive-needs-confirmation]', async () => {
    const [agent, noStderr] = await Promise.all([
      runInTerminal('workbench.mjs', ['remove', 'x'], { env: { CLAUDECODE: '1' } }),
      runInTerminal('workbench.mjs', ['remove', 'x'], { pipes: ['stderr'] }),
    ])
    expect([agent.status, noStderr.status]).toEqual([77, 77])
    expect(noStderr.stderr).toContain('workbench remove x --yes')
  })

  test('a person answers questions of every kind, and wrong answers are asked again [3.context-ask]', async () => {
    const { screen, status } = await runInTerminal('talks.mjs', ['ask'], {
      steps: [
        { wait: 'Go on? [y/n] ', send: 'y\r' },
        { wait: '2) To the right', send: 'sideways\r' },
        { wait: 'number from 1 to 2', send: '2\r' },
        { wait: 'How many? ', send: '0\r' },
        { wait: 'How many? ', send: '4\r' },
      ],
    })
    expect(status).toBe(0)
    expect(plain(screen)).toMatch(/confirm +true\s+decision +right\s+input +4/)
  })

  test('a person talks in a session, and Ctrl-D ends it [3.run-generator-session] [12.eof-ends-session]', async () => {
    const [quit, end] = await Promise.all([
      runInTerminal('talks.mjs', ['chat'], {
        steps: [
          { wait: 'you> ', send: 'hello there\r' },
          { wait: 'more> ', send: 'quit\r' },
        ],
      }),
      runInTerminal('talks.mjs', ['chat'], {
        steps: [
          { wait: 'you> ', send: 'hello there\r' },
          { wait: 'more> ', send: KEYS.end },
        ],
      }),
    ])
    for (const { screen, status } of [quit, end]) {
      expect(status).toBe(0)
      expect(screen).toContain('Welcome')
      expect(plain(screen)).toMatch(/said\s+(- )?hello there/)
    }
  })

  test('a missing field is a failure, not a wait for keys [5.never-hang]', async () => {
    const { status, screen } = await runInTerminal('workbench.mjs', ['register'])
    expect(status).toBe(2)
    expect(plain(screen)).toContain('workbench register --name <text> --age <integer>')
  })
})
