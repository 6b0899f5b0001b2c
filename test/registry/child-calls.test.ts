import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { content } from '../../src/define/results.ts'
import type { ChildCall, WarmCaller } from '../../src/registry/child/child-call.ts'
import { toToolableCall } from '../../src/registry/probe/discovery.ts'
import { callChild, errorOf, foreign, hostEnv, resultOf } from '../support/call-child.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'child-calls-')))
afterAll(() => rmSync(folder, { recursive: true }))

type Got = {
  readonly argv: string[]
  readonly cwd: string
  readonly env: Record<string, string>
  readonly stdin: string
}
const tells: ChildCall = { form: 'json', command: ['python3', foreign('tells-what-it-got.py')] }
const fails: ChildCall = { form: 'json', command: ['perl', foreign('fails-as-told.pl')] }

describe('a child is given [6.call-environment]', () => {
  test('a small environment, what it requires by name, what its configuration gives, and nothing else', async () => {
    const canaries = Object.fromEntries(
      Array.from({ length: 50 }, (_entry, index) => [`SECRET_${index}`, `canary-${index}`]),
    )
    const env = {
      ...hostEnv,
      ...canaries,
      AWS_SECRET_ACCESS_KEY: 'canary',
      NODE_OPTIONS: '--no-warnings',
      LANG: 'C.UTF-8',
      WANTED: 'yes',
      OVERRIDDEN: 'host',
    }
    const got = resultOf<Got>(
      await callChild(
        {
          ...tells,
          requireEnv: ['WANTED', 'OVERRIDDEN'],
          env: { OVERRIDDEN: 'configuration', OWN: 'x' },
        },
        {},
        { options: { env, cwd: folder } },
      ),
    )
    expect(JSON.stringify(got)).not.toContain('canary')
    // LC_CTYPE is of Python itself; node hands its coverage to every child.
    const { LC_CTYPE: _locale, NODE_V8_COVERAGE: _coverage, ...seen } = got.env
    expect(seen).toEqual({
      ...hostEnv,
      LANG: 'C.UTF-8',
      PYTHONIOENCODING: 'utf-8',
      WANTED: 'yes',
      OVERRIDDEN: 'configuration',
      OWN: 'x',
    })
  })

  test('nothing at all where a variable that it requires is missing', async () => {
    const call: ChildCall = {
      form: 'json',
      command: ['touch', join(folder, 'started')],
      requireEnv: ['API_KEY', 'PATH', 'REGION'],
    }
    expect(errorOf(await callChild(call))).toMatchObject({
      code: 'CONFIG',
      message: 'the tool needs the variables API_KEY, REGION in the environment',
      suggestion: { fix: 'export API_KEY=… REGION=…' },
    })
    expect(errorOf(await callChild({ ...call, requireEnv: ['toString'] }))).toMatchObject({
      code: 'CONFIG',
    })
    expect(
      errorOf(await callChild({ form: 'json', command: ['ls', join(folder, 'started')] })),
    ).toMatchObject({ code: 'INVALID_INPUT' })
  })

  test("the caller's directory, or its own", async () => {
    expect(
      resultOf<Got>(await callChild(tells, {}, { options: { cwd: folder, env: hostEnv } })).cwd,
    ).toBe(folder)
    expect(
      resultOf<Got>(
        await callChild({ ...tells, cwd: '/' }, {}, { options: { cwd: folder, env: hostEnv } }),
      ).cwd,
    ).toBe('/')
    expect(errorOf(await callChild({ ...tells, cwd: join(folder, 'nowhere') }))).toMatchObject({
      code: 'INVALID_PATH',
    })
  })

  test('an end of stdin at once where it gets its input otherwise', async () => {
    expect(resultOf<Got>(await callChild(tells, { a: 1 })).stdin).toBe('')
    expect(resultOf<Got>(await callChild({ ...tells, form: 'stdin' }, { a: 1 }))).toMatchObject({
      argv: [],
      stdin: '{"a":1}\n',
    })
  })
})

describe('a toolable executable [6.child-forms]', () => {
  const ours = (tool: string, more: object = {}): ChildCall => ({
    ...toToolableCall(
      [process.execPath, foreign('made-with-toolable.mjs')],
      { name: tool, facts: {} },
      { serves: true, readsStdin: false },
    ),
    warm: false,
    ...more,
  })

  test('of ours gets its input by stdin, and its envelope arrives whole', async () => {
    const { outcome, events } = await callChild(ours('all'), { text: '--help' })
    expect(outcome).toMatchObject({
      ok: true,
      status: 'success',
      result: { text: '--help' },
      message: 'said',
      content: [content.text('shown')],
      meta: { tool: 'child', artifacts: [{ name: 'note', uri: 'file:///tmp/note' }] },
    })
    expect(events).toContainEqual({ type: 'progress', message: 'half', percent: 50 })
    expect(events.filter(({ type }) => type === 'artifact')).toHaveLength(1)
  })

  test('of ours keeps partial results with their counts, and failures with everything that they say', async () => {
    expect((await callChild(ours('some'))).outcome).toMatchObject({
      ok: true,
      status: 'partial',
      errors: [{ code: 'NOT_FOUND', message: 'c' }],
      summary: { total: 3, succeeded: 2, failed: 1 },
    })
    // Counted by the tool: no list in the result shows what worked.
    const counted = {
      status: 'partial',
      result: { sent: 5 },
      errors: [{ code: 'NOT_FOUND', message: 'x' }],
      summary: { total: 6, succeeded: 5, failed: 1, recoverable_failures: 1 },
    }
    expect((await callChild(fails, { stdout: JSON.stringify(counted) })).outcome).toMatchObject({
      ok: true,
      ...counted,
    })
    expect(errorOf(await callChild(ours('refuse')))).toMatchObject({
      code: 'E3101',
      category: 'state',
      message: 'no such thing',
      suggestion: { fix: 'try another' },
      field: 'id',
      details: { id: 7, exit_status: 1 },
    })
    expect(errorOf(await callChild(ours('all'), { text: 1 }))).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'text',
      details: { exit_status: 65 },
    })
  })

  test('of ours plans in a dry run, and is told of the consent that was given', async () => {
    const { outcome } = await callChild(
      ours('destroy', { destructive: true }),
      {},
      {
        facts: { dryRun: true, annotations: { destructive: true } },
        options: { dryRun: true, env: hostEnv },
      },
    )
    expect(outcome).toMatchObject({
      ok: true,
      result: { plan: [{ action: 'remove', target: 'all' }] },
      meta: { dry_run: true },
    })
    expect(
      resultOf(
        await callChild(
          ours('destroy', { destructive: true }),
          {},
          { facts: { annotations: { destructive: true } } },
        ),
      ),
    ).toBe('destroyed')
    expect(errorOf(await callChild(ours('destroy')))).toMatchObject({
      code: 'CONFIRMATION_REQUIRED',
    })
  })

  test('of the specification gets one JSON argument behind the name of the tool', async () => {
    expect(
      resultOf<Got>(await callChild({ ...tells, form: 'toolable', tool: 'find' }, { a: '-x' }))
        .argv,
    ).toEqual(['find', '{"a":"-x"}'])
  })

  test('of the specification is asked for its stream', async () => {
    const { outcome, events } = await callChild(
      toToolableCall(
        ['python3', foreign('streams.py')],
        { name: 'count', facts: { streaming: true } },
        { serves: false, readsStdin: false },
      ),
      { to: 2 },
    )
    expect(outcome).toMatchObject({ ok: true, result: { counted: 2 } })
    expect(events.slice(0, 3)).toEqual([
      { type: 'progress', message: '1 of 2' },
      { type: 'progress', message: '2 of 2' },
      { type: 'log', level: 'debug', message: 'a line that belongs on stderr' },
    ])
  })

  test('has to answer', async () => {
    expect(errorOf(await callChild({ form: 'toolable', command: ['true'] }))).toMatchObject({
      code: 'INTERNAL',
      message: 'the tool ended without an answer',
    })
  })

  test('is called warm where it can be kept so, and cold where it cannot', async () => {
    const seen: unknown[] = []
    const warm = (answers: boolean): WarmCaller => ({
      call: async (call, input) => {
        seen.push([call.tool, input])
        return answers
          ? {
              ok: true,
              status: 'success',
              result: 'warm',
              meta: { tool: 'x', duration_ms: 1, warnings: ['old'], next_cursor: 'p2' },
            }
          : undefined
      },
    })
    const { outcome } = await callChild(
      ours('all', { warm: true }),
      { text: 'x' },
      { services: { warm: warm(true) } },
    )
    expect(outcome).toMatchObject({
      ok: true,
      result: 'warm',
      meta: { warnings: ['old'], next_cursor: 'p2' },
    })
    expect(
      resultOf(
        await callChild(
          ours('all', { warm: true }),
          { text: 'x' },
          { services: { warm: warm(false) } },
        ),
      ),
    ).toEqual({ text: 'x' })
    expect(
      resultOf(await callChild(ours('all'), { text: 'y' }, { services: { warm: warm(true) } })),
    ).toEqual({ text: 'y' })
    expect(seen).toEqual([
      ['all', { text: 'x' }],
      ['all', { text: 'x' }],
    ])
  })

  test('hears of a dry run, and a script does by its own field only', async () => {
    const dry = { facts: { dryRun: true }, options: { dryRun: true, env: hostEnv } }
    expect(errorOf(await callChild(tells, {}, dry))).toMatchObject({ code: 'PRECONDITION' })
    expect(
      resultOf(
        await callChild(
          fails,
          { dry_run: true, stdout: '{"plan":[{"action":"send","target":"mail"}]}' },
          dry,
        ),
      ),
    ).toEqual({ plan: [{ action: 'send', target: 'mail' }] })
  })
})

describe('an ordinary program [6.child-forms]', () => {
  test('is called by what its help says, and its output is data', async () => {
    const grep: ChildCall = {
      form: 'program',
      command: ['grep'],
      program: {
        fields: [
          { field: 'pattern', takesValue: true },
          { field: 'files', takesValue: true, repeatable: true },
          { field: 'count', flag: '--count', takesValue: false },
        ],
      },
    }
    const file = foreign('parses-by-hand.sh')
    expect(
      resultOf(await callChild(grep, { pattern: '--name) name', files: [file], count: true })),
    ).toBe('1')
    expect(
      errorOf(await callChild(grep, { pattern: 'x', files: [join(folder, 'nowhere')] })),
    ).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('No such file or directory') as string,
      details: { exit_status: 2 },
    })
    const cat: ChildCall = {
      form: 'program',
      command: ['printf'],
      program: { fields: [{ field: 'text', takesValue: true }] },
    }
    expect(resultOf(await callChild(cat, { text: '{"error":"of a log"}' }))).toEqual({
      error: 'of a log',
    })
  })
})

describe('failures of real programs [6.child-failures]', () => {
  test('{"error":…} with exit code 0 is an error [12.error-document-with-exit-0]', async () => {
    expect(errorOf(await callChild(fails, { stdout: '{"error":"boom"}\n' }))).toMatchObject({
      message: 'boom',
      details: { exit_status: 0 },
    })
  })

  test('{"status":"active"} is a result', async () => {
    expect(resultOf(await callChild(fails, { stdout: '{"status":"active"}\n' }))).toEqual({
      status: 'active',
    })
  })

  test.each<[ChildCall['command'], object]>([
    [
      ['python3', foreign('crashes.py')],
      {
        code: 'INTERNAL',
        message: "KeyError: 'missing'",
        details: {
          exit_status: 1,
          stdout: 'working on it',
          stderr: expect.stringContaining('Traceback') as string,
        },
      },
    ],
    [
      ['python3', foreign('needs-a-missing-module.py')],
      {
        code: 'DEPENDENCY',
        retryable: false,
        suggestion: { fix: 'pip install no_such_module_of_ours' },
      },
    ],
    [
      [process.execPath, foreign('needs-a-missing-module.mjs')],
      { code: 'DEPENDENCY', suggestion: { fix: 'npm install no-such-module-of-ours' } },
    ],
    [
      ['perl', foreign('needs-a-missing-module.pl')],
      { code: 'DEPENDENCY', suggestion: { fix: 'cpan No::Such::Module' } },
    ],
    [
      ['bash', foreign('needs-a-missing-command.sh')],
      {
        code: 'DEPENDENCY',
        suggestion: { fix: 'Install no-such-command-of-ours, or add its folder to PATH' },
        details: { exit_status: 127 },
      },
    ],
    [
      ['no-such-program-of-ours'],
      { code: 'CONFIG', message: expect.stringContaining('no-such-program-of-ours') as string },
    ],
    [[foreign('tells-progress.txt')], { code: 'CONFIG' }],
    [
      ['sh', '-c', 'kill -KILL $$'],
      { code: 'DEPENDENCY', retryable: true, details: { signal: 'SIGKILL' } },
    ],
  ])('%j', async (command, expected) => {
    expect(errorOf(await callChild({ form: 'json', command }))).toMatchObject(expected)
  })
})

describe('what a child says beside its answer [6.child-side-channel]', () => {
  test('are progress, messages and artifacts where it says so, and debug messages otherwise', async () => {
    const { outcome, events } = await callChild({
      form: 'json',
      command: ['python3', foreign('tells-progress.py')],
    })
    expect(events).toEqual([
      { type: 'progress', message: 'half', percent: 50 },
      { type: 'log', level: 'warn', message: 'careful' },
      { type: 'artifact', name: 'report', uri: 'file:///tmp/report.txt' },
      { type: 'log', level: 'debug', message: 'plain words' },
    ])
    expect(outcome).toMatchObject({
      ok: true,
      result: { done: true },
      meta: { artifacts: [{ name: 'report' }] },
    })
  })

  test('never decides how a call ends', async () => {
    expect(
      resultOf(
        await callChild(fails, {
          stdout: '{"a":1}',
          stderr: '{"error":"not so bad"}\nTraceback (most recent call last):\n',
        }),
      ),
    ).toEqual({ a: 1 })
  })

  test('of notifications in a flood is told up to a limit, and never taken for words', async () => {
    const { outcome, events } = await callChild({
      form: 'json',
      command: [
        'perl',
        '-e',
        'print STDERR qq({"type":"notification","kind":"progress","message":"m"}\n) for 1..10050; exit 3',
      ],
    })
    expect(events).toHaveLength(10_000)
    expect(outcome).toMatchObject({
      ok: false,
      error: { message: 'the program ended with exit status 3 and said nothing' },
    })
  })

  test('is heard to the end, told up to a limit, and its tail kept', async () => {
    const { outcome, events } = await callChild({
      form: 'json',
      command: ['sh', '-c', 'seq 1 20000 >&2; echo the end >&2; exit 3'],
    })
    expect(events).toHaveLength(10_000)
    expect(events.at(-1)).toEqual({
      type: 'log',
      level: 'warn',
      message: 'the tool says more on stderr than is shown',
    })
    expect(outcome).toMatchObject({
      ok: false,
      error: {
        message: 'the end',
        details: { exit_status: 3, stderr: expect.stringMatching(/20000\nthe end$/) as string },
      },
    })
  })
})
