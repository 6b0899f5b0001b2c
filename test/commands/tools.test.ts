import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { folderWith, project, toolable } from './support.ts'

describe('toolable list', () => {
  test('gives every tool with its origin as JSON [6.command-list]', async () => {
    const { status, json } = await toolable(['list'])
    expect(status).toBe(0)
    expect(json).toMatchObject({
      ok: true,
      result: { shadowed: 1 },
      meta: { tool: 'toolable.list' },
    })
    const { tools, problems } = json.result
    expect(tools.map(({ id }: { id: string }) => id).sort()).toEqual([
      'greetings.break_down',
      'greetings.count',
      'greetings.greet',
      'greetings.wipe_all',
    ])
    expect(tools.find(({ name }: { name: string }) => name === 'greet')).toEqual({
      id: 'greetings.greet',
      name: 'greet',
      summary: 'Greet somebody',
      source: 'greetings',
      kind: 'module',
      tier: 'local',
      location: join(project, 'greetings.mjs'),
      tags: ['polite'],
    })
    expect(problems).toMatchObject([{ source: 'others', reason: 'duplicate', severity: 'warning' }])
  })

  test('is a table for a person, which tells what is not shown and how to see it [6.command-list]', async () => {
    const { stdout } = await toolable(['list', '-o', 'text'])
    expect(stdout).toMatch(/^name +summary +source\n/)
    expect(stdout).toMatch(/^greet +Greet somebody +greetings$/m)
    expect(stdout).toContain('1 tool behind another of the same name: toolable list --all')
    expect(stdout).toContain('1 problem: toolable list --problems')
    const [all, problems] = await Promise.all([
      toolable(['list', '--all', '-o', 'text']),
      toolable(['list', '--problems', '-o', 'text']),
    ])
    expect(all.stdout).toMatch(
      /^others\.greet +Greet somebody else +others \(behind greetings\.greet\)$/m,
    )
    expect(problems.stdout).toMatch(
      /^warning: .*others\.mjs \(duplicate\)\n {2}.*greet.*\n {2}fix: \S/,
    )
  })

  test('[6.command-list] --source chooses among problems too, and a source that has nothing else is known', async () => {
    const cwd = folderWith({
      'toolable.yaml': 'folders: [good, bad]\n',
      'good/a.sh': '# toolable: {"name": "a"}\n',
      'bad/b.yaml': 'name: b\ncommand: bash\nentry: nowhere.sh\n',
    })
    const [good, bad, both, none] = await Promise.all(
      ['good', 'bad', '*', 'worse'].map((source) =>
        toolable(['list', '--source', source], { cwd }),
      ),
    )
    expect(good!.json.result).toMatchObject({ tools: [{ name: 'a' }], problems: [] })
    expect(bad!.json.result).toMatchObject({
      tools: [],
      problems: [{ source: 'bad', reason: 'missing' }],
    })
    expect(both!.json.result).toMatchObject({
      tools: [{ name: 'a' }],
      problems: [{ source: 'bad' }],
    })
    expect(none!).toMatchObject({
      status: 66,
      json: { error: { code: 'NOT_FOUND', details: { sources: ['good', 'bad'] } } },
    })
  })

  test('takes filters, and refuses one that nothing fits [6.command-list]', async () => {
    const [polite, wrong] = await Promise.all([
      toolable(['list', '--tag', 'polite']),
      toolable(['list', '--source', 'greting']),
    ])
    expect(polite.json.result.tools.map(({ name }: { name: string }) => name)).toEqual(['greet'])
    expect(wrong.status).toBe(66)
    expect(wrong.json.error).toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining("did you mean 'greetings'?"),
    })
  })
})

describe('toolable describe and schema', () => {
  test('show one tool, by name or id, - and _ being equal [6.command-describe]', async () => {
    const [byName, byId, text, schema] = await Promise.all([
      toolable(['describe', 'wipe-all']),
      toolable(['describe', 'others.greet']),
      toolable(['describe', 'greet', '-o', 'text']),
      toolable(['schema', 'greet']),
    ])
    expect(byName.json.result).toMatchObject({
      id: 'greetings.wipe_all',
      manifest: { name: 'wipe_all', annotations: { destructive: true } },
    })
    expect(byId.json.result).toMatchObject({ id: 'others.greet', shadowed_by: 'greetings.greet' })
    expect(text.stdout).toMatch(/^toolable call greet . Greet somebody\n/)
    expect(text.stdout).toMatch(/id: +greetings\.greet/)
    expect(schema.json).toMatchObject({ input: { type: 'object', required: ['name'] } })
  })

  test('describe nosuch fails [12.describe-nosuch-fails]', async () => {
    const [nothing, near] = await Promise.all([
      toolable(['describe', 'nosuch']),
      toolable(['describe', 'gret']),
    ])
    expect([nothing.status, near.status]).toEqual([66, 66])
    expect(nothing.json.error).toMatchObject({
      code: 'NOT_FOUND',
      suggestion: { fix: expect.stringContaining('toolable list') },
    })
    expect(near.json.error.message).toBe("there is no tool 'gret'; did you mean 'greet'?")
  })
})

describe('toolable call', () => {
  test('gives everything behind the name to the tool: flags, JSON, stdin [6.command-call]', async () => {
    const [flags, json, stdin, dashes] = await Promise.all([
      toolable(['call', 'greet', '--name', 'Ada', '--times', '2']),
      toolable(['call', 'others.greet', '{}']),
      toolable(['call', 'greet', '-'], { input: '{"name":"Zoé"}' }),
      toolable(['call', 'greet', '--name', '--config']),
    ])
    expect(flags.json).toMatchObject({
      ok: true,
      result: { text: 'Hello Ada Hello Ada', cwd: project },
      meta: { tool: 'greetings.greet' },
    })
    expect(json.json).toMatchObject({ result: 'Good day', meta: { tool: 'others.greet' } })
    expect(stdin.json.result.text).toBe('Hello Zoé')
    expect(dashes.json.result.text).toBe('Hello --config')
  })

  test('runs in the directory of the caller, wherever the configuration lies [6.command-call]', async () => {
    const { json } = await toolable(['call', 'greet', '--name', 'Ada'], {
      cwd: join(project, 'deeper'),
    })
    expect(json.result.cwd).toBe(join(project, 'deeper'))
  })

  test('has help, dry runs, consent, streams and output modes like any program [6.command-call]', async () => {
    const [help, dry, refused, confirmed, stream, text] = await Promise.all([
      toolable(['call', 'greet', '--help']),
      toolable(['call', 'wipe_all', '--dry-run']),
      toolable(['call', 'wipe_all']),
      toolable(['call', 'wipe-all', '--yes']),
      toolable(['call', 'count', '{"to":2}', '--stream']),
      toolable(['call', 'wipe_all', '--yes', '-o', 'text']),
    ])
    expect(help).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('toolable call greet --name <text> [options]'),
    })
    expect(dry.json).toMatchObject({ result: { dry_run: true }, meta: { dry_run: true } })
    expect(refused).toMatchObject({
      status: 77,
      json: {
        error: {
          code: 'CONFIRMATION_REQUIRED',
          suggestion: { example: 'toolable call wipe_all --yes' },
        },
      },
    })
    expect(confirmed.json.result).toBe('gone')
    expect(stream.lines.map(({ type }) => type)).toEqual(['progress', 'progress', 'result'])
    expect(text.stdout).toBe('gone\n')
  })

  test('refuses what is wrong with the code and the exit status of the tool [6.command-call]', async () => {
    const [unknown, flag, input, broken, nobody, failing] = await Promise.all([
      toolable(['call', 'gret', '{}']),
      toolable(['call', 'greet', '--nam', 'x']),
      toolable(['call', 'greet', '{"name":7}']),
      toolable(['call', 'greet', '{"name"']),
      toolable(['call']),
      toolable(['call', 'break-down']),
    ])
    expect(unknown).toMatchObject({
      status: 66,
      json: { error: { code: 'NOT_FOUND', message: expect.stringContaining("'greet'") } },
    })
    expect(flag).toMatchObject({
      status: 2,
      json: {
        error: {
          code: 'USAGE',
          message: expect.stringContaining('did you mean --name?'),
          suggestion: { example: 'toolable call greet --help' },
        },
        meta: { tool: 'greetings.greet' },
      },
    })
    expect(input).toMatchObject({
      status: 65,
      json: { error: { code: 'INVALID_INPUT', field: 'name' } },
    })
    expect(broken).toMatchObject({ status: 65, json: { error: { code: 'INVALID_INPUT' } } })
    expect(nobody).toMatchObject({
      status: 2,
      json: { error: { code: 'MISSING_PARAM', field: 'tool' } },
    })
    expect(failing).toMatchObject({
      status: 1,
      json: { error: { code: 'PRECONDITION', message: 'the engine is cold' } },
    })
  })
})

describe('the program itself', () => {
  test('says its version, helps, and knows what was meant [6.command-program]', async () => {
    const [version, help, wrong, rescan] = await Promise.all([
      toolable(['--version']),
      toolable(['--help']),
      toolable(['lst']),
      toolable(['rescan']),
    ])
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(help.stdout).toMatch(/^ {2}list +List the tools/m)
    expect(wrong).toMatchObject({
      status: 2,
      json: { error: { code: 'USAGE', message: "unknown command 'lst'; did you mean 'list'?" } },
    })
    expect(rescan.json.result).toMatchObject({
      tools: 5,
      problems: 1,
      sources: [{ name: 'greetings' }, { name: 'others' }],
    })
  })

  test('completes commands, names of tools and their flags [6.command-completion]', async () => {
    const complete = async (...words: string[]): Promise<string[]> =>
      (await toolable(['__complete', '--', ...words])).stdout
        .split('\n')
        .map((line) => line.split('\t')[0]!)
    const [commands, names, runnable, behind, ids, flags, own, script] = await Promise.all([
      complete('re'),
      complete('call', 'w'),
      complete('run', '--timeout', '5', 'w'),
      complete('run', 'greet', '--n'),
      complete('describe', 'others.'),
      complete('call', 'greet', '--n'),
      complete('call', '--con'),
      toolable(['completion', 'bash']),
    ])
    expect(commands).toEqual(['resume', 'rescan', 'read-help', ':none', ''])
    expect(names).toEqual(['wipe_all', ':none', ''])
    expect(runnable).toEqual(names)
    expect(behind).toEqual(expect.arrayContaining(['--name']))
    expect(ids).toEqual(['others.greet', ':none', ''])
    expect(flags).toEqual(expect.arrayContaining(['--name']))
    expect(own).toEqual(['--config', ':none', ''])
    expect(script.stdout).toContain('toolable')
  })
})

describe('toolable read-help', () => {
  test('prints what is understood of a program or of a text, bare [6.command-read-help]', async () => {
    const text =
      'usage: cut-it [--width N] FILE\n\nCut a file.\n\noptions:\n  -w, --width N  how wide\n'
    const [program, piped, missing, neither] = await Promise.all([
      toolable(['read-help', 'git', 'log']),
      toolable(['read-help', '--text', '-'], { input: text }),
      toolable(['read-help', 'no-such-program']),
      toolable(['read-help']),
    ])
    expect(
      program.json.options.some(({ long }: { long: readonly string[] }) =>
        long.includes('--source'),
      ),
    ).toBe(true)
    expect(piped.json).toMatchObject({
      usage: 'cut-it [--width N] FILE',
      options: [{ long: ['--width'], short: ['-w'], takesValue: true, description: 'how wide' }],
      positionals: [{ name: 'FILE' }],
    })
    expect(missing).toMatchObject({ status: 66, json: { error: { code: 'NOT_FOUND' } } })
    expect(neither).toMatchObject({ status: 2, json: { error: { code: 'USAGE' } } })
  })
})
