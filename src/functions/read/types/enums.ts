import type ts from 'typescript'
import type { Reading, Work } from './work.ts'

/** True for a member of an enum whose value is a number that the compiler knows. */
export function isEnumNumber(
  { ts }: Pick<Work, 'ts'>,
  type: ts.Type,
): type is ts.NumberLiteralType {
  return (type.flags & ts.TypeFlags.EnumLiteral) !== 0 && type.isNumberLiteral()
}

/** Reads numeric members of enums as an input: their names, which the function gets as numbers, and the numbers themselves. A name that means two numbers is none. */
export function readEnumNumbers(members: readonly ts.NumberLiteralType[]): Reading {
  const values = new Map(members.map(({ value, symbol }) => [value, symbol.name]))
  const isClear = (name: string, value: number): boolean =>
    members.every((other) => other.symbol.name !== name || other.value === value)
  const names = Object.fromEntries(
    members.flatMap(({ value, symbol: { name } }): [string, number][] =>
      isClear(name, value) ? [[name, value]] : [],
    ),
  )
  const numbers = {
    type: 'number',
    enum: [...values.keys()],
    'x-enum-varnames': [...values.values()],
  }
  return Object.keys(names).length === 0
    ? { schema: numbers }
    : {
        schema: { anyOf: [{ type: 'string', enum: Object.keys(names) }, numbers] },
        convert: { names },
      }
}
