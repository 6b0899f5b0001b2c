import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ToolError } from '../../../src/protocol/tool-error.ts'
import { interpolate } from '../../../src/workflow/expressions.ts'
import { parseExpression } from '../../../src/workflow/expression-parser.ts'
import type { Expression } from '../../../src/workflow/expression-parser.ts'
import { scopeOf } from './scope.ts'
import { rounds } from '../../support/rounds.ts'

const json = fc.jsonValue({ maxDepth: 4 })
const text = (value: string): string =>
  `'${value.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`

const key = fc.oneof(fc.integer({ min: 0, max: 99 }), fc.string({ unit: 'binary' }))
const leaf = fc.oneof(
  fc
    .oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.boolean(), fc.constant(null))
    .map((value): Expression => ({ kind: 'literal', value, at: 0 })),
  fc
    .tuple(fc.constantFrom('input', 'steps', 'workflow', 'item'), fc.array(key, { maxLength: 3 }))
    .map(([root, keys]): Expression => ({ kind: 'path', root, keys, at: 0 })),
)
const { tree } = fc.letrec<{ readonly tree: Expression }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5 },
    leaf,
    tie('tree').map((of): Expression => ({ kind: 'not', of, at: 0 })),
    fc
      .tuple(fc.constantFrom('and' as const, 'or' as const), tie('tree'), tie('tree'))
      .map(([kind, left, right]): Expression => ({ kind, left, right, at: 0 })),
    fc
      .tuple(
        fc.constantFrom(
          '==' as const,
          '!=' as const,
          '<' as const,
          '<=' as const,
          '>' as const,
          '>=' as const,
        ),
        tie('tree'),
        tie('tree'),
      )
      .map(([operator, left, right]): Expression => ({
        kind: 'compare',
        operator,
        left,
        right,
        at: 0,
      })),
  ),
}))

test('what is written is what is read [9.expression-errors]', () => {
  fc.assert(
    fc.property(tree, (expression) => {
      const written = write(expression)
      fc.pre(written.length < 4000)
      expect(withoutPlaces(parseExpression(written))).toEqual(expression)
    }),
  )
})

test('any JSON value comes through a text that is one expression as it was [9.texts]', () => {
  fc.assert(
    fc.property(json, (value) => {
      const copy = interpolate('${{ input }}', scopeOf({ input: value }))
      expect(JSON.stringify(copy)).toBe(JSON.stringify(value))
    }),
  )
})

test('values without expressions are copied [9.texts]', () => {
  fc.assert(
    fc.property(
      json.filter((value) => !JSON.stringify(value).includes('${{')),
      (value) => {
        expect(JSON.stringify(interpolate(value, scopeOf()))).toBe(JSON.stringify(value))
      },
    ),
  )
})

test('any text is an expression or a ToolError that says where [9.expression-errors]', () => {
  const pieces = fc
    .array(
      fc.constantFrom(
        'input',
        'steps',
        '.',
        '[',
        ']',
        '(',
        ')',
        "'",
        '"',
        '\\',
        '==',
        '!=',
        '<',
        '>=',
        '&&',
        '||',
        '!',
        ' ',
        '1',
        '-',
        '0.5',
        'e9',
        'true',
        'null',
        'x',
        '}}',
        '${{',
        '\n',
        '\u2028',
      ),
      { maxLength: 15 },
    )
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(fc.oneof(pieces, fc.string({ unit: 'binary' })), (expression) => {
      try {
        parseExpression(expression)
      } catch (error) {
        expect(
          ToolError.is(error) &&
            Number(error.details?.['position']) >= 1 &&
            Number(error.details?.['position']) <= expression.length + 1,
        ).toBe(true)
      }
      try {
        interpolate(`a \${{${expression}}}`, scopeOf())
      } catch (error) {
        expect(ToolError.is(error)).toBe(true)
      }
    }),
    { numRuns: rounds(3000) },
  )
})

function write(expression: Expression): string {
  switch (expression.kind) {
    case 'literal':
      return typeof expression.value === 'string'
        ? text(expression.value)
        : String(expression.value)
    case 'path':
      return (
        expression.root +
        expression.keys
          .map((one) =>
            typeof one === 'number'
              ? `[${one}]`
              : /^[A-Za-z0-9_-]+$/.test(one)
                ? `.${one}`
                : `[${text(one)}]`,
          )
          .join('')
      )
    case 'not':
      return `!(${write(expression.of)})`
    case 'compare':
      return `(${write(expression.left)}) ${expression.operator} (${write(expression.right)})`
    default:
      return `(${write(expression.left)}) ${expression.kind === 'and' ? '&&' : '||'} (${write(expression.right)})`
  }
}

function withoutPlaces(expression: Expression): Expression {
  switch (expression.kind) {
    case 'literal':
    case 'path':
      return { ...expression, at: 0 }
    case 'not':
      return { ...expression, at: 0, of: withoutPlaces(expression.of) }
    default:
      return {
        ...expression,
        at: 0,
        left: withoutPlaces(expression.left),
        right: withoutPlaces(expression.right),
      }
  }
}
