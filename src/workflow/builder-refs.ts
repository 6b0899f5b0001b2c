/**
 * References of the builder: typed placeholders that become `${{ }}` expressions, the conditions
 * made of them, and the frames in which they are valid.
 */

import { ToolError } from '../protocol/tool-error.ts'

declare const valueType: unique symbol

/**
 * A value that a workflow will have when it runs: its fields and items are such values too, and as
 * text it is `${{ ... }}`. One without a type (`unknown`) fits everywhere, and is checked at run
 * time.
 */
export type Ref<T = unknown> = {
  readonly [valueType]: unknown extends T ? never : T
} & RefFields<T>

/** A reference to a value of any type. */
export type AnyRef = { readonly [valueType]: unknown }

/**
 * What may be passed for a `T`: the value, a reference to one, or the value with references in it.
 */
export type Given<T> = Ref<T> | PlainGiven<T>

/** An object whose fields may be references, or hold some. */
export type GivenFields<T> = { [Key in keyof T]: Given<T[Key]> }

/** The type of a value in which references stand for their values. */
export type RefValue<G> = G extends { readonly [valueType]: infer T }
  ? [T] extends [never]
    ? unknown
    : T
  : G extends { readonly stepName: string; readonly result: { readonly [valueType]: infer T } }
    ? [T] extends [never]
      ? unknown
      : T
    : G extends RefLeaf
      ? G
      : G extends object
        ? { -readonly [Key in keyof G]: RefValue<G[Key]> }
        : G

type RefLeaf = string | number | boolean | bigint | symbol | null | undefined

type PlainGiven<T> = T extends RefLeaf ? T : T extends object ? GivenFields<T> : T

type RefFields<T> = unknown extends T
  ? { readonly [key: string]: Ref }
  : FieldRefs<NonNullable<T>, null extends T ? null : undefined extends T ? null : never>

type FieldRefs<T, Missing> = T extends RefLeaf
  ? unknown
  : T extends readonly (infer Item)[]
    ? number extends T['length']
      ? ItemRefs<Item, Missing>
      : {
          readonly [Key in keyof T as Key extends `${number}` ? Key : never]: Ref<T[Key] | Missing>
        }
    : T extends object
      ? { readonly [Key in keyof T]-?: Ref<NullForUndefined<T[Key]> | Missing> }
      : unknown

// Named one by one, the first items are there for compilers that doubt every index.
type ItemRefs<Item, Missing> = {
  readonly [Key in 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9]: Ref<Item | Missing>
} & { readonly [index: number]: Ref<Item | Missing> }

// What is absent is null in a workflow.
type NullForUndefined<T> = unknown extends T
  ? T
  : undefined extends T
    ? Exclude<T, undefined> | null
    : T

const refExpressions = new WeakMap<
  object,
  { readonly expression: string; readonly owner: BuilderFrame }
>()
const KEY_PATTERN = /^[A-Za-z_][\w-]*$/

/** A reference to the value of an expression; valid in `owner` and the frames inside it. */
export function createRef<T>(expression: string, owner: BuilderFrame): Ref<T> {
  const text = (): string => {
    requireVisibleRef(owner, expression)
    return `\${{ ${expression} }}`
  }
  const made = new Proxy(Object.create(null) as object, {
    get(_target, key) {
      if (key === Symbol.toPrimitive || key === 'toString' || key === 'toJSON') return text
      // `await` and debuggers look at these; they are no fields.
      if (typeof key === 'symbol' || key === 'then') return undefined
      return createRef(`${expression}${toAccessor(key)}`, owner)
    },
    has: () => false,
    ownKeys: () => {
      throw new ToolError(
        'CONFIG',
        `'${expression}' cannot be taken apart: what is in it is known when the workflow runs`,
        { suggestion: 'Name its fields one by one; for a list use w.each(...)' },
      )
    },
    set: refuseChange,
    defineProperty: refuseChange,
    deleteProperty: refuseChange,
  })
  refExpressions.set(made, { expression, owner })
  return made as Ref<T>

  function refuseChange(): never {
    throw new ToolError('CONFIG', `'${expression}' cannot be changed: it is what a step gives`)
  }
}

/**
 * The expression of a reference; undefined for everything else. Throws CONFIG outside its scope.
 */
export function getExpression(value: unknown): string | undefined {
  const known = typeof value === 'object' && value !== null ? refExpressions.get(value) : undefined
  if (known) requireVisibleRef(known.owner, known.expression)
  return known?.expression
}

/** A text as it stands in an expression. */
function quoteText(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}

function toAccessor(key: string): string {
  if (/^\d{1,9}$/.test(key)) return `[${key}]`
  return KEY_PATTERN.test(key) ? `.${key}` : `[${quoteText(key)}]`
}

/** A step as it is written; schemas and workflows in it are made data when the workflow is. */
export type WrittenStep = {
  readonly type: string
  readonly name: string
  readonly [key: string]: unknown
}

/** A list of steps that is being written, or has been. */
export type BuilderFrame = {
  /** Of the workflow. */
  readonly workflow: string
  readonly parent: BuilderFrame | undefined
  /** What it is, for people: "the tasks of 'both'". */
  readonly what: string
  readonly steps: WrittenStep[]
  /** What the items of the `each` around it are called. */
  readonly items: readonly string[]
  /** Its steps are taken at the same time, and do not see each other. */
  readonly isParallel?: true
}

let currentFrame: BuilderFrame | undefined

/** Has `write` fill a new list of steps; nothing outside it sees what is made in it. */
export function withFrame<Result>(frame: BuilderFrame, write: () => Result): Result {
  const before = currentFrame
  currentFrame = frame
  try {
    return write()
  } finally {
    currentFrame = before
  }
}

/**
 * Throws CONFIG for a builder of another list than the one that is being written: its step would
 * land in the wrong place.
 */
export function requireCurrentFrame(frame: BuilderFrame): void {
  if (currentFrame === frame) return
  if (!currentFrame)
    throw new ToolError(
      'CONFIG',
      `workflow '${frame.workflow}' is finished: a step was added to ${frame.what} afterwards`,
      {
        suggestion:
          'Add steps inside the function that workflow() is given, and do not await in it',
      },
    )
  throw new ToolError('CONFIG', `a step for ${frame.what} was added inside ${currentFrame.what}`, {
    suggestion: 'Use the builder that the inner function is given: (w) => w.tool(...)',
  })
}

/** Throws CONFIG for a reference outside the frame it belongs to. */
function requireVisibleRef(owner: BuilderFrame, expression: string): void {
  if (!currentFrame) return
  for (let frame: BuilderFrame | undefined = currentFrame; frame; frame = frame.parent)
    if (frame === owner) return
  if (owner.workflow !== currentFrame.workflow)
    throw new ToolError(
      'CONFIG',
      `'${expression}' is a value of workflow '${owner.workflow}' and means nothing in workflow '${currentFrame.workflow}'`,
      { suggestion: 'Hand it over as input: w.nested(name, workflow, { ... })' },
    )
  throw new ToolError(
    'CONFIG',
    `'${expression}' is known only in ${owner.what}, and was used in ${currentFrame.what}`,
    { suggestion: 'Use the result of the step around it' },
  )
}

/** What can be compared: a reference, or a value that can be written down in an expression. */
type ConditionOperand = AnyRef | string | number | boolean | null

type ComparisonSide<T> = Ref<T> | (unknown extends T ? string | number | boolean | null : T)

/** Conditions for `when`. They are values too: a tool may be given one. */
export type ConditionBuilder = {
  equals<T>(left: Ref<T>, right: ComparisonSide<NoInfer<T>>): Ref<boolean>
  differs<T>(left: Ref<T>, right: ComparisonSide<NoInfer<T>>): Ref<boolean>
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
const precedences = new WeakMap<object, number>()
const OR_PRECEDENCE = 1
const AND_PRECEDENCE = 2
const COMPARISON_PRECEDENCE = 3
const VALUE_PRECEDENCE = 4

/** The conditions that may be written in one list of steps. */
export function createConditions(frame: BuilderFrame): ConditionBuilder {
  const make = (strength: number, expression: string): Ref<boolean> => {
    const condition = createRef<boolean>(expression, frame)
    precedences.set(condition, strength)
    return condition
  }
  const compare =
    (operator: string) =>
    (left: ConditionOperand, right: ConditionOperand): Ref<boolean> =>
      make(
        COMPARISON_PRECEDENCE,
        `${toOperandText(left, VALUE_PRECEDENCE)} ${operator} ${toOperandText(right, VALUE_PRECEDENCE)}`,
      )
  const join =
    (strength: number, operator: string) =>
    (...conditions: readonly AnyRef[]): Ref<boolean> =>
      make(strength, conditions.map((each) => toOperandText(each, strength)).join(` ${operator} `))
  return {
    equals: compare('=='),
    differs: compare('!='),
    less: compare('<'),
    atMost: compare('<='),
    more: compare('>'),
    atLeast: compare('>='),
    not: (condition) => make(VALUE_PRECEDENCE, `!${toOperandText(condition, VALUE_PRECEDENCE)}`),
    and: join(AND_PRECEDENCE, '&&'),
    or: join(OR_PRECEDENCE, '||'),
  } as ConditionBuilder
}

function toOperandText(operand: unknown, strength: number): string {
  const expression = getExpression(operand)
  if (expression !== undefined)
    return (precedences.get(operand as object) ?? VALUE_PRECEDENCE) < strength
      ? `(${expression})`
      : expression
  if (typeof operand === 'string') return quoteText(operand)
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
