import { describe, expect, test } from 'vitest'
import { runInTerminal } from '../support/run-in-terminal.ts'
import { runProgram, startProgram } from '../support/run-program.ts'

const run = (args: readonly string[]) => runProgram('shows-pictures.mjs', args)
const timeless = (text: string) => text.replace(/"duration_ms":\d+/g, '"duration_ms":0')
const dot = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }

describe('[3.content-shown] content on the command line', () => {
  test('stands behind the message in the envelope', async () => {
    const { status, stdout, stderr } = await run(['keep'])
    expect({ status, stdout: timeless(stdout), stderr }).toEqual({
      status: 0,
      stdout:
        '{"ok":true,"status":"success","result":{"secret":42},"message":"Drawn","content":[{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}],"meta":{"tool":"shows-pictures.keep","version":"0.1.0","duration_ms":0}}\n',
      stderr: '',
    })
  })

  test('of a partial result too, before its errors', async () => {
    const { status, stdout, json } = await run(['some'])
    expect(status).toBe(0)
    expect(json).toMatchObject({
      status: 'partial',
      message: 'Half',
      content: [dot],
      summary: { total: 2, succeeded: 1 },
    })
    expect(Object.keys(JSON.parse(stdout) as object)).toEqual([
      'ok',
      'status',
      'result',
      'message',
      'content',
      'errors',
      'summary',
      'meta',
    ])
  })

  test('in a stream', async () => {
    const { lines } = await run(['show', '--stream'])
    expect(lines.at(-1)).toMatchObject({ type: 'result', ok: true, message: 'Drawn' })
    expect(
      (lines.at(-1) as { content: { type: string }[] }).content.map(({ type }) => type),
    ).toEqual(['text', 'image', 'audio', 'resource', 'resource', 'resource_link'])
  })

  test('as text: texts as they are, a line for everything else, and nothing that steers a terminal', async () => {
    const { status, stdout } = await run(['show', '--output', 'text'])
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: [
        'Drawn',
        'dots  1',
        'A dot, red',
        '[image image/png, 8 bytes]',
        '[audio audio/wav, 1 byte]',
        '[resource notes://1, text/markdown, 5 bytes]',
        '[resource notes://2, 8 bytes]',
        '[link file:///tmp/a%20b.pdf, a b.pdf, application/pdf, 2048 bytes]',
        '',
      ].join('\n'),
    })
  })

  test('a hidden result shows message and content only', async () => {
    for (const mode of ['text', 'md']) {
      const { stdout } = await run(['keep', '--output', mode])
      expect(stdout.split('\n').filter((line) => line !== '')).toEqual([
        'Drawn',
        '[image image/png, 8 bytes]',
      ])
    }
  })

  test('where stdout holds rows it goes to stderr', async () => {
    expect(await run(['rows', '--output', 'csv'])).toMatchObject({
      status: 0,
      stdout: 'id\r\n1\r\n',
      stderr: '[image image/png, 8 bytes]\n',
    })
    const lines = await run(['rows', '--output', 'jsonl'])
    expect([lines.status, lines.stdout, JSON.parse(lines.stderr)]).toMatchObject([
      0,
      '{"id":1}\n',
      { ok: true, content: [dot] },
    ])
  })

  test('in the dialects that have a place for it', async () => {
    const [acor, tooli, toolable, simple] = await Promise.all(
      ['acor', 'tooli', 'toolable', 'simple'].map((dialect) => run(['keep', '--dialect', dialect])),
    )
    expect(acor!.lines.at(-1)).toMatchObject({
      type: 'result',
      context: { message: 'Drawn', content: [dot] },
    })
    for (const { stdout } of [tooli!, toolable!, simple!]) expect(stdout).not.toContain('content')
  })

  test('that is broken is INTERNAL, with the block and what it lacks', async () => {
    const { status, json } = await run(['broken'])
    expect([status, json]).toMatchObject([
      1,
      {
        ok: false,
        error: {
          code: 'INTERNAL',
          message:
            "tool 'broken' gave content that cannot be shown: block 2 needs 'data' in base64",
        },
      },
    ])
  })

  test('in the messages of a prompt', async () => {
    expect((await run(['--prompt', 'review', '{"code":"x = 1"}'])).json).toEqual([
      { role: 'user', content: 'x = 1' },
      { role: 'user', content: dot },
    ])
  })
})

describe('what stands in documents', () => {
  test('[3.reading-context] names and titles of resources and prompts', async () => {
    const { json } = await run(['--discover'])
    expect(json).toMatchObject({
      resources: [
        { uri_pattern: 'notes://{id}', name: 'note', title: 'A note', summary: 'One note' },
      ],
      prompts: [{ name: 'review', title: 'Review it', summary: 'Review' }],
    })
  })

  test('[3.mcp-options] nothing of the option mcp', async () => {
    for (const args of [
      ['--discover'],
      ['--manifest'],
      ['--describe'],
      ['--schema'],
      ['--tools'],
      ['refuse', '--manifest'],
      ['refuse', '--describe'],
      ['refuse', '--schema'],
      ['refuse', '--help'],
    ]) {
      const { status, stdout } = await run(args)
      expect([args, status, /example\.com|"mcp"|"task"/.test(stdout)]).toEqual([args, 0, false])
    }
  })
})

test('[3.protocol-error] elsewhere than in MCP it is an ordinary failure', async () => {
  expect(await run(['refuse'])).toMatchObject({
    status: 1,
    json: {
      error: {
        code: 'E_PROTOCOL',
        category: 'runtime',
        message: 'no such cursor',
        recoverable: false,
        retryable: false,
        details: { code: -32602, data: { cursor: 'x' } },
      },
    },
  })
})

test('[3.context-roots] the working folder', async () => {
  const { status, json } = await runProgram('shows-pictures.mjs', ['roots'], { cwd: '/' })
  expect([status, json]).toMatchObject([0, { result: [{ uri: 'file:///' }] }])
})

describe('[3.questions-at-once] two questions at once', () => {
  test('at a terminal are asked one after the other', async () => {
    const { status, screen } = await runInTerminal(
      'shows-pictures.mjs',
      ['two', '--output', 'json'],
      {
        steps: [
          { wait: 'Name?', send: 'Ada\r' },
          { wait: '> ', send: '2\r' },
        ],
      },
    )
    expect(status).toBe(0)
    expect(screen.indexOf('Color?')).toBeGreaterThan(screen.indexOf('Ada'))
    expect(JSON.parse(screen.slice(screen.indexOf('{')))).toMatchObject({
      result: { name: 'Ada', color: 'blue', text: 'ANSWER_REQUIRED' },
    })
  })

  test('[3.question-key] by lines carry their keys and come in their order', async () => {
    const program = startProgram('shows-pictures.mjs', ['two', '--session'], { input: 'open' })
    const wait = async (key: string): Promise<{ id: string }> => {
      await program.said(`"key":"${key}"`)
      return lines().find((line) => line['key'] === key) as { id: string }
    }
    let said = ''
    program.child.stdout.on('data', (chunk: Buffer) => {
      said += String(chunk)
    })
    const lines = () =>
      said
        .split('\n')
        .filter((line) => line.endsWith('}'))
        .map((line) => JSON.parse(line) as { [field: string]: unknown })
    program.write(`${JSON.stringify({ id: (await wait('name')).id, value: 'Ada' })}\n`)
    program.write(`${JSON.stringify({ id: (await wait('color')).id, value: 'red' })}\n`)
    program.write(
      `${JSON.stringify({ type: 'sample_response', id: (await wait('poem')).id, content: 'Roses' })}\n`,
    )
    const { status, lines: all } = await program.ended
    expect(status).toBe(0)
    expect(all).toMatchObject([
      { type: 'action_required', kind: 'input', prompt: 'Name?', key: 'name' },
      { type: 'action_required', kind: 'decision', key: 'color' },
      { type: 'sample_request', prompt: 'Write', max_tokens: 5, key: 'poem' },
      { ok: true, result: { name: 'Ada', color: 'red', text: 'Roses' } },
    ])
  })

  test('the second is not asked when the first was enough', async () => {
    const { status, screen } = await runInTerminal(
      'shows-pictures.mjs',
      ['first', '--output', 'json'],
      { steps: [{ wait: 'Name?', send: 'Ada\r' }] },
    )
    expect(status).toBe(0)
    expect(screen).toContain('"result": "Ada"')
    expect(screen).not.toContain('Please answer')
  })
})

test('[3.reading-context] a resource that asks where nobody can answer says so', async () => {
  const { status, json } = await run(['--resource', 'notes://7'])
  expect([status, json]).toMatchObject([
    77,
    {
      error: {
        code: 'ANSWER_REQUIRED',
        message: "resource 'notes://{id}' asks 'Read 7?' and nobody can answer",
      },
    },
  ])
})
