import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AnswerRules, ChildOutput } from '../../src/registry/child/exit.ts'
import { readAnswer, splitDocuments } from '../../src/registry/child/answer.ts'
import { rounds } from '../support/rounds.ts'

type Given = Partial<Omit<ChildOutput, 'stdout'>> & {
  readonly expects?: AnswerRules['expects']
  readonly mustAnswer?: true
}

function read(stdout: string | Buffer, { expects = 'json', mustAnswer, ...given }: Given = {}) {
  return readAnswer(
    { stdout: Buffer.from(stdout as string), stderr: '', status: 0, signal: null, ...given },
    { expects, ...(mustAnswer && { mustAnswer }) },
  )
}

function result(stdout: string | Buffer, given?: Given): unknown {
  const { outcome } = read(stdout, given)
  return outcome.ok ? outcome.result : outcome
}

function error(stdout: string, given: Given = {}) {
  const { outcome } = read(stdout, given)
  return outcome.ok ? outcome : outcome.error
}

const warnings = (stdout: string | Buffer) => read(stdout).outcome.meta.warnings

const logs = (stdout: string, given?: Given) =>
  read(stdout, given).events.map((event) =>
    event.type === 'log' ? `${event.level}: ${event.message}` : event,
  )

describe('answers that are results [6.child-answers]', () => {
  test.each<[string, string | Buffer, unknown, Given?]>([
    ['one document', '{"a":1}\n', { a: 1 }],
    ['a pretty document', '{\n  "a": [\n    1\n  ]\n}\n', { a: [1] }],
    ['a document with a byte order mark', '\uFEFF{"a":1}', { a: 1 }],
    ['a list', '[1,2]', [1, 2]],
    ['a number', '42\n', 42],
    ['a word of JSON', 'true', true],
    ['null', 'null\n', null],
    ['a JSON string', '"text"', 'text'],
    ['a number that JSON would change', '1.10', '1.10'],
    ['a number too large for JavaScript', '12345678901234567890', '12345678901234567890'],
    ['a number where text is expected', '42\n', '42', { expects: 'text' }],
    ['plain text, less one newline', ' two\n\nlines\n\n', ' two\n\nlines\n'],
    ['text with a newline of Windows', 'text\r\n', 'text'],
    ['nothing, where JSON is expected', '', null],
    ['nothing, where text may come', '', '', { expects: 'text' }],
    ['an empty line of text', '\n', '', { expects: 'text' }],
    ['data that uses the word status', '{"status":"active"}', { status: 'active' }],
    ['data that uses the word error: null', '{"error":null,"x":1}', { error: null, x: 1 }],
    ['data that uses the word error: a number', '{"error":0.02}', { error: 0.02 }],
    ['data that uses the word error: an empty list', '{"error":[]}', { error: [] }],
    [
      'a report about something that failed',
      '{"status":"error","service":"db"}',
      { status: 'error', service: 'db' },
    ],
    ['an envelope', '{"status":"success","result":{"x":1}}', { x: 1 }],
    ['success that keeps its words', '{"success":true,"data":1}', { success: true, data: 1 }],
    [
      'the answer of an MCP tool',
      '{"content":[{"type":"text","text":"hello"}],"isError":false}',
      'hello',
    ],
    [
      'the structured answer of an MCP tool',
      '{"content":[{"type":"text","text":"{}"}],"structuredContent":{"a":1}}',
      { a: 1 },
    ],
    [
      "content that is somebody's data",
      '{"content":[1],"title":"x"}',
      { content: [1], title: 'x' },
    ],
    [
      'words of Python that JSON has not',
      '{"a":NaN,"b":[-Infinity,"NaN"]}',
      { a: null, b: [null, 'NaN'] },
    ],
    ['a prototype in disguise', '{"__proto__":{"x":1}}', JSON.parse('{"__proto__":{"x":1}}')],
    ['a text that begins like JSON', '{not json}', '{not json}'],
    ['a text that ends in a note', 'see there\n[1]\n', 'see there\n[1]'],
    ['a text with JSON in the middle', 'before\n{"a":1}\nafter', 'before\n{"a":1}\nafter'],
  ])('%s', (_name, stdout, expected, given) => {
    expect(result(stdout, given)).toEqual(expected)
  })

  test('an envelope keeps what it says: text for the model, content, hidden, warnings, pages, artifacts', () => {
    const said = {
      ok: true,
      status: 'success',
      result: { id: 1 },
      message: 'Made it',
      hidden: true,
      content: [{ type: 'text', text: 'look' }],
      meta: {
        tool: 'x.y',
        duration_ms: 3,
        warnings: ['old'],
        truncated: true,
        next_cursor: 'p2',
        artifacts: [{ name: 'a', uri: 'file:///a' }],
      },
    }
    expect(read(JSON.stringify(said)).outcome).toEqual(said)
  })

  test('a partial answer keeps its errors and its counts', () => {
    const { outcome } = read(
      '{"status":"partial","result":{"n":2},"errors":[{"code":"NOT_FOUND","message":"c"}],"summary":{"total":3,"succeeded":2,"failed":1,"recoverable_failures":1}}',
    )
    expect(outcome).toMatchObject({
      ok: true,
      status: 'partial',
      errors: [{ code: 'NOT_FOUND' }],
      summary: { succeeded: 2 },
    })
  })

  test('lines before a JSON object are told as debug messages, with a warning that names their place', () => {
    expect(result('connecting\nINFO done\n{\n "a": 1\n}\n')).toEqual({ a: 1 })
    expect(logs('connecting\n{"a":1}')).toEqual([
      'debug: connecting',
      expect.stringContaining('warn: the tool prints other lines beside its answer on stdout'),
    ])
    expect(result('connecting\n{"a":1}', { expects: 'text' })).toEqual({ a: 1 })
    expect(result('found:\n[{"a":1}]')).toEqual([{ a: 1 }])
    expect(result('found:\n[{"a":1}]', { expects: 'text' })).toBe('found:\n[{"a":1}]')
  })

  test('JSON lines end in a result, and what comes before it are events', () => {
    const lines =
      '{"type":"progress","message":"half","percent":50}\n{"type":"log","level":"warning","message":"hm"}\n{"type":"item","value":7}\n{"type":"artifact","name":"a","uri":"u"}\n{"type":"result","status":"success","result":{"n":1}}\n'
    expect(result(lines)).toEqual({ n: 1 })
    expect(read(lines).events).toEqual([
      { type: 'progress', message: 'half', percent: 50 },
      { type: 'log', level: 'warn', message: 'hm' },
      { type: 'item', value: 7 },
      { type: 'artifact', name: 'a', uri: 'u' },
    ])
  })

  test('several documents without an envelope are the list of them; with one at the end, it is the answer', () => {
    expect(result('{"a":1}\n{"b":2}\n')).toEqual([{ a: 1 }, { b: 2 }])
    expect(result('{\n"a":1\n}\n{\n"b":2\n}')).toEqual([{ a: 1 }, { b: 2 }])
    expect(warnings('{"a":1}{"b":2}')).toEqual([
      'the tool answered with 2 JSON documents; the result is their list',
    ])
    expect(result('{"type":"item","value":1}\n{"type":"item","value":2}')).toEqual([
      { type: 'item', value: 1 },
      { type: 'item', value: 2 },
    ])
    expect(result('{"level":"info","msg":"on it"}\n{"ok":true,"result":5}')).toBe(5)
    expect(logs('{"level":"info","msg":"on it"}\n{"ok":true,"result":5}')).toEqual([
      'debug: {"level":"info","msg":"on it"}',
    ])
    expect(error('{"level":"info","msg":"on it"}\n{"error":"broken"}')).toMatchObject({
      message: 'broken',
    })
  })

  test('bytes that are no UTF-8 are shown as such, with a warning', () => {
    const bytes = Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d])
    expect(result(bytes)).toEqual({ a: '\uFFFD' })
    expect(warnings(bytes)).toEqual([
      'the answer is not UTF-8; what could not be read is shown as \uFFFD',
    ])
  })

  test('a value that is not quite what was written is told in the warnings of the outcome', () => {
    expect(warnings('{"a":NaN}')).toEqual([
      'the answer held NaN or Infinity, which JSON cannot carry; they are null',
    ])
    expect(
      warnings(
        '{"ok":true,"result":{"id":1234567890123456789},"meta":{"tool":"x","duration_ms":1,"warnings":["own"]}}',
      ),
    ).toEqual([
      'own',
      '1234567890123456789 has more digits than a number can hold here; the tool should send it as text',
    ])
    expect(warnings(`{"id":1${'0'.repeat(100_000)}}`)).toHaveLength(1)
    expect(
      warnings('{"id":"1234567890123456789","n":9007199254740992,"f":0.12345678901234567890}'),
    ).toBeUndefined()
  })

  test('of an ordinary program JSON is data, whatever its words are', () => {
    expect(result('{"error":"in the log"}', { expects: 'verbatim' })).toEqual({
      error: 'in the log',
    })
    expect(result('{"ok":true,"result":1}', { expects: 'verbatim' })).toEqual({
      ok: true,
      result: 1,
    })
    expect(result('3.10\n', { expects: 'verbatim' })).toBe('3.10')
    expect(result('a\n{"b":1}\n', { expects: 'verbatim' })).toBe('a\n{"b":1}')
  })
})

describe('answers that are failures [6.child-failures]', () => {
  test.each<[string, string, Given, object]>([
    [
      '{"error"} with exit 0',
      '{"error":"boom"}',
      {},
      { code: 'INTERNAL', message: 'boom', details: { exit_status: 0 } },
    ],
    [
      '{"error"} with exit 1',
      '{"error":"boom"}',
      { status: 1 },
      { message: 'boom', details: { exit_status: 1 } },
    ],
    [
      'an error object',
      '{"error":{"code":"NOT_FOUND","message":"gone","suggestion":"look elsewhere"}}',
      { status: 66 },
      { code: 'NOT_FOUND', recoverable: true, suggestion: { fix: 'look elsewhere' } },
    ],
    [
      'a code of its own',
      '{"error":{"code":"E3101","message":"none"}}',
      {},
      { code: 'E3101', category: 'state' },
    ],
    ['status error with a message', '{"status":"error","message":"bad"}', {}, { message: 'bad' }],
    [
      'status error with a reason',
      '{"status":"error","reason":"bad","code":"CONFLICT"}',
      {},
      { message: 'bad', code: 'CONFLICT' },
    ],
    [
      'status error alone',
      '{"status":"error"}',
      {},
      { message: 'The tool failed without saying why' },
    ],
    ['success false', '{"success":false,"error":"no"}', {}, { message: 'no' }],
    ['success false with a message', '{"success":false,"message":"no"}', {}, { message: 'no' }],
    [
      'ok false',
      '{"ok":false,"error":{"code":"RATE_LIMIT","message":"slow"}}',
      {},
      { code: 'RATE_LIMIT', retryable: true },
    ],
    [
      'isError',
      '{"isError":true,"content":[{"type":"text","text":"bad luck"}]}',
      {},
      { message: 'bad luck' },
    ],
    [
      'a line of the run protocol',
      '{"v":1,"type":"error","code":"E_TIMEOUT","msg":"late"}',
      { status: 20 },
      { code: 'TIMEOUT', message: 'late' },
    ],
    [
      'text on stderr',
      '',
      { status: 3, stderr: 'error: no such thing\n' },
      {
        code: 'INTERNAL',
        message: 'error: no such thing',
        details: { exit_status: 3, stderr: 'error: no such thing' },
      },
    ],
    ['text on stdout', 'no such thing\n', { status: 1 }, { message: 'no such thing' }],
    [
      'text on both',
      'half an answer\n',
      { status: 1, stderr: 'ran out of luck' },
      { message: 'ran out of luck', details: { stdout: 'half an answer' } },
    ],
    [
      'no word at all',
      '',
      { status: 9 },
      { message: 'the program ended with exit status 9 and said nothing' },
    ],
    [
      'a result with a bad end',
      '{"a":1}',
      { status: 4 },
      { details: { exit_status: 4, stdout: { a: 1 } } },
    ],
    [
      'an envelope of success with a bad end',
      '{"ok":true,"result":1}',
      { status: 4 },
      { code: 'INTERNAL' },
    ],
    ['an exit status of sysexits', '', { status: 77, stderr: 'keep out' }, { code: 'PERMISSION' }],
    [
      'wrong usage',
      '',
      {
        status: 2,
        stderr: 'usage: x [-h]\n\nsome help\nmore help\nx: error: unrecognized arguments: --y\n',
      },
      { code: 'INVALID_INPUT', message: 'x: error: unrecognized arguments: --y' },
    ],
    [
      'JSON on stderr',
      'partly\n',
      { status: 1, stderr: 'log\n{"error":{"code":"CONFLICT","message":"taken"}}' },
      { code: 'CONFLICT', message: 'taken' },
    ],
    [
      'pretty JSON on stderr',
      '',
      { status: 1, stderr: '{\n "error": "taken"\n}' },
      { message: 'taken' },
    ],
    [
      'a traceback of Python',
      'working\n',
      {
        status: 1,
        stderr:
          'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    raise KeyError("x")\nKeyError: \'x\'\n',
      },
      { message: "KeyError: 'x'" },
    ],
    [
      'a traceback with notes behind it',
      '',
      {
        status: 1,
        stderr:
          'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    f()\nValueError: first line\nsecond line\n',
      },
      { message: 'ValueError: first line' },
    ],
    [
      'a stack of node',
      '',
      {
        status: 1,
        stderr:
          'file:///a.mjs:1\nthrow new TypeError("odd")\n^\n\nTypeError: odd\n    at file:///a.mjs:1:7\n\nNode.js v20.1.0\n',
      },
      { message: 'TypeError: odd' },
    ],
    [
      'a missing module of Python',
      '',
      {
        status: 1,
        stderr:
          "Traceback (most recent call last):\nModuleNotFoundError: No module named 'yaml.inner'",
      },
      { code: 'DEPENDENCY', retryable: false, suggestion: { fix: 'pip install yaml' } },
    ],
    [
      'a missing command',
      '',
      { status: 127, stderr: 'x.sh: line 3: jq: command not found' },
      {
        code: 'DEPENDENCY',
        retryable: false,
        suggestion: { fix: 'Install jq, or add its folder to PATH' },
      },
    ],
    [
      'a thing that is not found, which is no command',
      '',
      { status: 1, stderr: 'customer: not found' },
      { code: 'INTERNAL', message: 'customer: not found' },
    ],
    ['127 without words', '', { status: 127 }, { code: 'DEPENDENCY', retryable: false }],
    [
      '126',
      '',
      { status: 126, stderr: 'x: Permission denied' },
      { code: 'PERMISSION', message: 'x: Permission denied' },
    ],
    [
      'killed from outside',
      '',
      { status: null, signal: 'SIGKILL' },
      {
        code: 'DEPENDENCY',
        retryable: true,
        message: 'the program was ended by the signal SIGKILL',
        details: { signal: 'SIGKILL' },
      },
    ],
    ['a crash', '', { status: null, signal: 'SIGSEGV' }, { code: 'INTERNAL', retryable: false }],
    ['colours on stderr', '', { status: 1, stderr: '\u001b[31mred\u001b[0m' }, { message: 'red' }],
  ])('%s', (_name, stdout, given, expected) => {
    expect(error(stdout, given)).toMatchObject(expected)
  })

  test('no answer is a failure where one was promised', () => {
    expect(error('', { mustAnswer: true })).toMatchObject({
      code: 'INTERNAL',
      message: 'the tool ended without an answer',
    })
    expect(
      error('', { mustAnswer: true, stderr: '{"error":{"code":"CONFIG","message":"no key"}}' }),
    ).toMatchObject({ code: 'CONFIG', message: 'no key' })
  })

  test('the manifest says which exit status is worth a second try, unless the tool says so itself', () => {
    const exitCodes = { ok: 10, retryable_error: 20, fatal_error: 30 }
    expect(result('{"a":1}', { status: 10, exitCodes })).toEqual({ a: 1 })
    expect(error('{"a":1}', { status: 0, exitCodes })).toMatchObject({
      details: { exit_status: 0 },
    })
    expect(error('', { status: 20, exitCodes, stderr: 'busy' })).toMatchObject({
      code: 'DEPENDENCY',
      retryable: true,
      message: 'busy',
    })
    expect(error('', { status: 30, exitCodes, stderr: 'broken' })).toMatchObject({
      code: 'INTERNAL',
      retryable: false,
    })
    expect(error('{"error":"busy"}', { status: 20, exitCodes })).toMatchObject({ retryable: true })
    expect(
      error('{"error":{"message":"busy","retryable":false}}', { status: 20, exitCodes }),
    ).toMatchObject({ retryable: false })
    expect(
      error('{"error":{"message":"x","code":"RATE_LIMIT"}}', { status: 30, exitCodes }),
    ).toMatchObject({ code: 'RATE_LIMIT', retryable: false })
  })

  test('what is kept of a failure is bounded', () => {
    expect(error('y'.repeat(1e6), { status: 1, stderr: 'x'.repeat(1e6) })).toMatchObject({
      message: 'x'.repeat(1000),
      details: { stdout: 'y'.repeat(16_000), stderr: 'x'.repeat(4000) },
    })
  })
})

describe('any output', () => {
  test('is read without a throw, and never mistaken where it is one document', () => {
    const rules = fc.constantFrom<AnswerRules['expects']>('json', 'text', 'verbatim')
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.string(),
        fc.integer({ min: 0, max: 255 }),
        rules,
        (stdout, stderr, status, expects) => {
          expect(
            typeof readAnswer(
              { stdout: Buffer.from(stdout), stderr, status, signal: null },
              { expects },
            ).outcome.ok,
          ).toBe('boolean')
        },
      ),
      { numRuns: rounds(300) },
    )
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 3 }), (value) => {
        expect(result(JSON.stringify(value, null, 2))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
      { numRuns: rounds(100) },
    )
  })

  test('is looked at a few times at most, however many brackets are opened', () => {
    // A quadratic scan would look at 10^10 characters, for minutes.
    const { documents, lines } = splitDocuments(`${'{\n'.repeat(100_000)}{"a":1}`)
    expect([documents.length, lines.length]).toEqual([0, 100_001])
    expect(splitDocuments(`${'[ "\n'.repeat(100_000)}{"a":1}`).documents).toEqual([{ a: 1 }])
  })

  test('of ten megabytes is read whole', () => {
    const text = 'x'.repeat(10 * 1024 * 1024)
    expect(result(JSON.stringify({ text }))).toEqual({ text })
    expect(result(`${text}\n`)).toBe(text)
  })
})
