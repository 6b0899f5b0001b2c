import type ts from 'typescript'
import type { JsonSchema } from '../../contract/json.ts'
import type { FlagOptions } from '../../contract/manifest.ts'
import type { Conversion } from '../manifest.ts'
import { commentOf } from './comments/comment-of.ts'
import type { FunctionComment } from './comments/function-comment.ts'
import { parseComment } from './comments/parse-comment.ts'
import { describeValue } from './comments/describe-value.ts'
import { readValueTags } from './comments/value-tags.ts'
import type { ValueTags } from './comments/value-tags.ts'
import type { GivenParameter } from './list-parameters.ts'
import { literalValue, nameDefault } from './literal-value.ts'
import { isOurs } from './reader.ts'
import type { Reader } from './reader.ts'
import { isSignal } from './types/objects.ts'
import { Unreadable } from './types/work.ts'
import type { Work } from './types/work.ts'

/** A parameter that the input gives. */
export type ValueParameter = {
  readonly from: 'value'
  readonly name: string
  readonly type: ts.Type
  readonly schema: JsonSchema
  readonly convert: Conversion | undefined
  readonly required: boolean
  /** It has no question mark and no default, whatever its type says. */
  readonly isExpected: boolean
  readonly isRest: boolean
  readonly flag: FlagOptions
  /** Its properties are named in the parameter list, and it is not. */
  readonly isTakenApart: boolean
  /** Of properties that are taken apart in the parameter list. */
  readonly defaults: { readonly [property: string]: unknown }
}

export type Classified =
  ValueParameter | { readonly from: 'context' | 'signal' | 'nothing' | 'empty' }

type Place = { readonly comment: FunctionComment; readonly isLast: boolean; readonly index: number }

const CONTEXTS = ['Context', 'ToolContext', 'ReadingContext']

/** Finds out what a parameter is for, and reads its type. Throws Unreadable, naming it, where it has to be given and cannot. */
export function classifyParameter(
  reader: Reader,
  work: Work,
  { name: own, declaration, type, isOptional, isRest }: GivenParameter,
  { comment, isLast, index }: Place,
): Classified {
  const { ts, checker } = work
  if (isLast && !isRest && isContext(reader, work, type, own)) return { from: 'context' }
  if (isSignal(work, type)) return { from: 'signal' }
  const name = declaration && !ts.isIdentifier(declaration.name) ? `arg${index + 1}` : own
  try {
    const { schema, convert, optional } = work.read(type)
    // All that it could hold are functions: there is nothing to give.
    if (isNothing(schema)) return { from: isOptional ? 'nothing' : 'empty' }
    const above = declaration && readOwn(ts, declaration)
    const said = comment.values.get(name)
    const literal = declaration?.initializer && literalValue(ts, checker, declaration.initializer)
    const isTakenApart = declaration !== undefined && ts.isObjectBindingPattern(declaration.name)
    const described = describeValue(
      work,
      name,
      {
        ...schema,
        ...(literal &&
          !isTakenApart &&
          !isEmptyObject(literal.value) && { default: nameDefault(literal.value, convert) }),
      },
      above,
      said,
    )
    return {
      from: 'value',
      name,
      type,
      convert,
      isRest,
      isExpected: !isOptional,
      isTakenApart,
      schema: described,
      // A list of further arguments may be empty, unless its type names the first of them.
      required:
        (isRest ? Number(schema['minItems'] ?? 0) > 0 : !isOptional && !optional) &&
        !Object.hasOwn(described, 'default'),
      flag: { ...above?.flag, ...said?.flag },
      defaults: declaration ? readBindings(work, declaration) : {},
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    if (!isOptional)
      throw new Unreadable(
        error.reason,
        `the parameter '${own}' cannot be given: ${error.message}`,
        error.fix,
      )
    work.note('left-out', `the parameter '${own}' is left out: ${error.message}`)
    return { from: 'nothing' }
  }
}

function readOwn(ts: Work['ts'], declaration: ts.ParameterDeclaration): ValueTags {
  const { text, blocks } = parseComment(commentOf(ts, declaration))
  return readValueTags(blocks, text)
}

// `({ root = '.', depth = 3 })`: the defaults stand in the pattern.
function readBindings(
  { ts, checker }: Work,
  { name }: ts.ParameterDeclaration,
): { readonly [property: string]: unknown } {
  if (!ts.isObjectBindingPattern(name)) return {}
  return Object.fromEntries(
    name.elements.flatMap((element): [string, unknown][] => {
      const key = element.propertyName ?? element.name
      const literal = element.initializer && literalValue(ts, checker, element.initializer)
      return literal && ts.isIdentifier(key) ? [[key.text, literal.value]] : []
    }),
  )
}

// By its type; by its name where the type is not known, and where it wants nothing that the context has not.
function isContext(reader: Reader, { ts, checker }: Work, type: ts.Type, name: string): boolean {
  const present = checker.getNonNullableType(type)
  if (isOurs(reader, present, CONTEXTS)) return true
  if (present.aliasTypeArguments?.some((argument) => isOurs(reader, argument, CONTEXTS)))
    return true
  return /^(ctx|context)$/.test(name) && (present.flags & ts.TypeFlags.Any) !== 0
}

function isNothing({ type, properties }: JsonSchema): boolean {
  return type === 'object' && isEmptyObject(properties)
}

function isEmptyObject(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).length === 0
  )
}
