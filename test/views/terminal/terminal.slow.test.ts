import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { makeProject } from '../../workflow/support.ts'
import type { Project } from '../../workflow/support.ts'
import { fixture, runProgram } from '../../support/run-program.ts'
import { TOOLABLE_IN_MODULES } from '../../support/toolable-program.ts'
import { openWindow } from './tmux.ts'
import type { WindowOptions } from './tmux.ts'
import '../../support/without-coverage.ts'

const PART =
  'inputs:\n  - {name: script, type: string, required: true}\npermissions: {filesystem: {read: ["FOLDER/**"]}}\n'
const EVIL = 'red \u001b[31mred\u001b[0m \u001b[2J\u001b[H\u001b]0;title\u0007\u009b5A gone'

type Action = {
  readonly say?: object
  readonly stderr?: string
  readonly wait?: string
  readonly ask?: object
  readonly exit?: number
}
const say = (type: string, more: object = {}): Action => ({ say: { type, ...more } })
const RESULT = say('result', {
  status: 'ok',
  result: [
    { page: 'index', size: 12 },
    { page: 'about', size: 12_345 },
  ],
})

/** A project whose tool does what scripts say; a wait ends when the file of that name is there. */
function stage(scripts: { readonly [name: string]: readonly Action[] }): {
  readonly project: Project
  open(gate: string): void
  script(name: string): string
  window(args: readonly string[], options?: Partial<WindowOptions>): ReturnType<typeof openWindow>
} {
  const project = makeProject({ 'views/plays-a-part.py': PART })
  for (const [name, actions] of Object.entries(scripts))
    project.write(
      `${name}.json`,
      JSON.stringify([
        say('start'),
        ...actions.map((action) =>
          action.wait === undefined ? action : { ...action, wait: project.path(action.wait) },
        ),
      ]),
    )
  return {
    project,
    open: (gate) => writeFileSync(project.path(gate), ''),
    script: (name) => project.path(`${name}.json`),
    window: (args, options = {}) => openWindow(args, { cwd: project.folder, ...options }),
  }
}
/** Who performs the only run of a project. */
function pidOf(project: Project): number {
  return (
    JSON.parse(readFileSync(`${project.runs}/${project.ids()[0]}/lock`, 'utf8')) as {
      readonly pid: number
    }
  ).pid
}
const play = (script: string): readonly string[] => ['run', 'plays_a_part', '--script', script]

describe('a run on a terminal', () => {
  test('moves, says how it is, and ends with its result and what to do next [10.tree-live] [10.last-line] [10.progress-flag]', async () => {
    const { window, open, script } = stage({
      main: [
        say('log', { level: 'info', msg: 'hello' }),
        say('progress', { pct: 42, msg: 'page 3 of 7' }),
        { wait: 'go' },
        RESULT,
      ],
    })
    const seen = await window(play(script('main')))
    expect(
      await seen.until(/hello\n. tools\.plays_a_part page 3 of 7 +█+░+ 42% +\d+ s/),
    ).not.toContain('\u001b')
    expect(await seen.cursor()).toBe(false)
    await seen.until(/last heard \d+ s ago [█░]+ 42% +\d+ s/)
    await seen.keep('running')
    open('go')
    expect(await seen.ended()).toBe(0)
    const end = await seen.look(true)
    expect(end).toMatch(
      /hello\n✓ tools\.plays_a_part completed +[\d.]+ s\npage +size\nindex +12\nabout +12345\n✓ completed in [\d.]+ s · r-[0-9a-f]{10} · toolable runs show r-[0-9a-f]{10}\n\[exit 0\]/,
    )
    expect(await seen.cursor()).toBe(true)
    const color = await seen.lookInColor()
    expect(color).toMatch(/\u001b\[32m✓ completed/)
    await seen.keep('done')
  })

  test('that fails says what, why, and where its log is [10.tree-failure] [10.last-line]', async () => {
    const { window, script } = stage({
      main: [
        say('log', { level: 'info', msg: 'digging' }),
        { stderr: 'careful' },
        say('error', { code: 'E_MINE', msg: 'no ore', hint: 'Dig deeper' }),
        { exit: 30 },
      ],
    })
    const seen = await window(play(script('main')))
    expect(await seen.ended()).toBe(30)
    expect(await seen.look()).toMatch(
      /digging\ncareful\n✗ tools\.plays_a_part failed E_MINE +[\d.]+ s\nerror\[E_MINE\] no ore\n hint: Dig deeper\n {2}log: \.runs\/(r-[0-9a-f]{10})\/logs\/stderr\.log\n✗ failed after [\d.]+ s · exit 30 · \1 · toolable resume \1/,
    )
    await seen.keep('failed')
  })

  test('asks below the tree, and goes on in its place [10.tree-asks]', async () => {
    const { window, open, script } = stage({
      main: [
        say('log', { level: 'info', msg: 'before' }),
        {
          ask: {
            id: 'q1',
            prompt: 'Which way?',
            options: [
              { value: 'left', description: 'through the wood' },
              { value: 'right', description: 'along the river' },
            ],
          },
        },
        { wait: 'go' },
        RESULT,
      ],
    })
    const seen = await window(play(script('main')))
    const held = await seen.until(
      /before\n\? tools\.plays_a_part waiting +\d+ s\nWhich way\?\n {2}1\) left {3}through the wood\n {2}2\) right {2}along the river\n>/,
    )
    expect(held.match(/Which way/g)).toHaveLength(1)
    expect(await seen.cursor()).toBe(true)
    await seen.keep('waiting')
    await seen.type('sideways')
    await seen.press('Enter')
    await seen.until(/Please choose a number from 1 to 2\.\nWhich way\?\n/)
    await seen.type('2')
    await seen.press('Enter')
    expect(await seen.until(/got right\n. tools\.plays_a_part/)).toMatch(
      /before\n\? Which way\? right\ngot right\n\S tools\.plays_a_part .*\n\s*$/,
    )
    open('go')
    expect(await seen.ended()).toBe(0)
  })

  test('that nobody can answer names the exact command [10.last-line]', async () => {
    const { window, script } = stage({
      main: [{ ask: { id: 'q1', prompt: 'Which way?', options: ['left', 'right'] } }],
    })
    const seen = await window(play(script('main')), { shell: '< /dev/null', columns: 120 })
    expect(await seen.ended()).toBe(77)
    expect(await seen.look()).toMatch(
      /error\[E_ANSWER_REQUIRED\] nobody is there.*\n\? needs an answer after .* · toolable resume r-[0-9a-f]{10} --answer choose=left\n/,
    )
  })

  test('stays within 40 columns and 8 rows, whatever is said [10.tree-fits]', async () => {
    const { window, open, script } = stage({
      main: [
        say('progress', {
          pct: 7,
          msg: '日本語のとても長いメッセージがここに書かれている 🎉 and on and on',
        }),
        { wait: 'go' },
        RESULT,
      ],
    })
    const seen = await window(play(script('main')), { columns: 40, rows: 8 })
    expect(await seen.until(/tools\.plays_a_part .*… +7% +\d+ s\n/)).toMatch(
      /^\S tools[^\n]*\n\s*$/,
    )
    await seen.keep('narrow')
    open('go')
    expect(await seen.ended()).toBe(0)
  })

  test('goes on after the window was resized, without a rest of what was there [10.tree-resize]', async () => {
    const { window, open, script, project } = stage({
      main: [
        say('progress', { pct: 7, msg: 'a message of a certain length' }),
        { wait: 'go' },
        RESULT,
      ],
    })
    // What a terminal has moved to its history is out of reach, and comes back when the window
    // grows.
    const seen = await window(play(script('main')), { columns: 90, history: 0 })
    await seen.until(/a certain length +░+ +7%/)
    const pid = pidOf(project)
    for (const [columns, rows] of [
      [50, 20],
      [30, 6],
      [100, 30],
    ] as const) {
      // A frame that is on its way while the window changes meets another window than it was made
      // for.
      process.kill(pid, 'SIGSTOP')
      await seen.look()
      await seen.resize(columns, rows)
      process.kill(pid, 'SIGCONT')
      const wanted = new RegExp(`^\\S tools\\.pl.{${columns - 20},} \\d+ s$`, 'm')
      await expect
        .poll(async () =>
          (await seen.look())
            .split('\n')
            .filter((line) => line.includes('tools.'))
            .map((line) => wanted.test(line)),
        )
        .toEqual([true])
    }
    await seen.keep('resized')
    open('go')
    expect(await seen.ended()).toBe(0)
    expect((await seen.look()).match(/plays_a_part/g)).toHaveLength(1)
  })

  test('has no colours with NO_COLOR, and lines of words on TERM=dumb [10.tree-colours] [10.tree-ascii]', async () => {
    const { window, script } = stage({ main: [say('log', { level: 'warn', msg: 'hm' }), RESULT] })
    const [none, flag, forced, dumb, ascii] = await Promise.all([
      window(play(script('main')), { env: { NO_COLOR: '1' } }),
      window(['run', '--no-color', ...play(script('main')).slice(1)]),
      window(play(script('main')), { env: { FORCE_COLOR: '1' } }),
      window(play(script('main')), { env: { TERM: 'dumb' }, columns: 200 }),
      window(play(script('main')), { env: { LANG: 'C', LC_ALL: 'C' } }),
    ])
    for (const seen of [none, flag]) {
      await seen.ended()
      expect(await seen.lookInColor()).not.toContain('\u001b[')
      expect(await seen.look()).toContain('✓ completed')
    }
    await forced.ended()
    expect(await forced.lookInColor()).toContain('\u001b[')
    await dumb.ended()
    expect(await dumb.lookInColor()).not.toContain('\u001b[')
    expect(await dumb.look()).toMatch(
      /^\d\d:\d\d:\d\d {2}run {8}tools\.plays_a_part.*\n[\d:]{8} {2}warning {4}hm\n/,
    )
    await ascii.ended()
    expect(await ascii.look()).toMatch(
      /! warning hm\n\+ tools\.plays_a_part completed +[\d.]+ s\n[\s\S]*\+ completed in [\d.]+ s - r-/,
    )
    await none.keep('no-color')
    await dumb.keep('dumb')
    await ascii.keep('ascii')
  })

  test('is steered by nothing that a tool says [10.tree-clean]', async () => {
    const { window, open, script } = stage({
      main: [
        say('log', { level: 'info', msg: EVIL }),
        { stderr: EVIL },
        say('progress', { msg: EVIL, step: EVIL }),
        { wait: 'go' },
        say('error', { code: 'E_X', msg: EVIL, hint: EVIL }),
        { exit: 1 },
      ],
    })
    const seen = await window(play(script('main')))
    const screen = await seen.until(/^ {2}\S red red {2}gone red red {2}gone +\d+ s$/m)
    expect(screen.match(/red red {2}gone/g)!.length).toBeGreaterThanOrEqual(3)
    open('go')
    expect(await seen.ended()).toBe(1)
    expect(await seen.look()).toMatch(/error\[E_X\] red red/)
  })
})

describe('whoever ends a run at the terminal', () => {
  test('by Ctrl-C sees it cancelled, and the cursor again [10.tree-cursor]', async () => {
    const { window, script } = stage({
      main: [say('progress', { msg: 'working' }), { wait: 'never' }],
    })
    const seen = await window(play(script('main')))
    await seen.until('working')
    await expect.poll(() => seen.cursor()).toBe(false)
    await seen.press('C-c')
    expect(await seen.ended()).toBe(130)
    expect(await seen.cursor()).toBe(true)
    expect(await seen.look()).toMatch(
      /⊘ tools\.plays_a_part cancelled +[\d.]+ s\n⊘ cancelled after [\d.]+ s · r-[0-9a-f]{10} · toolable resume r-/,
    )
    await seen.keep('cancelled')
  })

  test.each(['SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)(
    'by %s, once or twice, leaves the cursor visible [10.tree-cursor]',
    async (signal) => {
      const { window, script, project } = stage({
        main: [say('progress', { msg: 'working' }), { wait: 'never' }],
      })
      const seen = await window(play(script('main')))
      await seen.until('working')
      await expect.poll(() => seen.cursor()).toBe(false)
      const pid = pidOf(project)
      process.kill(pid, signal)
      if (signal === 'SIGTERM') process.kill(pid, signal)
      await seen.ended()
      expect(await seen.cursor()).toBe(true)
    },
  )

  test('or stops it for a while finds it below what the shell wrote [10.tree-stop]', async () => {
    const { window, open, script, project } = stage({
      main: [say('progress', { msg: 'working' }), { wait: 'go' }, RESULT],
    })
    // A shell with jobs, which goes on with it by itself.
    project.write('jobs.sh', `set -m\n"$@"\necho stopped\nfg > /dev/null\n`)
    const seen = await window(play(script('main')), { before: `bash ${project.path('jobs.sh')}` })
    await seen.until('working')
    await expect.poll(() => seen.cursor()).toBe(false)
    await seen.press('C-z')
    await seen.until(/working.*\n(\^Z)?stopped\n\S tools\.plays_a_part working/)
    open('go')
    await seen.ended()
    expect(await seen.cursor()).toBe(true)
  })

  test('or stops it at a question finds the question again [10.tree-stop]', async () => {
    const { window, script, project } = stage({
      main: [{ ask: { id: 'q1', prompt: 'Which way?' } }, RESULT],
    })
    project.write('jobs.sh', `set -m\n"$@"\necho stopped\nfg > /dev/null\n`)
    const seen = await window(play(script('main')), { before: `bash ${project.path('jobs.sh')}` })
    await seen.until('Which way?')
    await seen.press('C-z')
    await seen.until(/Which way\? (\^Z)?\n?stopped\nWhich way\?/)
    await seen.type('left')
    await seen.press('Enter')
    expect(await seen.ended()).toBe(0)
    expect(await seen.look(true)).toContain('stopped\n')
  })
})

describe('a workflow on a terminal', () => {
  const steps = (script: (name: string) => string): string =>
    JSON.stringify({
      name: 'publish',
      steps: [
        { name: 'scan', tool: 'plays_a_part', input: { script: script('quick') } },
        {
          name: 'both',
          tasks: [
            { name: 'left', tool: 'plays_a_part', input: { script: script('slow') } },
            { name: 'right', tool: 'plays_a_part', input: { script: script('bad') } },
          ],
        },
      ],
    })
  const SCRIPTS = {
    quick: [RESULT],
    slow: [say('progress', { pct: 30, msg: 'still reading' }), { wait: 'go' }, RESULT],
    bad: [
      ...Array.from({ length: 30 }, (_, index) =>
        say('log', { level: 'info', msg: `line ${index}` }),
      ),
      { wait: 'fail' },
      say('error', { code: 'E_MINE', msg: 'no ore' }),
      { exit: 30 },
    ],
  }

  test('is a tree: what is done is folded, what runs at the same time stands below its parent, what failed is open [10.tree-steps] [10.tree-failure] [10.tree-live]', async () => {
    const { window, open, script, project } = stage(SCRIPTS)
    project.write('publish.json', steps(script))
    const seen = await window(['workflow', 'run', 'publish.json'], { rows: 40 })
    await seen.until(
      /\S workflow\.publish step 2\/2: both +█+░+ 50% +\d+ s\n {2}✓ scan done +[\d.]+ s\n {2}\S both +\d+ s\n {4}\S left still reading +█+░+ 30% +\d+ s\n {4}\S right +\d+ s\n/,
    )
    await seen.keep('workflow-running')
    open('fail')
    await seen.until(/✗ right failed/)
    expect(await seen.ended()).not.toBe(0)
    const end = await seen.look(true)
    expect(end).toMatch(
      /✗ workflow\.publish failed E_MINE[^]*✓ scan done[^]*✗ both failed[^]*⊘ left cancelled +[\d.]+ s\n {4}✗ right failed E_MINE no ore +[\d.]+ s\n {6}│ line 10\n[^]* {6}│ line 29\n {6}log: \.runs\/r-[0-9a-f]{10}\/events\.jsonl\n[^]*error\[E_MINE\] no ore\n/,
    )
    expect(end).not.toContain('│ line 9\n')
    await seen.keep('workflow-failed')
  })

  test('of two hundred steps fits into eight rows [10.tree-fits]', async () => {
    const { window, open, project } = stage({})
    project.write('toolable.yaml', `modules: [${fixture('views/waits-for-a-file.mjs')}]\n`)
    project.write(
      'many.json',
      JSON.stringify({
        name: 'many',
        steps: Array.from({ length: 200 }, (_, index) => ({
          name: `step-${index}`,
          tool: 'quick',
          input: index === 199 ? { gate: project.path('go') } : {},
        })),
      }),
    )
    const seen = await window(['workflow', 'run', 'many.json'], { rows: 8, columns: 60 })
    await seen.until(/\S workflow\.many step 200\/200[^]*… 19\d more \(19\d done\)[^]*\S step-199/)
    await seen.keep('two-hundred-steps')
    open('go')
    expect(await seen.ended()).toBe(0)
    expect(await seen.look(true)).toMatch(
      /✓ workflow\.many completed[^]*… 1\d\d more \(1\d\d done\)[^]*✓ step-199 done/,
    )
  })

  test('asks each question by itself, also where several are open [10.tree-asks]', async () => {
    const { window, project } = stage({})
    project.write(
      'ask.json',
      JSON.stringify({
        name: 'ask',
        steps: [
          {
            name: 'both',
            tasks: ['one', 'two'].map((name) => ({
              name,
              decision_type: name,
              instruction: `Question ${name}?`,
              options: ['yes', 'no'],
            })),
          },
        ],
        output: { one: '${{ steps.both.result }}' },
      }),
    )
    const seen = await window(['workflow', 'run', 'ask.json'])
    expect(await seen.until(/Question \w+\?\n {2}1\) yes\n {2}2\) no\n>/)).toMatch(
      /\? both[^]*\? one waiting[^]*\? two waiting|\? one waiting[^]*\? two waiting/,
    )
    expect((await seen.look()).match(/> *$/gm)).toHaveLength(1)
    await seen.type('yes')
    await seen.press('Enter')
    await seen.until(/\? Question one\? yes[^]*Question two\?\n {2}1\) yes/)
    await seen.type('no')
    await seen.press('Enter')
    expect(await seen.ended()).toBe(0)
    expect(await seen.look()).toMatch(
      /\? Question one\? yes\n\? Question two\? no\n✓ workflow\.ask completed/,
    )
  })

  test('that is resumed shows what was done before [10.tree-live]', async () => {
    const { window, open, script, project } = stage({ ...SCRIPTS, bad: [{ wait: 'go' }, RESULT] })
    project.write('publish.json', steps(script))
    const first = project.start(['workflow', 'run', 'publish.json'])
    await first.said('still reading')
    first.kill('SIGKILL')
    await first.ended
    const seen = await window(['workflow', 'resume', 'latest'])
    await seen.until(
      /\S workflow\.publish attempt 2 step 2\/2: both[^]* {2}✓ scan done +[\d.]+ s\n {2}\S both/,
    )
    open('go')
    expect(await seen.ended()).toBe(0)
  })
})

describe('runs that are watched', () => {
  test('are a tree each, and a question says how it is answered [10.tree-several] [10.tree-waits]', async () => {
    const { window, open, script, project } = stage({
      one: [say('progress', { pct: 10, msg: 'first' }), { wait: 'go' }, RESULT],
      two: [
        { ask: { id: 'q1', prompt: 'Which way?', options: ['left', 'right'] } },
        { wait: 'go' },
        RESULT,
      ],
    })
    const ids = await Promise.all(
      ['one', 'two'].map(
        async (name) =>
          (await project.toolable(['run', '--detach', ...play(script(name)).slice(1)])).json.result
            .run_id as string,
      ),
    )
    const seen = await window(['watch', ...ids], { columns: 100 })
    await seen.until(
      new RegExp(
        `\\S tools\\.plays_a_part ${ids[0]} first +█+░+ 10% +\\d+ s\\n\\? tools\\.plays_a_part ${ids[1]} waiting +\\d+ s\\n {2}\\? Which way\\? \\(left \\| right\\)\\n +toolable answer ${ids[1]} left\\n`,
      ),
    )
    await seen.keep('watching')
    await project.toolable(['answer', ids[1]!, 'left'])
    await seen.until(/got left/)
    open('go')
    expect(await seen.ended()).toBe(0)
    expect(await seen.look(true)).toMatch(
      new RegExp(
        `✓ tools\\.plays_a_part ${ids[0]} completed[^]*✓ tools\\.plays_a_part ${ids[1]} completed[^]*✓ completed in .* ${ids[1]}`,
      ),
    )
  })

  test('go on when nobody watches any more, who is told how to watch again [10.last-line]', async () => {
    const { window, open, script, project } = stage({
      one: [say('progress', { msg: 'first' }), { wait: 'go' }, RESULT],
    })
    const { json } = await project.toolable(['run', '--detach', ...play(script('one')).slice(1)])
    const seen = await window(['watch', 'latest'], { columns: 100 })
    await seen.until('first')
    await seen.press('C-c')
    expect(await seen.ended()).toBe(130)
    expect([await seen.cursor(), await seen.look()]).toEqual([
      true,
      expect.stringMatching(
        new RegExp(`running · ${json.result.run_id} · toolable watch ${json.result.run_id}\\n`),
      ),
    ])
    open('go')
    await project.toolable(['watch', 'latest'])
  })
})

describe('--progress', () => {
  test('draws beside a file, not beside a pipe that may be shown here, and never changes what stdout carries [10.progress-flag]', async () => {
    const { window, script, project } = stage({
      main: [say('progress', { pct: 5, msg: 'one' }), RESULT],
    })
    const out = project.path('out')
    const run = play(script('main'))
    const at = async (args: readonly string[], shell: string) => {
      const seen = await window(args, { shell })
      expect(await seen.ended()).toBe(0)
      return seen.look(true)
    }
    const types = (): readonly string[] =>
      readFileSync(out, 'utf8')
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { readonly type: string }).type)
    const all = ['runner_start', 'start', 'progress', 'result', 'runner_end']
    expect(await at(run, `> ${out}`)).toMatch(
      /^✓ tools\.plays_a_part completed +[\d.]+ s\n✓ completed in/,
    )
    expect(types()).toEqual(all)
    expect(await at(run, `| cat > ${out}`)).toMatch(/^\[exit 0\]/)
    expect(types()).toEqual(all)
    expect(await at(['run', '--progress', 'tty', ...run.slice(1)], `| cat > ${out}`)).toMatch(
      /^✓ tools\.plays_a_part completed/,
    )
    expect(types()).toEqual(all)
    expect(await at(['run', '--progress', 'none', ...run.slice(1)], '')).toMatch(
      /^page +size\nindex +12\nabout +12345\n\[exit 0\]/,
    )
    expect(await at(['run', '--progress', 'plain', ...run.slice(1)], '')).toMatch(
      /^[\d:]{8} {2}run {8}tools\.plays_a_part/,
    )
    expect(await at(['run', '-o', 'text', ...run.slice(1)], `> ${out}`)).toMatch(
      /^✓ tools\.plays_a_part completed/,
    )
    expect(readFileSync(out, 'utf8')).toMatch(/^[\d:]{8} {2}run {8}tools\.plays_a_part/)
    expect(await at(['run', '-o', 'json', ...run.slice(1)], '')).toMatch(/^\{"v":1/)
  })

  test('without a terminal is what it was: events on stdout, nothing beside, unless it is wished [10.progress-flag]', async () => {
    const { script, project } = stage({
      main: [say('progress', { pct: 5, msg: 'one' }), RESULT],
      bad: [say('error', { code: 'E_MINE', msg: 'no ore' }), { exit: 30 }],
    })
    const run = (progress: string | undefined, name = 'main', ...more: readonly string[]) =>
      project.toolable([
        'run',
        ...(progress === undefined ? [] : ['--progress', progress]),
        ...more,
        ...play(script(name)).slice(1),
      ])
    const [auto, plain, jsonl, none, text, words, tty, wrong, failed] = await Promise.all([
      run(undefined),
      run('plain'),
      run('jsonl'),
      run('none', 'main', '-o', 'text'),
      run('auto', 'main', '-o', 'text'),
      run('jsonl', 'main', '-o', 'text'),
      run('tty'),
      run('tyt'),
      run('none', 'bad', '-o', 'text'),
    ])
    const types = ['runner_start', 'start', 'progress', 'result', 'runner_end']
    expect([auto.stderr, auto.lines.map(({ type }) => type)]).toEqual(['', types])
    expect(plain.lines.map(({ type }) => type)).toEqual(types)
    expect(plain.stderr).toMatch(
      /^[\d:]{8} {2}run {8}tools\.plays_a_part.*\n[\d:]{8} {2}5% {9}one\n/,
    )
    expect(
      jsonl.stderr
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { readonly type: string }).type),
    ).toEqual(types)
    expect([none.stderr, none.stdout]).toEqual(['', expect.stringMatching(/^page +size\n/)])
    expect([text.stderr, text.stdout]).toEqual(['', expect.stringMatching(/^[\d:]{8} {2}run/)])
    expect(words.stdout).toMatch(/^page +size\n/)
    expect([tty.status, tty.json.error.code, tty.json.error.message]).toEqual([
      2,
      'USAGE',
      expect.stringContaining('terminal'),
    ])
    expect([wrong.status, wrong.json.error.message]).toEqual([
      2,
      expect.stringContaining("did you mean 'tty'"),
    ])
    expect([failed.status, failed.stdout, failed.stderr]).toEqual([
      30,
      '',
      expect.stringMatching(/^error\[E_MINE\] no ore\n {2}log: .*\n✗ failed after/),
    ])
    expect(existsSync(project.runs)).toBe(true)
    expect(project.ids()).toHaveLength(7)
  })
})

test('what draws is loaded only where something is drawn [10.tree-lazy]', async () => {
  const { script, project } = stage({ main: [RESULT] })
  const modules = async (...flags: readonly string[]): Promise<readonly string[]> => {
    const file = project.path('modules')
    const { status } = await runProgram(
      TOOLABLE_IN_MODULES,
      ['run', ...flags, ...play(script('main')).slice(1)],
      {
        cwd: project.folder,
        nodeArgs: ['--no-warnings', '--import', fixture('record-modules.mjs')],
        env: { MODULES_FILE: file },
      },
    )
    expect(status).toBe(0)
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((url) => /\/(terminal-views|live-tree|painter|process-screen)-[\w-]+\.js$/.test(url))
  }
  expect(await modules()).toEqual([])
  expect(await modules('-o', 'text')).toEqual([])
  expect(await modules('-o', 'text', '--progress', 'none')).not.toEqual([])
})

describe('lists on a terminal', () => {
  test('have the id first, figures at the right, and leave columns out before they cut one [10.tables]', async () => {
    const { window, script, project } = stage({
      main: [RESULT],
      bad: [say('error', { code: 'E_MINE', msg: 'no ore in this mountain' }), { exit: 30 }],
    })
    await project.toolable(play(script('main')))
    await project.toolable(play(script('bad')))
    const at = async (columns: number): Promise<string> => {
      const seen = await window(['runs', 'list'], { columns })
      await seen.ended()
      if (columns === 100) await seen.keep('runs-list')
      return seen.look()
    }
    const [wide, narrow] = await Promise.all([at(100), at(45)])
    expect(wide).toMatch(
      /^run +state +tool +started +duration +last\nr-[0-9a-f]{10} {2}failed +tools\.plays_a_part +(now|\S.* ago) +[\d.]+ s {2}E_MINE no ore in this mountain\nr-[0-9a-f]{10} {2}completed {2}tools\.plays_a_part +(now|\S.* ago) +[\d.]+ s {2}-\n/,
    )
    expect(narrow).toMatch(/^run +state +tool.*\nr-[0-9a-f]{10} {2}failed +tools/)
    for (const line of narrow.split('\n')) expect(line.length).toBeLessThanOrEqual(45)
  })
})
