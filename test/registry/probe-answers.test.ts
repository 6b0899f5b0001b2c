import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { resolvePythonShim } from '../../src/registry/probe/probe.ts'
import { diagnoseStderr, parseStdoutDocument } from '../../src/registry/probe/refusals.ts'
import { getDumpedCall, readDiscovery, readDump } from '../../src/registry/probe/discovery.ts'
import { createProbeGate } from '../../src/registry/probe/ask.ts'

const PARAMETERS = { type: 'object', properties: { a: { type: 'string' } } }
const candidate = {
  path: '/t/tool.py',
  command: ['python3', '/t/tool.py'],
  kind: 'script',
} as const

describe('documents', () => {
  test.each([
    ['{"a": 1}', { kind: 'document', value: { a: 1 } }],
    ['\uFEFF\n [1]\r\n', { kind: 'document', value: [1] }],
    ['', { kind: 'nothing' }],
    [' \n', { kind: 'nothing' }],
    ['{"a": 1}\n{"b": 2}', { kind: 'two-documents' }],
    ['{\n"a": 1\n}\n{\n"b": 2\n}', { kind: 'two-documents' }],
    ['1\n{"a": 1}', { kind: 'two-documents' }],
    ['hello', { kind: 'not-json', line: 'hello', besides: false }],
    ['{"a": 1}\ndone', { kind: 'not-json', line: 'done', besides: true }],
    ['{"a": ', { kind: 'not-json', line: '{"a":', besides: true }],
  ])('%j', (text, read) => {
    expect(parseStdoutDocument(Buffer.from(text))).toEqual(read)
  })

  test('[6.probe-reasons] bytes of any kind, and megabytes of brackets and blanks, are read without an exception', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(parseStdoutDocument(Buffer.from(bytes)).kind).toBeTypeOf('string')
      }),
    )
    for (const text of [
      '}\n'.repeat(1_000_000),
      `{}${'\n'.repeat(2_000_000)}x`,
      '['.repeat(500_000),
      '{"a":'.repeat(200_000),
    ])
      expect(['not-json', 'two-documents']).toContain(parseStdoutDocument(Buffer.from(text)).kind)
  })
})

describe('[6.probe-forms] dumps', () => {
  test.each([
    ['one description', { description: 'D', parameters: PARAMETERS }, [undefined]],
    [
      'the form of OpenAI',
      { type: 'function', function: { name: 'x', description: 'D', parameters: PARAMETERS } },
      ['x'],
    ],
    [
      'the form of Anthropic',
      [
        { name: 'x', input_schema: PARAMETERS },
        { name: 'y', input_schema: PARAMETERS },
      ],
      ['x', 'y'],
    ],
    ['the form of MCP', { tools: [{ name: 'x', inputSchema: PARAMETERS }] }, ['x']],
    [
      'an object by name',
      { x: { description: 'D', parameters: PARAMETERS }, y: { parameters: PARAMETERS } },
      ['x', 'y'],
    ],
    ['a tool without parameters', [{ name: 'x', description: 'D' }], ['x']],
  ])('%s', (_name, document, names) => {
    const tools = readDump(document)
    expect(tools?.map(({ name }) => name)).toEqual(names)
    expect(tools?.[0]?.facts.inputSchema).toMatchObject({ type: 'object' })
  })

  test('properties alone become a schema', () => {
    expect(
      readDump({ description: 'D', parameters: { city: { type: 'string' } } })?.[0]?.facts
        .inputSchema,
    ).toEqual({ type: 'object', properties: { city: { type: 'string' } } })
  })

  test.each([
    null,
    42,
    'text',
    [],
    {},
    [1],
    { success: true },
    { error: 'no' },
    { tools: [] },
    { tools: [{}] },
    { ok: true, result: { name: 'x' } },
  ])('%j is none', (document) => {
    expect(readDump(document)).toBeUndefined()
  })

  test.each([
    [{}, ['x'], 'flags'],
    [{ call: 'json' }, ['x'], 'json'],
    [{ call: 'stdin' }, ['x'], 'stdin'],
    [{ call: 'function' }, ['--function', 'x'], 'flags'],
    [{ style: '--function' }, ['--function', 'x'], 'flags'],
    [{ function: 'inner' }, ['--function', 'inner'], 'flags'],
    [{ call: 'constructor' }, ['x'], 'flags'],
  ])('%j says how to call', (keys, args, form) => {
    expect(getDumpedCall(readDump([{ name: 'x', parameters: PARAMETERS, ...keys }])![0]!)).toEqual({
      args,
      form,
    })
  })
})

test('[6.probe-forms] whatever JSON somebody answers, reading it neither throws nor reaches a prototype', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      readDump(value)
      readDump({ tools: [value] })
      readDiscovery(value)
      readDiscovery({
        tools: [
          {
            name: 'x',
            schema: value,
            examples: value,
            errors: value,
            annotations: value,
            tags: value,
          },
        ],
        resources: [value],
        prompts: [{ name: 'p', arguments: value }],
      })
    }),
  )
  const hostile = JSON.parse(
    '{"__proto__": {"name": "x"}, "tools": [{"__proto__": {"name": "evil"}}]}',
  ) as unknown
  expect([readDiscovery(hostile), readDump(hostile)]).toEqual([undefined, undefined])
  expect(({} as Record<string, unknown>)['name']).toBeUndefined()
})

describe('[6.probe-reasons] complaints', () => {
  test.each([
    [
      "ModuleNotFoundError: No module named 'yaml.nodes'",
      'crashed',
      'missing module yaml.nodes',
      /pip install pyyaml/,
    ],
    [
      "Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@scope/name' imported from",
      'crashed',
      'missing module @scope/name',
      /npm install --prefix \/t @scope\/name/,
    ],
    [
      "Error: Cannot find module './beside.js'",
      'crashed',
      'missing module ./beside.js',
      /Put \.\/beside\.js/,
    ],
    [
      '/t/tool.sh: line 3: jq: command not found',
      'crashed',
      'It uses the program jq, which is not there',
      /Install jq/,
    ],
    [
      'tool.sh: 3: jq: not found',
      'crashed',
      'It uses the program jq, which is not there',
      /Install jq/,
    ],
    [
      'Traceback (most recent call last):\n  File "t.py", line 1\nKeyError: 1',
      'crashed',
      'It crashed: KeyError: 1',
      /by hand/,
    ],
  ])('%s', (stderr, reason, message, fix) => {
    expect(diagnoseStderr(stderr, candidate)).toMatchObject({
      reason,
      message,
      fix: expect.stringMatching(fix),
    })
  })

  test('a usage message is none', () => {
    expect(
      diagnoseStderr(
        'usage: tool.py [-h]\ntool.py: error: unrecognized arguments: --discover',
        candidate,
      ),
    ).toBeUndefined()
  })
})

describe('the gate', () => {
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

  test('lets in as many as there are cores, and another one when somebody leaves or steps aside', async () => {
    const gate = createProbeGate(2)
    const entered: number[] = []
    const slots = [0, 1, 2, 3].map((who) =>
      gate.enter().then((slot) => {
        entered.push(who)
        return slot
      }),
    )
    await settled()
    expect(entered).toEqual([0, 1])
    const first = await slots[0]!
    expect([first.stepAside(), first.stepAside()]).toEqual([true, false])
    await settled()
    expect(entered).toEqual([0, 1, 2])
    first.leave()
    first.leave()
    await settled()
    expect(entered).toEqual([0, 1, 2])
    ;(await slots[1]!).leave()
    await settled()
    expect(entered).toEqual([0, 1, 2, 3])
  })

  test('who wants to be alone waits for all others, and all others wait for him', async () => {
    const gate = createProbeGate(2)
    const order: string[] = []
    const first = await gate.enter()
    const alone = gate.enterAlone().then((slot) => {
      order.push('alone')
      return slot
    })
    const second = await gate.enter()
    await settled()
    expect(order).toEqual([])
    first.leave()
    second.leave()
    const slot = await alone
    const third = gate.enter().then(() => order.push('third'))
    await settled()
    expect(order).toEqual(['alone'])
    slot.leave()
    await third
    expect(order).toEqual(['alone', 'third'])
  })
})

describe('shims', () => {
  const folder = mkdtempSync(join(tmpdir(), 'shims-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  test('a Python behind a shim is asked where it is; anything else stays as it is', async () => {
    const shims = join(folder, 'shims')
    mkdirSync(shims)
    writeFileSync(join(shims, 'python3'), '#!/bin/sh\nexec /usr/bin/python3 "$@"\n')
    writeFileSync(join(shims, 'python'), '#!/bin/sh\necho nonsense\n')
    for (const name of ['python3', 'python']) chmodSync(join(shims, name), 0o755)
    const env = { PATH: `${shims}:/usr/bin:/bin` }
    expect(await resolvePythonShim('python3', env)).toBe('/usr/bin/python3')
    expect(await resolvePythonShim('python', env)).toBe('python')
    expect([
      await resolvePythonShim('sh', env),
      await resolvePythonShim('/usr/bin/python3', env),
    ]).toEqual(['sh', '/usr/bin/python3'])
  })
})
