import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeFolder, runProgram } from '../support/run-program.ts'

const run = (...args: string[]) => runProgram('workbench.mjs', args)

describe.concurrent('documents about a program', () => {
  test('--discover, --tools, --resources and --prompts print bare lists [5.discover] [5.tools-resources-prompts]', async () => {
    const [discover, tools, resources, prompts] = await Promise.all([
      run('--discover'),
      run('--tools'),
      run('--resources'),
      run('--prompts'),
    ])
    expect(Object.keys(discover.json)).toEqual([
      'name',
      'version',
      'tools',
      'resources',
      'prompts',
      'serve',
    ])
    expect(discover.json).toMatchObject({ name: 'workbench', version: '1.2.3' })
    expect(discover.json.tools).toContainEqual({
      name: 'pr_list',
      summary: 'List pull requests',
      streaming: false,
      session_mode: false,
    })
    expect(discover.json.resources[0]).toEqual({
      uri_pattern: '/files/{id}.json',
      summary: 'One file',
      mime_types: ['application/json'],
      tags: [],
    })
    expect(discover.json.prompts[0]).toEqual({
      name: 'greet',
      summary: 'A greeting',
      arguments: { who: 'Whom to greet' },
      tags: [],
    })
    expect(tools.json.tools[0]).toEqual({ name: 'echo', summary: 'Say back the input' })
    expect(resources.json).toEqual({ resources: discover.json.resources })
    expect(prompts.json).toEqual({ prompts: discover.json.prompts })
    for (const { status, stderr } of [discover, tools, resources, prompts])
      expect([status, stderr]).toEqual([0, ''])
  })

  test('streams and sessions show in discovery [3.declared-streaming-session] [5.discover]', async () => {
    const { json } = await runProgram('talks.mjs', ['--discover'])
    const of = (name: string) => json.tools.find((tool: any) => tool.name === name)
    expect([of('work').streaming, of('chat').session_mode, of('ask').streaming]).toEqual([
      true,
      true,
      false,
    ])
  })

  test('--manifest, --schema and --describe of one tool and of all [5.manifest] [5.schema] [5.describe] [3.manifest-projections]', async () => {
    const [manifest, manifests, schema, schemas, describe, describes] = await Promise.all([
      run('search', '--manifest'),
      run('--manifest'),
      run('search', '--schema'),
      run('--schema'),
      run('search', '--describe'),
      run('--describe'),
    ])
    expect(manifest.json).toMatchObject({
      name: 'search',
      summary: 'Search for a text',
      streaming: false,
      session_mode: false,
      schema: { properties: { query: { type: 'string' } } },
    })
    expect(JSON.stringify(manifests.json)).toContain('"pr_list"')
    expect(schema.json).toMatchObject({ name: 'search', input_schema: { required: ['query'] } })
    expect(JSON.stringify(schemas.json)).toContain('"pr_merge"')
    expect(describe.json).toMatchObject({
      name: 'search',
      version: '1.2.3',
      inputs: [{ name: 'query', required: true }, { name: 'config' }],
    })
    expect(JSON.stringify(describes.json)).toContain('search')
    for (const ended of [manifest, manifests, schema, schemas, describe, describes])
      expect([ended.status, ended.stderr]).toEqual([0, ''])
  })

  test('resources of every kind [5.resource-flag] [3.resource-read-forms]', async () => {
    const [json, text, bytes] = await Promise.all([
      run('--resource', '/files/a.json'),
      run('--resource', 'notes://ann/todo'),
      run('--resource', 'bytes://all'),
    ])
    expect([json.json, text.json, bytes.json]).toEqual([
      { id: 'a' },
      'ann wrote todo',
      { mimeType: 'application/octet-stream', blob: 'AQID' },
    ])
  })

  test('--version and help [5.help-program] [5.help-tool]', async () => {
    const [version, short, bare, help, tool, toolShort, group, broken] = await Promise.all([
      run('--version'),
      run('-V'),
      run(),
      run('--help'),
      run('echo', '--help'),
      run('echo', '-h', '--nosuch'),
      run('pr', '--help'),
      run('--nosuch', '--help'),
    ])
    expect([version.stdout, short.stdout]).toEqual(['1.2.3\n', '1.2.3\n'])
    expect(bare.stdout).toBe(help.stdout)
    for (const words of ['search', 'pr list', '--output', '--discover', '124'])
      expect(help.stdout).toContain(words)
    expect(tool.stdout.indexOf('Loudly')).toBeLessThan(tool.stdout.indexOf('--count'))
    for (const words of ['--max-depth', '-c', 'fast', '--no-color', 'WORKBENCH_COUNT'])
      expect(tool.stdout).toContain(words)
    expect(toolShort.stdout).toBe(tool.stdout)
    expect(group.stdout).toContain('merge')
    for (const { status, stderr } of [version, bare, help, tool, toolShort, group, broken])
      expect([status, stderr]).toEqual([0, ''])
  })

  test('--selftest runs the examples and says what does not hold [5.selftest] [3.examples-args]', async () => {
    const marks = join(makeFolder(), 'marks')
    const [good, lies] = await Promise.all([
      run('--selftest'),
      runProgram('examples-that-lie.mjs', ['--selftest'], { env: { MARKS: marks } }),
    ])
    expect([good.status, good.json]).toEqual([0, { selftest: 'ok' }])
    expect([lies.status, lies.json.selftest]).toEqual([1, 'failed'])
    expect(lies.json.problems).toEqual([
      { tool: 'wrong', example: 2, code: 'INTERNAL', message: expect.stringContaining('2') },
      { tool: 'failing', example: 1, code: 'NOT_FOUND', message: 'nothing there' },
    ])
    expect(readFileSync(marks, 'utf8')).toBe('xx')
  })

  test('the simple probe and the dump flags [5.dump-flags] [4.dialect-simple-test]', async () => {
    const [probe, spaceless, single, many, several] = await Promise.all([
      run('{"__test__": true}'),
      run('{"__test__":true}'),
      runProgram('only-tool.mjs', ['--fractalic-dump-schema']),
      run('--fractalic-dump-multi-schema'),
      run('--fractalic-dump-schema'),
    ])
    expect([probe.status, probe.json]).toEqual([0, { success: true, _simple: true }])
    expect(spaceless.status).toBe(2)
    expect(single.json).toMatchObject({
      name: 'count_words',
      description: 'Count the words of a text',
      parameters: { properties: { text: { type: 'string' } } },
    })
    expect(many.json).toHaveLength(26)
    expect([several.status, several.json.error.suggestion.fix]).toEqual([
      2,
      expect.stringContaining('multi'),
    ])
  })
})

describe.concurrent('dialects', () => {
  test('toolable [4.dialect-flag]', async () => {
    const [ok, failed, partial, stream] = await Promise.all([
      run('status', '--dialect', 'toolable'),
      run('broken', '--code', 'NOT_FOUND', '--message', 'gone', '--dialect', 'toolable'),
      run('some', '--dialect', 'toolable'),
      runProgram('talks.mjs', ['work', '--stream', '--dialect', 'toolable']),
    ])
    expect([ok.status, ok.json]).toEqual([0, { status: 'success', result: { status: 'active' } }])
    expect([failed.status, failed.json]).toMatchObject([
      66,
      {
        status: 'error',
        error: {
          code: 'NOT_FOUND',
          message: 'gone',
          recoverable: true,
          suggestion: 'Try something else',
          context: { tried: 1 },
        },
      },
    ])
    expect(failed.json).not.toHaveProperty('ok')
    expect(partial.json).toMatchObject({
      status: 'partial',
      summary: { total: 3, succeeded: 2, failed: 1, recoverable_failures: 1 },
    })
    expect(stream.lines.at(-1)).toEqual({ type: 'result', status: 'success', result: { steps: 3 } })
    expect(stream.lines[0]).toEqual({ type: 'progress', message: 'step 1', percent: 25 })
  })

  test('tooli [4.dialect-flag]', async () => {
    const [ok, failed] = await Promise.all([
      run('status', '--dialect', 'tooli'),
      run('broken', '--code', 'E3101', '--message', 'none', '--dialect', 'tooli'),
    ])
    expect([ok.status, ok.json]).toMatchObject([0, { ok: true, result: { status: 'active' } }])
    expect(failed.status).toBe(1)
    expect(JSON.parse(failed.stderr)).toMatchObject({
      error: {
        code: 'E3101',
        category: 'state',
        message: 'none',
        is_retryable: expect.any(Boolean),
        suggestion: {
          action: 'retry_with_modified_input',
          fix: 'Try something else',
          applicability: 'maybe_incorrect',
        },
      },
    })
  })

  test('simple [4.dialect-flag]', async () => {
    const [ok, failed] = await Promise.all([
      run('status', '--dialect', 'simple'),
      run('broken', '--code', 'E_X', '--message', 'no', '--dialect', 'simple'),
    ])
    expect([ok.status, ok.json]).toEqual([0, { status: 'active' }])
    expect([failed.status, failed.json]).toMatchObject([1, { error: 'no' }])
  })

  const RUN = { RUN_ID: 'r-1', AI_PROTOCOL_VERSION: '1', TRACE_ID: 't-1' }
  test('acor: by flag and by environment, every line whole, one terminal line [4.dialect-flag] [4.dialect-acor-environment]', async () => {
    const [flag, byEnv, failed, usage] = await Promise.all([
      runProgram('talks.mjs', ['work', '--dialect', 'acor']),
      runProgram('talks.mjs', ['work'], { env: RUN }),
      runProgram('talks.mjs', ['work', '--fail-at', '1'], { env: RUN }),
      runProgram('talks.mjs', ['work', '--nosuch'], { env: RUN }),
    ])
    for (const { lines, status } of [flag, byEnv]) {
      expect(lines.map(({ type }) => type)).toEqual([
        'start',
        'progress',
        'progress',
        'progress',
        'log',
        'artifact',
        'item',
        'result',
      ])
      expect(lines[1]).toMatchObject({
        v: 1,
        ts: expect.stringMatching(/^\d{4}-.*Z$/),
        run_id: expect.any(String),
        step: 'work',
        pct: 25,
        msg: 'step 1',
      })
      expect(lines.at(-1)).toMatchObject({
        type: 'result',
        status: 'ok',
        result: { steps: 3 },
        artifacts: [{ path: '/tmp/report.txt' }],
      })
      expect(status).toBe(0)
    }
    expect(byEnv.lines.every((line) => line.run_id === 'r-1' && line.trace_id === 't-1')).toBe(true)
    expect(failed.lines.at(-1)).toMatchObject({
      type: 'error',
      code: 'E_HALF_WAY',
      msg: 'stopped half way',
      retryable: false,
      hint: expect.any(String),
    })
    expect(failed.status).toBe(1)
    expect([usage.status, usage.lines.at(-1)]).toMatchObject([
      2,
      { v: 1, type: 'error', run_id: 'r-1', trace_id: 't-1' },
    ])
  })

  test('acor is not chosen where stdout is not the runner’s, or something else was asked for [4.dialect-acor-environment] [4.dialect-explicit-wins]', async () => {
    const [foreign, output, dialect, half, text] = await Promise.all([
      runProgram('workbench.mjs', ['scalar'], { env: { ...RUN, RUN_STDOUT: '1:2' } }),
      runProgram('workbench.mjs', ['scalar', '--json'], { env: RUN }),
      runProgram('workbench.mjs', ['scalar', '--dialect', 'toolable'], { env: RUN }),
      runProgram('workbench.mjs', ['scalar'], { env: { RUN_ID: 'r-1' } }),
      runProgram('workbench.mjs', ['scalar', '-o', 'text'], { env: RUN }),
    ])
    expect([foreign.json.ok, output.json.ok, half.json.ok]).toEqual([true, true, true])
    expect(dialect.json).toEqual({ status: 'success', result: { result: 42 } })
    expect(text.stdout).toBe('42\n')
  })

  test('questions in the run protocol are action_required [4.dialect-flag] [4.seed-codes-read]', async () => {
    const [asked, unanswered, timeout] = await Promise.all([
      runProgram('talks.mjs', ['ask', '--only', 'confirm', '--session', '--dialect', 'acor'], {
        input: '{"value":true}\n',
      }),
      runProgram('talks.mjs', ['ask', '--only', 'confirm', '--dialect', 'acor']),
      runProgram('misbehaves.mjs', [
        'never-settles-but-lives',
        '--timeout',
        '50ms',
        '--dialect',
        'acor',
      ]),
    ])
    expect(asked.lines).toMatchObject([
      { type: 'start' },
      { type: 'action_required', action: 'confirm', context: { prompt: 'Go on?' } },
      { type: 'result', result: { confirm: true } },
    ])
    expect(unanswered.lines.at(-1)).toMatchObject({ type: 'error', code: 'E_ANSWER_REQUIRED' })
    expect(timeout.lines.at(-1)).toMatchObject({ type: 'error', code: 'E_TIMEOUT' })
  })
})
