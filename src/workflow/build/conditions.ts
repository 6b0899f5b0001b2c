import { ToolError } from '../../contract/tool-error.ts'
import type { Frame } from './frames.ts'
import { expressionOf, makeRef, quoted } from './ref.ts'
import type { AnyRef, Ref } from './ref-type.ts'

/** What can be compared: a reference, or a value that can be written down in an expression. */
export type Operand = AnyRef | string | number | boolean | null

type Side<T> = Ref<T> | (unknown extends T ? string | number | boolean | null : T)

/** Conditions for `when`. They are values too: a tool may be given one. */
export type Conditions = {
  equals<T>(left: Ref<T>, right: Side<NoInfer<T>>): Ref<boolean>
  differs<T>(left: Ref<T>, right: Side<NoInfer<T>>): Ref<boolean>
  less<T extends number | string | null>(
    left: Ref<T>,
    right: Ref<number | string | null> | number | string,
  ): Ref<boolean>
  atMost<T extends number | string | null>(
    left: Ref<T>,
    right: Ref<number | string | null> | number | string,
  ): Ref<boolean>
  more<T extends number | string | null>(
    left: Ref<T>,
    right: Ref<number | string | null> | number | string,
  ): Ref<boolean>
  atLeast<T extends number | string | null>(
    left: Ref<T>,
    right: Ref<number | string | null> | number | string,
  ): Ref<boolean>
  not(condition: AnyRef): Ref<boolean>
  and(...conditions: readonly [AnyRef, AnyRef, ...AnyRef[]]): Ref<boolean>
  or(...conditions: readonly [AnyRef, AnyRef, ...AnyRef[]]): Ref<boolean>
}

// How tightly an expression holds together; a looser one needs parentheses inside a tighter one.
const strengths = new WeakMap<object, number>()
const OR = 1
const AND = 2
const COMPARISON = 3
const VALUE = 4

/** The conditions that may be written in one list of steps. */
export function conditionsIn(frame: Frame): Conditions {
  const make = (strength: number, expression: string): Ref<boolean> => {
    const condition = makeRef<boolean>(expression, frame)
    strengths.set(condition, strength)
    return condition
  }
  const compare =
    (operator: string) =>
    (left: Operand, right: Operand): Ref<boolean> =>
      make(COMPARISON, `${written(left, VALUE)} ${operator} ${written(right, VALUE)}`)
  const join =
    (strength: number, operator: string) =>
    (...conditions: readonly AnyRef[]): Ref<boolean> =>
      make(strength, conditions.map((each) => written(each, strength)).join(` ${operator} `))
  return {
    equals: compare('=='),
    differs: compare('!='),
    less: compare('<'),
    atMost: compare('<='),
    more: compare('>'),
    atLeast: compare('>='),
    not: (condition) => make(VALUE, `!${written(condition, VALUE)}`),
    and: join(AND, '&&'),
    or: join(OR, '||'),
  } as Conditions
}

function written(operand: unknown, strength: number): string {
  const expression = expressionOf(operand)
  if (expression !== undefined)
    return (strengths.get(operand as object) ?? VALUE) < strength ? `(${expression})` : expression
  if (typeof operand === 'string') return quoted(operand)
  if (
    typeof operand === 'boolean' ||
    operand === null ||
    (typeof operand === 'number' && Number.isFinite(operand))
  )
    return String(operand)
  throw new ToolError(
    'CONFIG',
    `a condition compares values of steps with texts, numbers, true, false and null, not with ${typeof operand === 'object' ? 'an object' : String(operand)}`,
    { suggestion: 'Compare one of its fields' },
  )
}
