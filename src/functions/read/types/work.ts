import type ts from 'typescript'
import type { JsonSchema } from '../../../contract/json.ts'
import type { Conversion } from '../../manifest.ts'

/** The compiler, which is loaded only where types have to be read. */
export type Compiler = typeof ts

/** What a type says about JSON: its schema, and what has to be done with a value before the function gets it. */
export type Reading = {
  readonly schema: JsonSchema
  readonly convert?: Conversion
  /** `undefined` is among its values. */
  readonly optional?: true
}

/** The reading of the types of one function, in one direction. */
export type Work = {
  readonly ts: Compiler
  readonly program: ts.Program
  readonly checker: ts.TypeChecker
  /** Where names are looked up. */
  readonly at: ts.Node
  readonly direction: 'input' | 'output'
  /** `any` is refused where it is an input. */
  readonly strict: boolean
  /** Recursive types by name. */
  readonly definitions: Map<string, JsonSchema>
  readonly conversions: Map<string, Conversion>
  /** Reads a type that is part of another; throws Unreadable for what no JSON can stand for. */
  read(type: ts.Type): Reading
  /** The schema of a property with what its comment says about it. */
  describe(symbol: ts.Symbol, schema: JsonSchema): JsonSchema
  /** Tells of something that was left out. */
  note(reason: string, message: string): void
}

/** Thrown for a type that no JSON can stand for. */
export class Unreadable extends Error {
  readonly reason: string
  readonly fix: string

  constructor(reason: string, message: string, fix: string) {
    super(message)
    this.reason = reason
    this.fix = fix
  }
}
