import { describe, expect, test } from 'vitest'
import { readErrorCodes, readManifest } from '../../src/registry/manifests/yaml.ts'
import { readPlainYaml } from '../../src/protocol/yaml.ts'
import { readInFileManifest } from '../../src/registry/folder/classify.ts'

const RESIZE = `# tools/img_resize.yaml
name: resize_image
description: "Resize and save an image to disk"
command: python-cli          # python / python-cli / bash-cli / bash / mcp
entry: tools/resize.py
parameters:
  type: object
  properties:
    infile:  {type: string, description: "Path to source image"}
    width:   {type: integer}
    outfile: {type: string}
  required: [infile, width]
`
const MIGRATOR = `name: data_migrator
version: 1.2.0
entry: cli.py
protocol_version: 1
inputs:
  - {name: source, type: path, required: true}
  - {name: target, type: path, required: true}
permissions:
  filesystem:
    read: ["\${WORKSPACE}/source/**"]
    write: ["\${WORKSPACE}/migrated/**"]
  network:
    egress_allow: ["api.example.com:443"]
resources:
  cpu_seconds: 600
  memory_mb: 2048
env:
  require: ["AWS_REGION"]
exit_codes:
  ok: 0
  retryable_error: 20
  fatal_error: 30
health:
  selftest: ["--selftest"]
  describe: ["--describe"]
`
const CODES = `# tools/registry/error_codes.yaml
version: 1
codes:
  E_INPUT_NOT_FOUND: {class: user_error, retryable: false}
  E_SCHEMA_MISMATCH: {class: user_error, retryable: false}
  E_TRANSIENT_NET: {class: retryable, retryable: true}
  E_RATE_LIMIT: {class: retryable, retryable: true}
  E_DEADLINE: {class: infra_error, retryable: false}
  E_DISK_FULL: {class: infra_error, retryable: false}
  E_PERMISSION: {class: policy_error, retryable: false}
  E_HEARTBEAT_MISSED: {class: infra_error, retryable: true}
  E_TIMEOUT: {class: infra_error, retryable: false}
  E_UNKNOWN: {class: unknown, retryable: false}
`

const read = async (text: string, registered = false) => {
  const data = await readPlainYaml(text)
  return 'problem' in data ? data : readManifest(data.value, registered)
}

describe('YAML of somebody else', () => {
  const BOMB = `a: &a ["lol","lol","lol","lol","lol","lol","lol","lol","lol"]\n${'bcdefghi'
    .split('')
    .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[index]}`).join(',')}]`)
    .join('\n')}`
  const MERGES = `a: &a {x: 1}\nb:\n${'  - {<<: *a}\n'.repeat(20_000)}`
  test.each([
    ['a bomb of aliases', BOMB, /values|alias/, undefined],
    ['a circle', 'a: &a\n  - *a\n', /nested|alias/, undefined],
    ['20,000 merges', MERGES, /anchors|256 KiB/, undefined],
    ['one merge', 'a: &a {x: 1}\nb:\n  <<: *a\n', /merge/, 3],
    ['20,000 brackets', 'x: ' + '['.repeat(20_000), /nested/, 1],
    ['20,000 closed brackets', '['.repeat(20_000) + ']'.repeat(20_000), /nested/, 1],
    ['20,000 braces behind a text', `a: "]]]]"\nb: ${'{a: '.repeat(20_000)}`, /nested/, 2],
    ['20,000 dashes', '- '.repeat(20_000) + 'a', /nested/, 1],
    [
      'brackets that quoted ones seem to close',
      `a: ${'["]",'.repeat(5_000)}`,
      /nested|valid/,
      undefined,
    ],
    ['a duplicate key', 'name: a\ndescription: b\nname: c\n', /'name' twice/, 3],
    ['a duplicate key further down', 'a:\n  b:\n    c: 1\n    "c": 2\n', /'c' twice/, 4],
    ['a tag that makes a function', 'name: x\nrun: !!js/function "function () {}"\n', /tag/, 2],
    [
      'a tag that makes an object of Python',
      'a: !!python/object/apply:os.system ["id"]\n',
      /tag/,
      1,
    ],
    ['a tag of its own', 'a: !mine 1\n', /tag/, 1],
    ['__proto__', 'name: a\n__proto__: {polluted: true}\n', /__proto__/, 2],
    ['__proto__ in braces', 'a: {b: {"__proto__": 1}}\n', /__proto__/, 1],
    ['two documents', 'a: 1\n---\nb: 2\n', /valid/, undefined],
    ['a key that is a list', '? [a, b]\n: 1\n', /key/, 1],
    ['a value that JSON has not', 'a: .nan\n', /JSON/, 1],
    ['an alias of nothing', 'a: *b\n', /alias/, 1],
    ['a broken line', 'a: 1\nb: {c: [1}\n', /valid/, 2],
    ['2 MB', `a: ${'x'.repeat(2_000_000)}`, /KiB/, undefined],
    ['200,000 blank lines', '\n'.repeat(200_000), /lines/, undefined],
  ])('[6.yaml-bounds] %s is refused with its line', async (_what, text, message, line) => {
    const result = await readPlainYaml(text)
    expect(result).toMatchObject({
      problem: {
        reason: 'yaml',
        message: expect.stringMatching(message),
        fix: expect.stringMatching(/./),
      },
    })
    if (line !== undefined) expect(result).toMatchObject({ problem: { line } })
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  test('plain data comes out, also through a few aliases, and names of Object.prototype are only names', async () => {
    expect(
      await readPlainYaml('a: &a {x: 1}\nb: [*a, *a]\nconstructor: 1\ntoString: no\n1: one\n'),
    ).toEqual({
      value: { a: { x: 1 }, b: [{ x: 1 }, { x: 1 }], constructor: 1, toString: 'no', 1: 'one' },
    })
    expect(await readPlainYaml('text: |\n  ## **bold** and *more*\n  - [ ] a list\n')).toEqual({
      value: { text: '## **bold** and *more*\n- [ ] a list\n' },
    })
    expect(await readPlainYaml('')).toEqual({ value: null })
  })
})

describe('manifests', () => {
  test("[6.fractalic-manifest] the specification's own manifest", async () => {
    expect(await read(RESIZE)).toEqual({
      value: {
        style: 'fractalic',
        name: 'resize_image',
        entry: 'tools/resize.py',
        runner: 'python',
        call: { form: 'flags' },
        facts: {
          description: 'Resize and save an image to disk',
          inputSchema: {
            type: 'object',
            properties: {
              infile: { type: 'string', description: 'Path to source image' },
              width: { type: 'integer' },
              outfile: { type: 'string' },
            },
            required: ['infile', 'width'],
          },
        },
      },
    })
  })

  test("[6.orchestration-manifest] the specification's own tool.yaml", async () => {
    expect(await read(MIGRATOR)).toEqual({
      value: {
        style: 'orchestration',
        name: 'data_migrator',
        version: '1.2.0',
        entry: 'cli.py',
        call: {
          form: 'protocol',
          requireEnv: ['AWS_REGION'],
          exitCodes: { ok: 0, retryable_error: 20, fatal_error: 30 },
        },
        selftest: ['--selftest'],
        facts: {
          inputSchema: {
            type: 'object',
            properties: {
              source: { type: 'string', format: 'path' },
              target: { type: 'string', format: 'path' },
            },
            required: ['source', 'target'],
            additionalProperties: false,
          },
          permissions: {
            filesystem: { read: ['${WORKSPACE}/source/**'], write: ['${WORKSPACE}/migrated/**'] },
            network: { egress_allow: ['api.example.com:443'] },
            resources: { cpu_seconds: 600, memory_mb: 2048 },
          },
        },
      },
    })
  })

  test("[6.error-codes] the specification's own error_codes.yaml", async () => {
    const data = await readPlainYaml(CODES)
    const codes = readErrorCodes('value' in data ? data.value : undefined)
    expect(codes).toMatchObject({
      value: {
        E_INPUT_NOT_FOUND: { category: 'input', retryable: false },
        E_TRANSIENT_NET: { category: 'runtime', retryable: true },
        E_PERMISSION: { category: 'auth' },
        E_HEARTBEAT_MISSED: { category: 'runtime', retryable: true },
        E_UNKNOWN: { category: 'internal' },
      },
    })
    expect(Object.keys('value' in codes ? codes.value : {})).toHaveLength(10)
    expect(readErrorCodes({ codes: { E_MY_THING: { class: 'user_error' } } })).toEqual({
      value: {
        E_MY_THING: { category: 'input', message: 'My thing', retryable: false, recoverable: true },
      },
    })
    expect(readErrorCodes({ codes: { 'e-bad': {} } })).toMatchObject({
      problem: { reason: 'error-codes' },
    })
    expect(readErrorCodes({ codes: { E_X: { class: 'weird' } } })).toMatchObject({
      problem: { message: expect.stringContaining('weird') },
    })
  })

  test.each([
    ['python', 'python', 'json'],
    ['python-cli', 'python', 'flags'],
    ['bash', 'bash', 'json'],
    ['bash-cli', 'bash', 'flags'],
    ['node', 'node', 'json'],
    ['exec', 'exec', 'json'],
  ])(
    '[6.fractalic-manifest] command %s is started by %s and called by %s',
    async (command, runner, form) => {
      expect(await read(`name: x\ncommand: ${command}\nentry: x\n`)).toEqual({
        value: { style: 'fractalic', name: 'x', facts: {}, entry: 'x', runner, call: { form } },
      })
    },
  )

  test('node and exec may choose their call, the others may not', async () => {
    for (const call of ['json', 'flags', 'stdin', 'protocol'])
      expect(await read(`name: x\ncommand: exec\nentry: x\ncall: ${call}\n`)).toMatchObject({
        value: { call: { form: call } },
      })
    expect(await read('name: x\ncommand: exec\nentry: x\ncall: shell\n')).toMatchObject({
      problem: { message: expect.stringContaining('shell') },
    })
    expect(await read('name: x\ncommand: bash\nentry: x\ncall: stdin\n')).toMatchObject({
      problem: { fix: expect.stringContaining('json') },
    })
  })

  test.each([
    ['entry: http://tools.mycorp:8900', { protocol: 'call_tool', url: 'http://tools.mycorp:8900' }],
    [
      'entry: http://tools.mycorp:8900/call_tool',
      { protocol: 'call_tool', url: 'http://tools.mycorp:8900' },
    ],
    ['entry: https://tools.mycorp/mcp', { protocol: 'mcp', url: 'https://tools.mycorp/mcp' }],
    ['url: https://tools.mycorp/x', { protocol: 'mcp', url: 'https://tools.mycorp/x' }],
    [
      'entry: npx -y some-server /data',
      { protocol: 'mcp', command: 'npx', args: ['-y', 'some-server', '/data'] },
    ],
    [
      'entry: [uvx, some server]\nargs: [-v]',
      { protocol: 'mcp', command: 'uvx', args: ['some server', '-v'] },
    ],
  ])('[6.fractalic-manifest] command mcp with %s names a server', async (lines, server) => {
    expect(await read(`name: x\ncommand: mcp\n${lines}\n`)).toEqual({
      value: { style: 'fractalic', name: 'x', server, facts: {} },
    })
    expect(
      await read(`name: x\ncommand: mcp\nparameters: {type: object}\n${lines}\n`),
    ).toMatchObject({ value: { server, tool: 'x' } })
  })

  test.each([
    ['a compose file', 'name: shop\nservices: {web: {image: nginx}}\n'],
    ['a workflow', 'name: ci\non: push\njobs: {}\n'],
    [
      'an action',
      'name: a\ndescription: b\ninputs: {who: {required: true}}\nruns: {using: node20}\n',
    ],
    ['error codes', CODES],
    ['a list', '- 1\n- 2\n'],
    ['nothing', ''],
    ['a command of something else', 'command: make\nargs: [all]\n'],
  ])('[6.told-apart-by-keys] %s is not a manifest, and that is no problem', async (_what, text) => {
    expect(await read(text)).toBeUndefined()
  })

  test.each([
    ['no command', 'name: x\nparameters: {type: object}\n', /'command' nor 'entry'/],
    ['no command but an entry', 'name: x\nentry: x.py\n', /how it is called/],
    ['no entry', 'name: x\ncommand: python\n', /'entry'/],
    ['no entry in the orchestration form', 'name: x\nprotocol_version: 1\n', /'entry'/],
    ['no name', 'command: python\nentry: x.py\n', /no name/],
    ['an unknown command', 'name: x\ncommand: ruby\nentry: x.rb\n', /ruby/],
    [
      'a name with a control character',
      'name: "a\\u0007b"\ncommand: python\nentry: x\n',
      /control/,
    ],
    ['a name of 300 characters', `name: ${'a'.repeat(300)}\ncommand: python\nentry: x\n`, /256/],
    [
      'parameters that are a list',
      'name: x\ncommand: python\nentry: x\nparameters: [a]\n',
      /parameters/,
    ],
    ['an unknown type of input', 'name: x\nentry: x\ninputs: [{name: a, type: blob}]\n', /blob/],
    ['two inputs of one name', 'name: x\nentry: x\ninputs: [{name: a}, {name: a}]\n', /twice/],
    ['another protocol', 'name: x\nentry: x\nprotocol_version: 7\n', /7/],
  ])('[6.told-apart-by-keys] %s: what is missing is said', async (_what, text, message) => {
    expect(await read(text)).toMatchObject({
      problem: {
        reason: 'manifest',
        message: expect.stringMatching(message),
        fix: expect.stringMatching(/./),
      },
    })
  })

  test('any text is a name, and inputs of every type become a schema', async () => {
    expect(await read('name: "Größe / ändern 🎉"\ncommand: python\nentry: x\n')).toMatchObject({
      value: { name: 'Größe / ändern 🎉' },
    })
    expect(
      await read(
        'name: x\nentry: x\ninputs: [{name: n, type: int, required: yes, default: 3}, {name: mode, choices: [a, b], description: How}, {name: out, type: path, direction: out}, {name: on, type: flag}]\n',
      ),
    ).toMatchObject({
      value: {
        call: { form: 'flags' },
        facts: {
          inputSchema: {
            properties: {
              n: { type: 'integer', default: 3 },
              mode: { type: 'string', enum: ['a', 'b'], description: 'How' },
              out: { format: 'path', 'x-toolable-path': { direction: 'out' } },
              on: { type: 'boolean' },
            },
            required: ['n'],
          },
        },
      },
    })
  })
})

describe('[6.in-file-manifest] a manifest inside the file', () => {
  const JSON_TEXT =
    '{"name": "greet", "summary": "Greets", "input": {"type": "object", "properties": {"who": {"type": "string"}}}, "call": "stdin"}'
  const GREET = {
    name: 'greet',
    form: 'stdin',
    several: false,
    facts: {
      summary: 'Greets',
      inputSchema: { type: 'object', properties: { who: { type: 'string' } } },
    },
  }

  test.each([
    ['shell', `#!/bin/sh\n# toolable: ${JSON_TEXT}\necho`],
    ['JavaScript', `// toolable: ${JSON_TEXT}\n`],
    ['Lua and SQL', `-- toolable: ${JSON_TEXT}\n`],
    ['Lisp', `;; toolable: ${JSON_TEXT}\n`],
    ['C', `/* toolable: ${JSON_TEXT} */\nint main;`],
    ['a block', `/**\n * toolable: ${JSON_TEXT}\n */`],
    ['HTML', `<!-- toolable: ${JSON_TEXT} -->`],
    ['batch', `@rem toolable: ${JSON_TEXT}\r\necho`],
    ['TeX', `% toolable: ${JSON_TEXT}`],
    [
      'several lines',
      `#!/bin/sh\n#\n# toolable: {"name": "greet",\n#   "summary": "Greets", "input": {"type": "object",\n#   "properties": {"who": {"type": "string"}}},\n#   "call": "stdin"}\n# and more\n`,
    ],
    [
      'lines of a block',
      `/*\n  toolable: {"name": "greet", "summary": "Greets",\n  "input": {"type": "object", "properties":\n  {"who": {"type": "string"}}}, "call": "stdin"}\n*/`,
    ],
  ])('is read in %s', (_language, text) => {
    expect(readInFileManifest(text)).toEqual({ value: { name: 'greet', tools: [GREET] } })
  })

  test('several tools of one file are called by their names', () => {
    expect(
      readInFileManifest(
        '# toolable: {"name": "kit", "version": "2.0.0", "call": "flags", "tools": [{"name": "a"}, {"name": "b", "call": "json"}]}',
      ),
    ).toMatchObject({
      value: {
        name: 'kit',
        version: '2.0.0',
        tools: [
          { name: 'a', form: 'flags', several: true },
          { name: 'b', form: 'json', several: true },
        ],
      },
    })
  })

  test.each([
    ['no comment', `toolable: ${JSON_TEXT}`],
    ['code', `const text = "toolable: {}"`],
    ['the 21st line', `${'#\n'.repeat(20)}# toolable: ${JSON_TEXT}`],
    ['another word', `# toolable programs are {nice}`],
  ])('is not %s', (_what, text) => {
    expect(readInFileManifest(text)).toBeUndefined()
  })

  test.each([
    ['broken JSON', '#!/bin/sh\n# toolable: {"name": greet}', /JSON/, 2],
    ['no end', '# toolable: {"name": "x"\n', /end/, 1],
    ['no name', '#\n#\n# toolable: {"summary": "x"}', /name/, 3],
    ['an unknown call', '# toolable: {"name": "x", "call": "telepathy"}', /telepathy/, 1],
    ['an input that is no schema', '# toolable: {"name": "x", "input": []}', /input/, 1],
    [
      'two tools of one name',
      '# toolable: {"tools": [{"name": "x"}, {"name": "x"}]}',
      /two tools/,
      1,
    ],
  ])('that has %s is a problem with its line', (_what, text, message, line) => {
    expect(readInFileManifest(text)).toMatchObject({
      problem: { reason: 'manifest', message: expect.stringMatching(message), line },
    })
  })

  test('hostile text takes no time and pollutes nothing', () => {
    for (const text of [
      `#${' '.repeat(16_000)}toolable: {`,
      `# toolable: ${'{'.repeat(16_000)}`,
      `${' '.repeat(16_000)}# toolable:`,
      `# toolable: {"name":"x","__proto__":{"polluted":true},"input":{"__proto__":{"type":"object"}}}`,
    ])
      readInFileManifest(text)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })
})
