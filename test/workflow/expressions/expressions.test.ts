import { describe, expect, test } from 'vitest'
import { ToolError } from '../../../src/protocol/tool-error.ts'
import { interpolateCommand } from '../../../src/workflow/expressions.ts'
import { interpolate, isConditionTrue } from '../../../src/workflow/expressions.ts'
import { listReferences, parseExpression } from '../../../src/workflow/expression-parser.ts'
import { done, scopeOf } from './scope.ts'

const scope = scopeOf({
  input: {
    root: 'src',
    deep: { list: [1, [2, 3]], 'odd key': 'x', "it's": 1, length: 'own' },
    zero: 0,
    empty: '',
    no: false,
    none: null,
    nothing: [],
    object: {},
  },
  steps: {
    scan: done([{ path: 'a.ts', size: 10 }]),
    'my-step': done('yes'),
    '2nd': done(2),
    skipped: { status: 'skipped', result: null, error: null },
    failed: {
      status: 'failed',
      result: null,
      error: { code: 'TIMEOUT', message: 'too slow', retryable: false },
    },
  },
  items: { file: { path: 'b c.ts' }, file_index: 3 },
})

const value = (expression: string): unknown => interpolate(`\${{ ${expression} }}`, scope)

describe('values [9.values]', () => {
  test.each([
    ['input.root', 'src'],
    ['input["root"]', 'src'],
    ["input['deep']['odd key']", 'x'],
    ["input.deep['it\\'s']", 1],
    ['input.deep.list[1][0]', 2],
    ['input.deep.list[ 0 ]', 1],
    ['steps.scan.result[0].path', 'a.ts'],
    ['steps.my-step.result', 'yes'],
    ["steps['my-step'].status", 'ok'],
    ['steps.2nd.result', 2],
    ['steps.failed.error.code', 'TIMEOUT'],
    ['workflow.id', 'r-0000000001'],
    ['workflow.name', 'sample'],
    ['file.path', 'b c.ts'],
    ['file_index', 3],
    ['12', 12],
    ['-1.5e3', -1500],
    ['0', 0],
    ["'it\\'s'", "it's"],
    ['"a\\"b\\\\c\\n"', 'a"b\\c\n'],
    ['true', true],
    ['false', false],
    ['null', null],
    ["''", ''],
    ['steps.scan.result', [{ path: 'a.ts', size: 10 }]],
    ['input.deep.list.length', 2],
    ['input.root.length', 3],
    ['input.deep.length', 'own'],
  ])('%s', (expression, expected) => {
    expect(value(expression)).toEqual(expected)
  })

  test.each([
    'steps.skipped.result',
    'steps.skipped.result.a.b[3].c',
    'steps.unheard.result',
    'input.none.x',
    'input.missing',
    'input.deep.list[9]',
    'input.root.x',
    'input.root[0]',
    'input.zero.x',
    'steps.scan.run_id',
    'input.constructor',
    'input.__proto__',
    "input['__proto__'].polluted",
    'steps.constructor.name',
    'input.deep.list.push',
    'input.toString',
    'steps.hasOwnProperty',
    'workflow.valueOf',
    'file.__proto__.x',
  ])('what is not there is null, and nothing is inherited: %s', (expression) => {
    expect(value(expression)).toBeNull()
  })

  test('keys that are there are found, whatever they are called', () => {
    const odd = scopeOf({
      input: JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}') as unknown,
    })
    expect(interpolate('${{ input.__proto__.a }}${{ input.constructor }}', odd)).toBe('12')
    const copied = interpolate('${{ input }}', odd) as object
    expect(Object.getPrototypeOf(copied)).toBe(Object.prototype)
    expect(JSON.stringify(copied)).toBe('{"__proto__":{"a":1},"constructor":2}')
  })

  test('a name that nobody knows is an error that tells the names', () => {
    expect(() => value('stepz.scan')).toThrow("nothing is called 'stepz' here")
    expect(() => value('constructor')).toThrow("nothing is called 'constructor' here")
    expect(() => value('__proto__')).toThrow("nothing is called '__proto__' here")
  })
})

describe('operators [9.operators]', () => {
  test.each([
    ['1 == 1', true],
    ['1 == "1"', false],
    ['null == input.missing', true],
    ['input.none == false', false],
    ['0 == false', false],
    ["'' == null", false],
    ['steps.scan.result == steps.scan.result', true],
    ['input.nothing == input.object', false],
    ['input.deep.list != input.nothing', true],
    ['1 < 2', true],
    ['2 <= 2', true],
    ['2 > 2', false],
    ['2 >= 2', true],
    ["'a' < 'b'", true],
    ["'10' < '9'", true],
    ['true && false', false],
    ['true || false', true],
    ['false || true && false', false],
    ['(false || true) && true', true],
    ['!true', false],
    ['!!1', true],
    ['!(1 == 2)', true],
    ['! 1 == 2', false],
    ["input.missing || 'other'", 'other'],
    ["input.root && 'there'", 'there'],
    ['input.zero && input.zero < input.root', 0],
    ['1==1&&2==2', true],
    ['-1 < 0', true],
    ['(1 < 2) == true', true],
  ])('%s', (expression, expected) => {
    expect(value(expression)).toEqual(expected)
  })

  test('objects are equal whatever the order of their keys; lists are not', () => {
    const pair = scopeOf({
      input: {
        a: { x: 1, y: [1, { z: null }] },
        b: { y: [1, { z: null }], x: 1 },
        c: { y: [{ z: null }, 1], x: 1 },
        d: { x: 1, z: [] },
      },
    })
    expect(isConditionTrue('input.a == input.b', pair)).toBe(true)
    expect(isConditionTrue('input.a == input.c', pair)).toBe(false)
    expect(isConditionTrue('input.a == input.d', pair)).toBe(false)
  })

  test.each([
    "1 < 'a'",
    'null < 1',
    'input.missing >= 0',
    'input.nothing < input.nothing',
    'true < false',
    'input.object > 1',
  ])('there is no order in %s', (expression) => {
    expect(() => value(expression)).toThrow(
      expect.objectContaining({
        code: 'INVALID_INPUT',
        message: expect.stringContaining('no order') as unknown,
      }),
    )
  })
})

describe('conditions [9.conditions]', () => {
  test.each([
    ['true', true],
    ['${{ true }}', true],
    ['  ${{ input.root == "src" }}  ', true],
    ['steps.skipped.result', false],
    ['input.zero', false],
    ['input.empty', false],
    ['input.no', false],
    ['input.none', false],
    ['input.nothing', true],
    ['input.object', true],
    ["'false'", true],
    ['steps.scan.result.length > 0', true],
    ["${{ '}}' == '}}' }}", true],
  ])('%s', (condition, expected) => {
    expect(isConditionTrue(condition, scope)).toBe(expected)
  })

  test.each([
    '',
    '   ',
    '${{ }}',
    '${{ true }} && true',
    'x${{ true }}',
    '${{ true }}${{ true }}',
    '${{ true',
  ])('%j is none', (condition) => {
    expect(() => isConditionTrue(condition, scope)).toThrow(ToolError)
  })
})

describe('texts [9.texts]', () => {
  test('a whole value keeps its type; in other texts values are joined', () => {
    expect(
      interpolate(
        {
          n: '${{ input.zero }}',
          text: 'n=${{ input.zero }}',
          many: ['${{ steps.scan.result }}', '<${{ steps.scan.result }}>'],
          none: 'a${{ input.none }}b',
          yes: '${{ true }}!',
          plain: '$ { {{ }} ${x}',
          'key ${{ 1 }}': 1,
          number: 7,
          nil: null,
        },
        scope,
      ),
    ).toEqual({
      n: 0,
      text: 'n=0',
      many: [[{ path: 'a.ts', size: 10 }], '<[{"path":"a.ts","size":10}]>'],
      none: 'ab',
      yes: 'true!',
      plain: '$ { {{ }} ${x}',
      'key ${{ 1 }}': 1,
      number: 7,
      nil: null,
    })
  })

  test('blanks around make it a text', () => {
    expect(interpolate(' ${{ input.zero }}', scope)).toBe(' 0')
  })

  test('what was put in is not looked at again', () => {
    const hostile = scopeOf({ input: { text: '${{ workflow.id }}', list: ['${{ workflow.id }}'] } })
    expect(
      interpolate(['${{ input.text }}', 'a ${{ input.text }}', '${{ input }}'], hostile),
    ).toEqual(['${{ workflow.id }}', 'a ${{ workflow.id }}', hostile.input])
  })

  test('an opening can be written as a text', () => {
    expect(interpolate("${{ '${{' }} x }}", scope)).toBe('${{ x }}')
  })

  test('what is given cannot be changed through what was made', () => {
    const result = [{ path: 'a' }]
    const filled = interpolate(
      '${{ steps.scan.result }}',
      scopeOf({ steps: { scan: done(result) } }),
    ) as { path: string }[]
    filled[0]!.path = 'changed'
    expect(result[0]!.path).toBe('a')
  })

  test('what is nested without end is refused, not fatal', () => {
    let deep: unknown = 1
    for (let level = 0; level < 100_000; level += 1) deep = [deep]
    const endless = scopeOf({ input: { a: deep, b: [deep] } })
    expect(() => interpolate(deep, endless)).toThrow(ToolError)
    expect(() => interpolate('${{ input.a }}', endless)).toThrow(ToolError)
    expect(() => interpolate('in a text: ${{ input.a }}', endless)).toThrow(ToolError)
    expect(() => interpolateCommand('x ${{ input.a }}', endless)).toThrow(ToolError)
    expect(() => isConditionTrue('input.a == input.b', endless)).toThrow(ToolError)
  })
})

describe('what cannot be read [9.expression-errors]', () => {
  test.each([
    ['input.', 7, 'a key'],
    ['input.root ==', 14, 'a name'],
    ['(1 == 2', 8, "')'"],
    ["'open", 1, "ends with '"],
    ['a[1', 4, "']'"],
    ['a[-1]', 3, 'a position from 0'],
    ['a[1e5]', 3, 'a position'],
    ['a[b]', 3, 'a key in quotes'],
    ['1 < 2 < 3', 7, 'two sides'],
    ['a = b', 3, 'a comparison'],
    ['a b', 3, 'the end'],
    ['a + b', 3, 'the end'],
    ['f(x)', 2, 'the end'],
    ['!= 3', 2, 'a name'],
    ['1abc', 1, 'a number'],
    ['1e999', 1, 'a number'],
    ['a ? b : c', 3, 'the end'],
    ["'\\q'", 3, 'one of'],
    ['a; b', 2, 'the end'],
    ['`x`', 1, 'a name'],
    ['{}', 1, 'a name'],
    ['[1]', 1, 'a name'],
  ])('%s', (expression, position, expected) => {
    expect(() => parseExpression(expression)).toThrow(
      expect.objectContaining({
        code: 'INVALID_INPUT',
        details: { position },
        message: expect.stringContaining(expected) as unknown,
      }),
    )
  })

  test('bounds: length, depth', () => {
    expect(() => parseExpression(`${'('.repeat(51)}1${')'.repeat(51)}`)).toThrow(
      'at most 50 levels',
    )
    expect(parseExpression(`${'('.repeat(50)}1${')'.repeat(50)}`)).toMatchObject({ value: 1 })
    expect(() => parseExpression('!'.repeat(100_000))).toThrow('at most 50 levels')
    expect(() => parseExpression(`'${'x'.repeat(5000)}'`)).toThrow('at most 4000 characters')
    expect(() => parseExpression(`1${' '.repeat(1_000_000)}`)).toThrow('at most 4000 characters')
    expect(isConditionTrue(Array.from({ length: 1000 }, () => '0').join('||'), scope)).toBe(false)
  })

  test('references are told with their places', () => {
    expect(
      listReferences(parseExpression("steps.a.result[0] == input['b c'] && !(file || 1 < x.y)")),
    ).toEqual([
      { kind: 'path', root: 'steps', keys: ['a', 'result', 0], at: 0 },
      { kind: 'path', root: 'input', keys: ['b c'], at: 21 },
      { kind: 'path', root: 'file', keys: [], at: 39 },
      { kind: 'path', root: 'x', keys: ['y'], at: 51 },
    ])
  })
})
