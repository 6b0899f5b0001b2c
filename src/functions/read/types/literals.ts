import type ts from 'typescript'
import { isEnumNumber, readEnumNumbers } from './enums.ts'
import { Unreadable } from './work.ts'
import type { Reading, Work } from './work.ts'

/** What stands for a whole number that no JSON number may be able to hold. */
export const WHOLE_NUMBER: Reading = {
  schema: { type: 'string', pattern: '^-?[0-9]+$' },
  convert: { text: 'bigint' },
}

/** Reads texts, numbers, booleans, literals, enums and `null`; undefined for every other type. */
export function readLiteral(work: Work, type: ts.Type): Reading | undefined {
  const { TypeFlags } = work.ts
  const { flags } = type
  if (work.direction === 'input' && isEnumNumber(work, type)) return readEnumNumbers([type])
  if (flags & TypeFlags.StringLiteral)
    return { schema: { const: (type as ts.StringLiteralType).value } }
  if (flags & TypeFlags.NumberLiteral)
    return { schema: { const: (type as ts.NumberLiteralType).value } }
  if (flags & TypeFlags.BooleanLiteral) return { schema: { const: isTrue(work, type) } }
  if (flags & TypeFlags.BigIntLiteral) return readBigIntLiteral(type as ts.BigIntLiteralType)
  if (flags & TypeFlags.TemplateLiteral)
    return {
      schema: { type: 'string', pattern: `^${patternOf(work, type as ts.TemplateLiteralType)}$` },
    }
  if (flags & (TypeFlags.String | TypeFlags.StringMapping)) return { schema: { type: 'string' } }
  if (flags & (TypeFlags.Number | TypeFlags.Enum)) return { schema: { type: 'number' } }
  if (flags & TypeFlags.Boolean) return { schema: { type: 'boolean' } }
  if (flags & TypeFlags.BigInt) return WHOLE_NUMBER
  if (flags & TypeFlags.Null) return { schema: { type: 'null' } }
  if (flags & TypeFlags.ESSymbolLike)
    throw new Unreadable('symbol', 'a symbol cannot be written as JSON', 'Take a text instead')
  return undefined
}

/** True for the type `true`, false for `false`. */
export function isTrue({ checker }: Work, type: ts.Type): boolean {
  return checker.typeToString(type) === 'true'
}

function readBigIntLiteral({ value: { negative, base10Value } }: ts.BigIntLiteralType): Reading {
  return { schema: { const: `${negative ? '-' : ''}${base10Value}` }, convert: { text: 'bigint' } }
}

// `v${number}` is the pattern `v` followed by a number.
function patternOf(work: Work, { texts, types }: ts.TemplateLiteralType): string {
  return texts
    .map((text, index) => escape(text) + (index < types.length ? hole(work, types[index]!) : ''))
    .join('')
}

function hole(work: Work, type: ts.Type): string {
  const { TypeFlags } = work.ts
  if (type.isUnion()) return `(?:${type.types.map((member) => hole(work, member)).join('|')})`
  if (type.isStringLiteral() || type.isNumberLiteral()) return escape(String(type.value))
  if (type.flags & TypeFlags.TemplateLiteral) return patternOf(work, type as ts.TemplateLiteralType)
  if (type.flags & TypeFlags.Number) return '-?[0-9]+(?:\\.[0-9]+)?'
  if (type.flags & TypeFlags.BigInt) return '-?[0-9]+'
  if (type.flags & TypeFlags.BooleanLike) return '(?:true|false)'
  return '[\\s\\S]*'
}

function escape(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
