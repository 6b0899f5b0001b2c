import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../../src/protocol/run-state.ts'
import { getDisplayWidth } from '../../../src/cli/formats/text-layout.ts'
import { applyEvent } from '../../../src/views/model/run-model-events.ts'
import { createRunModel } from '../../../src/views/model/run-model.ts'
import type { RunModel } from '../../../src/views/model/run-model.ts'
import { renderClosing } from '../../../src/views/terminal/run-words.ts'
import { createTheme, supportsUnicode } from '../../../src/views/terminal/theme.ts'
import type { TreeOptions } from '../../../src/views/terminal/run-rows.ts'
import { renderScrolledLines, renderTrees } from '../../../src/views/terminal/live-tree.ts'

const START = Date.parse('2026-11-16T10:00:00Z')
const look = createTheme({ color: false, unicode: true })

/** A model of what happened, each event with the second in which it did. */
function modelOf(
  events: readonly (readonly [
    second: number,
    event: { readonly type: string; readonly [field: string]: unknown },
  ])[],
  workflow = false,
): RunModel {
  const model = createRunModel({
    run_id: 'r-0000000001',
    tool: workflow ? 'workflow.publish' : 'tools.import',
    created: new Date(START).toISOString(),
    workflow,
    heartbeat_grace_s: 10,
  })
  events.forEach(([second, event], index) =>
    applyEvent(model, {
      v: 1,
      ts: new Date(START + second * 1000).toISOString(),
      run_id: 'r-0000000001',
      seq: index + 1,
      attempt: 1,
      ...event,
    }),
  )
  return model
}

const begun = { type: 'runner_start', tool: 'tools.import', level: 'L3' }
const step = (name: string, state: string, more: object = {}) => ({
  type: 'log',
  level: 'debug',
  msg: `${name} ${state}`,
  step: name,
  step_state: state,
  ...more,
})

function draw(
  model: RunModel,
  {
    columns = 60,
    height = 20,
    second = 0,
    ...more
  }: Partial<TreeOptions> & {
    readonly columns?: number
    readonly height?: number
    readonly second?: number
  } = {},
): string[] {
  const options: TreeOptions = {
    look,
    now: START + second * 1000,
    tick: 0,
    answersHere: true,
    asking: false,
    named: false,
    tails: new Map(),
    ...more,
  }
  const lines = renderTrees([{ model, options }], { columns, height })
  for (const line of lines) expect(getDisplayWidth(line)).toBeLessThan(columns)
  expect(lines.length).toBeLessThanOrEqual(height)
  return [...lines]
}

describe('a run', () => {
  test('is a line with its last message and its time at the right; a bar is drawn only for a true percentage [10.tree-line]', () => {
    const told = modelOf([
      [0, begun],
      [1, { type: 'progress', pct: 42.9, msg: 'batch 3 of 7' }],
    ])
    expect(draw(told, { second: 2, columns: 80 })).toEqual([
      `⠋ tools.import batch 3 of 7${' '.repeat(31)}████░░░░░░ 42%    2 s`,
    ])
    const untold = modelOf([
      [0, begun],
      [1, { type: 'progress', msg: 'reading' }],
    ])
    expect(draw(untold, { second: 2 })).toEqual([`⠋ tools.import reading${' '.repeat(34)}2 s`])
    expect(draw(untold, { second: 75, columns: 80 })[0]).toMatch(
      /last heard 1 m 14 s ago 1 m 15 s$/,
    )
  })

  test('that is silent says so after two seconds, and a warning at half of what it may [10.tree-silence]', () => {
    const model = modelOf([
      [0, begun],
      [0, { type: 'start' }],
      [1, { type: 'heartbeat' }],
    ])
    const painted: string[] = []
    const seen = (second: number): string =>
      draw(model, {
        second,
        look: { ...look, paint: (role, text) => (painted.push(`${role}:${text}`), text) },
      })[0]!
    expect(seen(2.9)).not.toContain('heard')
    expect(seen(3.1)).toContain('last heard 2 s ago')
    expect(painted).toContain('dim:last heard 2 s ago')
    seen(6.5)
    expect(painted).toContain('warn:last heard 5 s ago')
  })

  test('waits with its question, and says how it is answered where nobody here can [10.tree-waits]', () => {
    const model = modelOf([
      [0, begun],
      [
        1,
        {
          type: 'action_required',
          interaction: {
            id: 'q1',
            kind: 'decision',
            prompt: 'Which way?',
            options: [{ value: 'left' }, { value: 'to the right' }],
          },
        },
      ],
    ])
    expect(draw(model, { second: 9 })).toEqual([
      expect.stringMatching(/^\? tools\.import waiting +9 s$/),
      '  ? Which way? (left | to the right)',
    ])
    expect(draw(model, { answersHere: false }).at(-1)).toBe(
      '     toolable answer r-0000000001 left',
    )
    expect(draw(model, { asking: true })).toHaveLength(1)
  })

  test('ends with what to do next, the most important last [10.last-line]', () => {
    const closing = { look, files: [], quiet: false }
    const done = modelOf([
      [0, begun],
      [12.4, { type: 'result', status: 'ok', result: 1, artifacts: [{}, {}] }],
      [12.4, { type: 'runner_end', state: 'completed', rc: 0 }],
    ])
    expect(
      renderClosing(done, {
        ...closing,
        files: [{ path: '.runs/r-0000000001/artifacts/a.txt', bytes: 2112 }],
      }),
    ).toEqual([
      'saved: .runs/r-0000000001/artifacts/a.txt (2.1 kB)',
      '✓ completed in 12.4 s · r-0000000001 · 2 artifacts · toolable runs show r-0000000001',
    ])
    expect(renderClosing(done, { ...closing, quiet: true })).toEqual([])
    const failed = modelOf([
      [0, begun],
      [3, { type: 'error', code: 'E_MINE', msg: 'no ore', hint: 'Dig deeper' }],
      [3, { type: 'runner_end', state: 'failed', rc: 30, code: 'E_MINE' }],
    ])
    expect(
      renderClosing(failed, {
        ...closing,
        log: 'logs/stderr.log',
        goOn: 'toolable resume r-0000000001',
      }),
    ).toEqual([
      'error[E_MINE] no ore',
      ' hint: Dig deeper',
      '  log: logs/stderr.log',
      '✗ failed after 3 s · exit 30 · r-0000000001 · toolable resume r-0000000001',
    ])
    expect(renderClosing(modelOf([[0, begun]]), closing)).toEqual([
      '⠋ running · r-0000000001 · toolable watch r-0000000001',
    ])
  })
})

describe('steps', () => {
  const events = [
    [0, begun],
    [0, step('scan', 'running')],
    [1, step('scan', 'ok')],
    [1, step('both', 'running')],
    [1, step('both/left', 'running')],
    [1, step('both/right', 'running')],
    [
      2,
      {
        type: 'task_progress',
        task_id: 'both/left',
        child_event: { type: 'progress', pct: 50, msg: 'half of it' },
      },
    ],
  ] as const

  test('are indented under their parents, and one line when they are done [10.tree-steps]', () => {
    const model = modelOf(events, true)
    expect(
      draw(model, { second: 3 }).map((line) => line.replace(/ {2,}(?=\S+ s$| *\d+%)/, ' | ')),
    ).toEqual([
      '⠋ workflow.publish | 3 s',
      '  ✓ scan done | 1 s',
      '  ⠋ both | 2 s',
      '    ⠋ left half of it | 50%    2 s',
      '    ⠋ right | 2 s',
    ])
    const ended = modelOf(
      [
        ...events,
        [4, step('both/left', 'ok')],
        [4, step('both/right', 'ok')],
        [4, step('both', 'ok')],
      ],
      true,
    )
    expect(draw(ended, { second: 4 }).map((line) => line.trim().split(' ')[1])).toEqual([
      'workflow.publish',
      'scan',
      'both',
    ])
  })

  test('that failed stay open, with the end of the log and where the whole of it is [10.tree-failure]', () => {
    const model = modelOf(
      [
        ...events,
        [4, step('both/left', 'failed', { level: 'warn', msg: 'both/left failed: E_MINE no ore' })],
        [
          4,
          {
            type: 'task_done',
            task_id: 'both/right',
            status: 'failed',
            child_result: { status: 'error', error: { code: 'CANCELLED' } },
          },
        ],
        [4, { type: 'error', code: 'E_MINE', msg: 'no ore' }],
        [4, { type: 'runner_end', state: 'failed', rc: 1, code: 'E_MINE' }],
      ],
      true,
    )
    const tails = new Map([
      [
        'both/left',
        {
          lines: ['one', 'two'],
          path: '.runs/r-0000000002/logs/a/very/long/path/to/the/file/stderr.log',
        },
      ],
    ])
    const lines = draw(model, { second: 4, tails })
    expect(lines.map((line) => line.replace(/ +[\d.]+ s$/, ''))).toEqual([
      '✗ workflow.publish failed E_MINE',
      '  ✓ scan done',
      '  ✗ both failed',
      '    ✗ left failed E_MINE no ore',
      '      │ one',
      '      │ two',
      expect.stringMatching(/^ {6}log: \.runs\/.*….*stderr\.log$/),
      '    ⊘ right cancelled',
    ])
  })

  test('of which one asks say so in their place [10.tree-waits]', () => {
    const model = modelOf(
      [
        ...events,
        [
          2,
          {
            type: 'action_required',
            interaction: { id: 'both.left.q1', kind: 'confirm', prompt: 'Sure?' },
          },
        ],
      ],
      true,
    )
    expect(
      draw(model, { second: 3 })
        .slice(3, 5)
        .map((line) => line.replace(/ +\d s$/, '')),
    ).toEqual(['    ? left waiting', '      ? Sure? (yes | no)'])
  })

  test('that do not fit into the window are folded in the middle, those of less worth first [10.tree-fits]', () => {
    const many = Array.from(
      { length: 200 },
      (_, index) =>
        [
          [index, step(`step-${index}`, 'running')],
          [index + 1, step(`step-${index}`, 'ok')],
        ] as const,
    ).flat()
    const model = modelOf(
      [
        [0, begun],
        ...many,
        [200, step('broken', 'failed', { msg: 'broken failed: E_MINE' })],
        [200, step('now', 'running')],
      ],
      true,
    )
    expect(
      draw(model, { second: 201, height: 7 }).map((line) => line.replace(/ {2,}\S+ s$/, '')),
    ).toEqual(
      [
        '⠋ workflow.publish  3 m 21 s',
        '  … 197 more (197 done)',
        '  ✓ step-197 done',
        '  ✓ step-198 done',
        '  ✓ step-199 done',
        '  ✗ broken failed E_MINE',
        '  ⠋ now',
      ].map((line) => expect.stringContaining(line.trim().split('  ')[0]!)),
    )
    for (const height of [1, 2, 3, 5]) draw(model, { height })
    expect(draw(model, { height: 3 }).join('\n')).toMatch(/workflow\.publish[\s\S]*broken/)
  })

  test.each([5, 12, 24, 40, 61, 95])(
    'and their words are cut to %i columns by the width that they are shown with [10.tree-fits]',
    (columns) => {
      const model = modelOf(
        [
          ...events,
          [
            2,
            {
              type: 'task_progress',
              task_id: 'both/right',
              child_event: {
                type: 'progress',
                pct: 7,
                msg: '日本語のとても長いメッセージ 🎉🎉🎉 e\u0301e\u0301e\u0301 and on and on and on and on and on',
              },
            },
          ],
        ],
        true,
      )
      draw(model, { columns, second: 90 })
      draw(model, {
        columns,
        second: 90,
        look: createTheme({ color: false, unicode: false }),
      }).forEach((line) => expect(line).toMatch(/^[\x20-\x7e]*$/))
    },
  )
})

describe('text of tools', () => {
  test('steers no terminal, in the tree and above it [10.tree-clean]', () => {
    const evil = 'a\u001b[2J\u001b]0;title\u0007b\u009b1Ac\r\u001b[31md\u202e'
    const model = modelOf([
      [0, begun],
      [1, { type: 'progress', msg: evil, step: evil }],
      [1, { type: 'action_required', interaction: { id: 'q1', kind: 'input', prompt: evil } }],
    ])
    const lines = [
      ...draw(model),
      ...draw(model, { tails: new Map([['', { lines: [evil], path: evil }]]) }),
      ...renderClosing(model, { look, files: [{ path: evil }], quiet: false }),
    ]
    const events = [
      { type: 'log', level: 'info', msg: evil },
      { type: 'diagnostic', reason: 'stderr', line: evil },
      { type: 'item', value: evil },
      { type: 'runner_warning', msg: evil },
    ].map(
      (event) => ({ ts: '', seq: 1, attempt: 1, run_id: evil, ...event }) as unknown as RunEvent,
    )
    lines.push(
      ...events.flatMap((event) =>
        renderScrolledLines(event, model, {
          look,
          named: false,
          quiet: false,
          verbose: false,
          person: 'a person',
        }),
      ),
    )
    expect(lines.length).toBeGreaterThan(8)
    for (const line of lines) expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/)
  })

  test('scrolls by above the tree: what it says, and what went wrong on the way [10.tree-log]', () => {
    const model = modelOf([
      [0, begun],
      [1, { type: 'error', code: 'E_NET', msg: 'away' }],
    ])
    const lines = (event: object, more: object = {}): readonly string[] =>
      renderScrolledLines(
        { ts: '', seq: 1, attempt: 1, run_id: 'r-0000000001', ...event } as RunEvent,
        model,
        { look, named: false, quiet: false, verbose: false, person: 'a person', ...more },
      )
    expect(lines({ type: 'log', level: 'info', msg: 'one\ntwo\n' })).toEqual(['one', 'two'])
    expect(lines({ type: 'log', level: 'warn', msg: 'hm' })).toEqual(['! warning hm'])
    expect(lines({ type: 'log', level: 'error', msg: 'oh' }, { named: true })).toEqual([
      'r-0000000001 ✗ error oh',
    ])
    expect(lines({ type: 'log', level: 'debug', msg: 'x' })).toEqual([])
    expect(lines({ type: 'log', level: 'debug', msg: 'x' }, { verbose: true })).toEqual(['x'])
    expect(lines({ type: 'log', level: 'info', msg: 'x' }, { quiet: true })).toEqual([])
    expect(lines({ type: 'diagnostic', reason: 'not_json', msg: 'no JSON', line: 'x' })).toEqual([
      '! ignored no JSON: x',
    ])
    expect(lines({ type: 'runner_end', state: 'failed', retry_in_s: 2 })).toEqual([
      '! warning attempt 1 failed: E_NET away; the next one comes in 2 s',
    ])
    for (const type of ['progress', 'heartbeat', 'result', 'task_progress', 'runner_start'])
      expect(lines({ type, msg: 'x' })).toEqual([])
  })
})

test('characters beyond ASCII are drawn unless the environment says that there are none [10.tree-ascii]', () => {
  expect(
    [
      {},
      { LANG: 'de_DE.UTF-8' },
      { LANG: 'C' },
      { LANG: 'en_US.utf8', LC_ALL: 'POSIX' },
      { TERM: 'dumb' },
      { LC_CTYPE: 'C.UTF-8', LANG: 'C' },
    ].map(supportsUnicode),
  ).toEqual([true, true, false, false, false, true])
  const ascii = createTheme({ color: false, unicode: false })
  const model = modelOf(
    [
      [0, begun],
      [0, step('scan', 'running')],
      [1, step('scan', 'ok')],
      [1, step('bad', 'failed', { msg: 'bad failed' })],
    ],
    true,
  )
  expect(draw(model, { look: ascii, second: 1 }).map((line) => line.trim().slice(0, 8))).toEqual([
    '| workfl',
    '+ scan d',
    'x bad fa',
  ])
})
